//! What of the images and documents of tool calls a model is shown.

use serde_json::{Value, json};

use crate::message::{Attachment, Content};

/// The most images and documents of one look.
const MOST_BLOCKS: usize = 4;
/// The most bytes of them together.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What is shown, and what is told of all.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// Within the limits.
    pub(super) content: Vec<Content>,
    /// A description of each.
    pub(super) artifacts: Vec<Value>,
    /// A line for each that is not shown.
    pub(super) remarks: Vec<String>,
}

/// Decides about the attachments of `found`, each with the tool that it came from, in order.
pub(super) fn deliver(found: Vec<(String, Attachment)>) -> Delivery {
    let mut delivery = Delivery::default();
    let mut left = MOST_BYTES;
    for (tool, attachment) in found {
        let bytes = attachment.data.len();
        delivery.artifacts.push(json!({
            "media_type": attachment.media_type, "name": attachment.name, "bytes": bytes, "tool": tool,
        }));
        if delivery.content.len() < MOST_BLOCKS && bytes <= left {
            left -= bytes;
            delivery
                .content
                .push(if attachment.media_type.starts_with("image/") {
                    Content::Image(attachment)
                } else {
                    Content::Document(attachment)
                });
        } else {
            let name = attachment.name.as_deref().unwrap_or("without a name");
            delivery.remarks.push(format!(
                "[not shown: {name}, {}, {bytes} bytes, of {tool}]",
                attachment.media_type
            ));
        }
    }
    delivery
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment(media_type: &str, bytes: usize) -> (String, Attachment) {
        let attachment = Attachment {
            data: vec![0; bytes].into(),
            media_type: media_type.into(),
            name: Some("a".into()),
        };
        ("scan".into(), attachment)
    }

    #[test]
    fn no_more_than_the_limits_is_shown() {
        let many = (0..6).map(|_| attachment("image/png", 10)).collect();
        let delivery = deliver(many);
        assert_eq!((delivery.content.len(), delivery.artifacts.len()), (4, 6));
        assert_eq!(delivery.remarks.len(), 2);

        let large = deliver(vec![
            attachment("application/pdf", MOST_BYTES - 5),
            attachment("image/png", 6),
            attachment("image/png", 5),
        ]);
        assert!(matches!(
            large.content.as_slice(),
            [Content::Document(_), Content::Image(_)]
        ));
        assert_eq!(
            large.remarks,
            ["[not shown: a, image/png, 6 bytes, of scan]"]
        );
    }
}
