//! Whether a model takes the attachments of a request.

use crate::catalog::ModelDetails;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Attachment, Content, Message, ToolResultContent};

/// Refuses a conversation with attachments in forms that the model is known not to take.
///
/// # Errors
/// [`ErrorKind::UnsupportedInput`] that names the missing forms.
pub(crate) fn check(messages: &[Message], details: &ModelDetails) -> Result<()> {
    let Some(modalities) = details.input_modalities() else {
        return Ok(());
    };
    let takes = |name: &str| modalities.contains(&name);
    let mut missing: Vec<&str> = Vec::new();
    for message in messages {
        visit(&message.content, &mut |form| {
            let taken = takes(form) || (form == "pdf" && takes("file"));
            if !taken && !missing.contains(&form) {
                missing.push(form);
            }
        });
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::UnsupportedInput,
        format!(
            "model {} does not take {} input; it takes {}. Choose another model, or correct its \
             input_modalities in details of the model profile",
            details.target(),
            missing.join(" and "),
            modalities.join(", ")
        ),
    )
    .with_data(serde_json::json!({"modalities": missing})))
}

fn visit(content: &[Content], found: &mut impl FnMut(&'static str)) {
    for block in content {
        match block {
            Content::Image(_) => found("image"),
            Content::Document(document) => found(form(document)),
            Content::ToolResult(result) => {
                if let ToolResultContent::Blocks(blocks) = &result.content {
                    visit(blocks, found);
                }
            }
            Content::Text(_) | Content::Reasoning(_) | Content::ToolUse(_) => {}
        }
    }
}

fn form(document: &Attachment) -> &'static str {
    let media_type = document.media_type.split(';').next().unwrap_or_default();
    if media_type.trim().eq_ignore_ascii_case("application/pdf") {
        "pdf"
    } else {
        "file"
    }
}
