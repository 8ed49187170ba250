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
