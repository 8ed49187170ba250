//! Which model thought what: reasoning means something only to the model that it came from.

use std::sync::Arc;

use serde_json::{Map, json};

use super::{Content, Message};

/// Metadata of a message with reasoning: the `connection:model-id` that it came from.
const KEY: &str = "little_ghost_model";

/// Notes on a message with reasoning that `target` said it.
pub(crate) fn sign(message: &mut Message, target: &str) {
    if message.content.iter().any(is_reasoning) && !message.metadata.contains_key(KEY) {
        message.metadata.insert(KEY.into(), json!(target));
    }
}

/// Forgets who said a message whose reasoning is taken out.
pub(crate) fn unsign(metadata: &Map<String, serde_json::Value>) -> Map<String, serde_json::Value> {
    let mut metadata = metadata.clone();
    metadata.shift_remove(KEY);
    metadata
}

/// The messages as `target` may read them: without signed reasoning of other models, which
/// services refuse or misread. `None` when there is none.
pub(crate) fn readable_by(messages: &[Message], target: &str) -> Option<Vec<Message>> {
    if !messages.iter().any(|message| is_foreign(message, target)) {
        return None;
    }
    let kept = messages.iter().filter_map(|message| {
        if !is_foreign(message, target) {
            return Some(message.clone());
        }
        let content: Vec<Content> = message
            .content
            .iter()
            .filter(|block| !is_reasoning(block))
            .cloned()
            .collect();
        (!content.is_empty()).then(|| Message {
            role: message.role,
            content: Arc::new(content),
            metadata: unsign(&message.metadata),
        })
    });
    Some(kept.collect())
}

fn is_foreign(message: &Message, target: &str) -> bool {
    message.content.iter().any(is_reasoning)
        && message
            .metadata
            .get(KEY)
            .and_then(serde_json::Value::as_str)
            .is_some_and(|origin| origin != target)
}

fn is_reasoning(block: &Content) -> bool {
    matches!(block, Content::Reasoning(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Reasoning, Role};

    fn thought(text: &str) -> Message {
        let reasoning = Content::Reasoning(Reasoning {
            text: "Hm.".into(),
            ..Reasoning::default()
        });
        Message::new(Role::Assistant, vec![reasoning, Content::text(text)])
    }

    #[test]
    fn only_the_model_itself_reads_its_reasoning() {
        let mut message = thought("Hi");
        sign(&mut message, "a:one");
        sign(&mut message, "b:two");
        let plain = Message::assistant("Hi");
        let messages = [Message::user("Hello"), message.clone(), thought("Unsigned")];
        assert_eq!(readable_by(&messages, "a:one"), None);
        let others = readable_by(&messages, "b:two").unwrap();
        assert_eq!(others, [messages[0].clone(), plain, messages[2].clone()]);
    }

    #[test]
    fn messages_without_reasoning_are_not_signed() {
        let mut message = Message::assistant("Hi");
        sign(&mut message, "a:one");
        assert!(message.metadata.is_empty());
    }
}
