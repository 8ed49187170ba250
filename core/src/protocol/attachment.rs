//! Attachments as URLs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::message::{Attachment, Content, ToolResultContent};

/// The attachment as a URL: itself when its bytes already are one, else a data URL.
pub(super) fn url(attachment: &Attachment) -> String {
    match existing_url(attachment) {
        Some(url) => url.to_owned(),
        None => format!(
            "data:{};base64,{}",
            attachment.media_type,
            STANDARD.encode(&attachment.data)
        ),
    }
}

/// The bytes as text, if they are a `data:`, `http:` or `https:` URL.
pub(super) fn existing_url(attachment: &Attachment) -> Option<&str> {
    let is_url = ["data:", "http://", "https://"]
        .iter()
        .any(|scheme| attachment.data.starts_with(scheme.as_bytes()));
    if !is_url {
        return None;
    }
    std::str::from_utf8(&attachment.data).ok()
}

/// What the file is called. A service that takes a file by its bytes wants a name, and tells the
/// format from its extension.
pub(super) fn file_name(attachment: &Attachment) -> String {
    let name = attachment.name.as_deref().map(str::trim);
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        return name.to_owned();
    }
    let essence = attachment.media_type.split(';').next().unwrap_or_default();
    let subtype = essence.trim().rsplit('/').next().unwrap_or_default();
    let extension = match subtype {
        "plain" => "txt",
        "markdown" => "md",
        "vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "vnd.openxmlformats-officedocument.presentationml.presentation" => "pptx",
        other => other,
    };
    let is_extension = |text: &str| {
        !text.is_empty() && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if is_extension(extension) {
        format!("document.{}", extension.to_ascii_lowercase())
    } else {
        "document".to_owned()
    }
}

/// A tool's result as text, where the service takes nothing else: the model reads what it misses.
pub(super) fn result_text(content: &ToolResultContent) -> String {
    let mut text = content.text();
    let ToolResultContent::Blocks(blocks) = content else {
        return text;
    };
    for block in blocks {
        let (Content::Image(attachment) | Content::Document(attachment)) = block else {
            continue;
        };
        if !text.is_empty() {
            text.push('\n');
        }
        let name = attachment.name.as_deref().map(|name| format!(" {name:?}"));
        text.push_str(&format!(
            "[attachment{} ({}) left out: only text can be shown here]",
            name.unwrap_or_default(),
            attachment.media_type
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_name_is_called_by_its_type() {
        let named = |media_type: &str, name: Option<&str>| {
            file_name(&Attachment {
                data: "x".into(),
                media_type: media_type.to_owned(),
                name: name.map(str::to_owned),
            })
        };
        assert_eq!(named("application/pdf", Some("a b.pdf")), "a b.pdf");
        assert_eq!(named("application/pdf", None), "document.pdf");
        assert_eq!(
            named("text/plain; charset=utf-8", Some(" ")),
            "document.txt"
        );
        assert_eq!(named("application/octet-stream", None), "document");
        assert_eq!(named("", None), "document");
    }
}
