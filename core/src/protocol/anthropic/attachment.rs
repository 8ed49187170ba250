//! Images and documents as the format takes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::message::Attachment;
use crate::protocol::attachment::existing_url;

/// The forms of images that models see.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Media types outside `text/` whose content is text all the same.
const TEXTUAL: [&str; 9] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/sql",
    "application/x-sh",
    "image/svg+xml",
];

/// An image block.
///
/// # Errors
/// [`ErrorKind::UnsupportedInput`] for a form that models do not see.
pub(super) fn image(image: &Attachment) -> Result<Value> {
    if let Some(url) = remote(image) {
        return Ok(json!({"type": "image", "source": {"type": "url", "url": url}}));
    }
    let (media_type, data) = encoded(image)?;
    let media_type = match media_type.as_str() {
        "image/jpg" => "image/jpeg",
        other => other,
    };
    if !IMAGES.contains(&media_type) {
        return Err(unsupported(
            "an image",
            media_type,
            "JPEG, PNG, GIF and WebP images",
        ));
    }
    Ok(json!({"type": "image", "source": {
        "type": "base64", "media_type": media_type, "data": data,
    }}))
}

/// A document block, titled with the document's name.
///
/// # Errors
/// [`ErrorKind::UnsupportedInput`] for anything but a PDF and text.
pub(super) fn document(document: &Attachment) -> Result<Value> {
    let source = if let Some(url) = remote(document) {
        json!({"type": "url", "url": url})
    } else {
        let media_type = essence(&document.media_type);
        if is_textual(&media_type) && existing_url(document).is_none() {
            json!({"type": "text", "media_type": "text/plain",
                "data": String::from_utf8_lossy(&document.data)})
        } else {
            encoded_document(document)?
        }
    };
    let mut block = json!({"type": "document", "source": source});
    let name = document.name.as_deref().map(str::trim);
    if let (Some(name), Some(block)) = (name.filter(|name| !name.is_empty()), block.as_object_mut())
    {
        block.insert("title".into(), json!(name));
    }
    Ok(block)
}

fn encoded_document(document: &Attachment) -> Result<Value> {
    let (media_type, data) = encoded(document)?;
    if media_type == "application/pdf" {
        return Ok(json!({"type": "base64", "media_type": media_type, "data": data}));
    }
    if is_textual(&media_type)
        && let Ok(bytes) = STANDARD.decode(&data)
    {
        return Ok(json!({"type": "text", "media_type": "text/plain",
            "data": String::from_utf8_lossy(&bytes)}));
    }
    Err(unsupported(
        "a document",
        &media_type,
        "PDF documents and text",
    ))
}

/// The media type and the base64 text of an attachment, which may already be a data URL.
fn encoded(attachment: &Attachment) -> Result<(String, String)> {
    let Some(url) = existing_url(attachment) else {
        return Ok((
            essence(&attachment.media_type),
            STANDARD.encode(&attachment.data),
        ));
    };
    let (head, data) = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(','))
        .unwrap_or_default();
    let Some(media_type) = head.strip_suffix(";base64") else {
        return Err(Error::new(
            ErrorKind::UnsupportedInput,
            "an attachment is a data URL whose content is not base64; pass its bytes instead",
        ));
    };
    let media_type = match essence(media_type) {
        none if none.is_empty() => essence(&attachment.media_type),
        given => given,
    };
    Ok((media_type, data.to_owned()))
}

fn remote(attachment: &Attachment) -> Option<&str> {
    existing_url(attachment).filter(|url| url.starts_with("http"))
}

/// The media type without parameters, in lower case.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn is_textual(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || TEXTUAL.contains(&media_type)
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
}

fn unsupported(what: &str, media_type: &str, taken: &str) -> Error {
    Error::new(
        ErrorKind::UnsupportedInput,
        format!(
            "{what} has the media type {media_type:?}, but Anthropic's models take {taken}; \
             convert it, or send its text"
        ),
    )
    .with_data(json!({"modalities": [media_type]}))
}
