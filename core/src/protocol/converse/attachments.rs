//! Images and documents: their formats, their bytes, and names that the service accepts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::http::shorten;
use crate::message::Attachment;

/// Formats of images with their media types.
const IMAGES: &[(&str, &[&str])] = &[
    ("jpeg", &["image/jpeg", "image/jpg", "image/pjpeg"]),
    ("png", &["image/png", "image/x-png"]),
    ("gif", &["image/gif"]),
    ("webp", &["image/webp"]),
];

/// Formats of documents with their media types.
const DOCUMENTS: &[(&str, &[&str])] = &[
    ("pdf", &["application/pdf", "application/x-pdf"]),
    ("csv", &["text/csv", "application/csv"]),
    ("doc", &["application/msword"]),
    (
        "docx",
        &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ),
    ("xls", &["application/vnd.ms-excel"]),
    (
        "xlsx",
        &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
    ),
    ("html", &["text/html", "application/xhtml+xml"]),
    ("md", &["text/markdown", "text/x-markdown"]),
    ("txt", &["text/plain"]),
];

/// File extensions that are not the name of their format.
const EXTENSIONS: &[(&str, &str)] = &[
    ("jpg", "jpeg"),
    ("htm", "html"),
    ("markdown", "md"),
    ("text", "txt"),
];

/// The longest name of a document.
const MAX_NAME: usize = 200;

/// Names of the documents of a request so far: the service refuses a name that comes twice.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

/// An `image` block.
///
/// # Errors
/// [`ErrorKind::Configuration`] for a format that the service does not take.
pub(super) fn image(image: &Attachment) -> Result<Value> {
    let format = format(image, IMAGES).ok_or_else(|| unknown("image", image, IMAGES))?;
    let source = source("image", image)?;
    Ok(json!({"image": {"format": format, "source": source}}))
}

/// A `document` block.
///
/// # Errors
/// [`ErrorKind::Configuration`] for a format that the service does not take.
pub(super) fn document(document: &Attachment, names: &mut Names) -> Result<Value> {
    let format =
        format(document, DOCUMENTS).ok_or_else(|| unknown("document", document, DOCUMENTS))?;
    let source = source("document", document)?;
    let name = names.legal(document.name.as_deref().unwrap_or_default());
    Ok(json!({"document": {"format": format, "name": name, "source": source}}))
}

/// The bytes as base64, or where in S3 they are.
fn source(kind: &str, attachment: &Attachment) -> Result<Value> {
    let data = &attachment.data;
    if data.is_empty() {
        return Err(invalid(kind, attachment, "is empty"));
    }
    let url = |prefix: &str| {
        let is_url = data.starts_with(prefix.as_bytes());
        std::str::from_utf8(data).ok().filter(|_| is_url)
    };
    if let Some(uri) = url("s3://") {
        return Ok(json!({"s3Location": {"uri": uri}}));
    }
    if let Some(url) = url("data:") {
        let encoded = url.split_once(";base64,").map(|(_, encoded)| encoded);
        return match encoded {
            Some(encoded) if STANDARD.decode(encoded).is_ok() => Ok(json!({"bytes": encoded})),
            _ => Err(invalid(
                kind,
                attachment,
                "is a data URL without valid base64",
            )),
        };
    }
    if url("http://").or_else(|| url("https://")).is_some() {
        return Err(invalid(
            kind,
            attachment,
            "is a web address, which Bedrock does not fetch: give its bytes, or an s3:// address",
        ));
    }
    Ok(json!({"bytes": STANDARD.encode(data)}))
}

fn format(attachment: &Attachment, formats: &[(&'static str, &[&str])]) -> Option<&'static str> {
    let media_type = attachment.media_type.split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    let by_type = formats
        .iter()
        .find(|(_, types)| types.contains(&media_type.as_str()));
    if let Some((format, _)) = by_type {
        return Some(format);
    }
    let (_, extension) = attachment.name.as_deref()?.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let alias = EXTENSIONS.iter().find(|(other, _)| *other == extension);
    let wanted = alias.map_or(extension.as_str(), |(_, format)| format);
    formats
        .iter()
        .find_map(|(format, _)| (*format == wanted).then_some(*format))
}

fn unknown(kind: &str, attachment: &Attachment, formats: &[(&str, &[&str])]) -> Error {
    let known: Vec<&str> = formats.iter().map(|(format, _)| *format).collect();
    invalid(
        kind,
        attachment,
        &format!(
            "has the media type {:?}, which Bedrock does not take; it takes {}, told by media type \
             or file extension",
            shorten(&attachment.media_type, 100),
            known.join(", ")
        ),
    )
}

fn invalid(kind: &str, attachment: &Attachment, problem: &str) -> Error {
    let name = attachment.name.as_deref().unwrap_or_default();
    let what = if name.is_empty() {
        format!("an attached {kind}")
    } else {
        format!("the attached {kind} {:?}", shorten(name, 100))
    };
    Error::new(ErrorKind::Configuration, format!("{what} {problem}"))
}

impl Names {
    /// `name` as the service accepts it: letters, digits, hyphens, brackets and single spaces, at
    /// most 200 of them, and not that of another document of the request.
    fn legal(&mut self, name: &str) -> String {
        let mut legal = String::new();
        for letter in name.chars() {
            let letter = match letter {
                '-' | '(' | ')' | '[' | ']' => letter,
                letter if letter.is_ascii_alphanumeric() => letter,
                letter if letter.is_whitespace() => ' ',
                _ => '-',
            };
            if !(letter == ' ' && (legal.is_empty() || legal.ends_with(' '))) {
                legal.push(letter);
            }
        }
        // Room for a number, should the name come again.
        legal.truncate(MAX_NAME - 10);
        let base = match legal.trim() {
            "" => "document",
            name => name,
        };
        let name = std::iter::once(base.to_owned())
            .chain((2..).map(|number| format!("{base}-{number}")))
            .find(|name| !self.0.contains(name))
            .unwrap_or_default();
        self.0.push(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(data: &[u8], media_type: &str, name: &str) -> Attachment {
        Attachment {
            data: data.to_vec().into(),
            media_type: media_type.into(),
            name: Some(name.into()),
        }
    }

    #[test]
    fn formats_are_told_by_media_type_and_then_by_extension() {
        for (media_type, name, expected) in [
            ("application/pdf", "a.txt", Some("pdf")),
            ("Text/Plain; charset=utf-8", "a", Some("txt")),
            ("application/octet-stream", "Budget.XLSX", Some("xlsx")),
            ("application/octet-stream", "page.htm", Some("html")),
            ("text/markdown", "", Some("md")),
            ("application/zip", "a.zip", None),
            ("application/octet-stream", "none", None),
        ] {
            let found = format(&attached(b"x", media_type, name), DOCUMENTS);
            assert_eq!(found, expected, "{media_type} {name}");
        }
        assert_eq!(
            format(&attached(b"x", "image/jpg", ""), IMAGES),
            Some("jpeg")
        );
        let error = image(&attached(b"x", "image/tiff", "scan.tiff")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.message().contains("\"scan.tiff\""), "{error}");
        assert!(error.message().contains("jpeg, png, gif, webp"), "{error}");
    }

    #[test]
    fn bytes_are_base64_or_an_address_in_s3() {
        for (data, expected) in [
            (&b"\x89PNG"[..], json!({"bytes": "iVBORw=="})),
            (
                b"data:image/png;base64,iVBORw==",
                json!({"bytes": "iVBORw=="}),
            ),
            (
                b"s3://bucket/a.png",
                json!({"s3Location": {"uri": "s3://bucket/a.png"}}),
            ),
        ] {
            let block = image(&attached(data, "image/png", "")).unwrap();
            assert_eq!(block["image"]["source"], expected);
        }
        for data in [
            &b"https://a.test/x.png"[..],
            b"",
            b"data:image/png,raw",
            b"data:x;base64,?",
        ] {
            let error = image(&attached(data, "image/png", "a.png")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
        }
    }

    #[test]
    fn names_become_legal_and_stay_different() {
        let mut names = Names::default();
        for (given, expected) in [
            ("report.pdf", "report-pdf"),
            ("report.pdf", "report-pdf-2"),
            ("  Q3\t\n(final) [v2] _x ", "Q3 (final) [v2] -x"),
            ("Größe", "Gr--e"),
            ("", "document"),
            (" ", "document-2"),
        ] {
            assert_eq!(names.legal(given), expected);
        }
        let long = "x".repeat(500);
        assert_eq!(names.legal(&long).len(), 190);
        assert!(names.legal(&long).len() <= MAX_NAME);
    }
}
