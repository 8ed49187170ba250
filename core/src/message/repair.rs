//! Conversations that break off between a tool call and its result, made whole again.
//!
//! Services refuse a call without a result and a result without a call. Both happen: a process
//! is killed while a tool runs, or an application writes its own history.

use std::sync::Arc;

use super::{Content, Message, Role, ToolResult, ToolResultContent, ToolStatus};

/// What stands in for the result that a call never got.
const INTERRUPTED: &str = "This tool call was interrupted before it had a result. It may or may \
                           not have taken effect.";

/// Answers every tool call of `messages`, and drops what answers none.
pub(crate) fn make_whole(messages: &mut Arc<Vec<Message>>) {
    if let Some(whole) = repaired(messages) {
        *messages = Arc::new(whole);
    }
}

/// `messages` with every tool call answered right behind it, and nothing else answered; `None` when
/// they already are.
fn repaired(messages: &[Message]) -> Option<Vec<Message>> {
    if is_sound(messages) {
        return None;
    }
    let mut whole = Vec::with_capacity(messages.len() + 1);
    let mut rest = messages;
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        let (message, calls) = without_results(message);
        whole.extend(message.filter(|message| !message.content.is_empty()));
        if calls.is_empty() {
            continue;
        }
        let until = behind
            .iter()
            .position(|message| message.role == Role::Assistant)
            .unwrap_or(behind.len());
        let (answers, others) = behind.split_at(until);
        answer(calls, answers, &mut whole);
        rest = others;
    }
    Some(whole)
}

fn is_sound(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut answering = false;
    for message in messages {
        let results = results(message).count();
        if message.role == Role::Assistant {
            if !open.is_empty() || results > 0 {
                return false;
            }
            for call in message.tool_uses() {
                if open.contains(&call.id.as_str()) {
                    return false;
                }
                open.push(&call.id);
            }
            answering = true;
        } else if message.tool_uses().next().is_some() {
            return false;
        } else if results == 0 {
            if !open.is_empty() {
                return false;
            }
            answering = false;
        } else {
            for result in self::results(message) {
                let place = open.iter().position(|id| *id == result.tool_use_id);
                match place {
                    Some(place) if answering => open.swap_remove(place),
                    _ => return false,
                };
            }
        }
    }
    open.is_empty()
}

fn results(message: &Message) -> impl Iterator<Item = &ToolResult> {
    message.content.iter().filter_map(|block| match block {
        Content::ToolResult(result) => Some(result),
        _ => None,
    })
}

/// The message without results, which answer nothing where they stand, and the ids of the
/// calls in it. Only an assistant calls, and each call has an id of its own.
fn without_results(message: &Message) -> (Option<Message>, Vec<String>) {
    let mut calls: Vec<String> = Vec::new();
    let mut kept = Vec::with_capacity(message.content.len());
    for block in message.content.iter() {
        match block {
            Content::ToolResult(_) => continue,
            Content::ToolUse(call)
                if message.role != Role::Assistant || calls.contains(&call.id) =>
            {
                continue;
            }
            Content::ToolUse(call) => calls.push(call.id.clone()),
            _ => {}
        }
        kept.push(block.clone());
    }
    let emptied = kept.is_empty() && !message.content.is_empty();
    let message = (!emptied).then(|| Message {
        content: Arc::new(kept),
        ..message.clone()
    });
    (message, calls)
}

/// Appends one message with the results of `calls`, taken from `behind` as far as they are
/// there, and then what else `behind` has to say.
fn answer(calls: Vec<String>, behind: &[Message], whole: &mut Vec<Message>) {
    let found = calls.into_iter().map(|id| {
        let result = behind
            .iter()
            .flat_map(results)
            .find(|result| result.tool_use_id == id)
            .cloned();
        Content::ToolResult(result.unwrap_or_else(|| ToolResult {
            tool_use_id: id,
            content: ToolResultContent::Text(INTERRUPTED.to_owned()),
            status: ToolStatus::Error,
        }))
    });
    whole.push(Message::new(Role::Tool, found.collect()));
    whole.extend(
        behind
            .iter()
            .filter_map(|message| without_results(message).0),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::message::ToolUse;

    fn calls(ids: &[&str]) -> Message {
        let uses = ids.iter().map(|id| {
            Content::ToolUse(ToolUse {
                id: (*id).into(),
                name: "lookup".into(),
                input: Map::new(),
            })
        });
        Message::new(Role::Assistant, uses.collect())
    }

    fn answers(ids: &[&str]) -> Message {
        let results = ids.iter().map(|id| {
            Content::ToolResult(ToolResult {
                tool_use_id: (*id).into(),
                content: ToolResultContent::Text(format!("of {id}")),
                status: ToolStatus::Success,
            })
        });
        Message::new(Role::Tool, results.collect())
    }

    /// Each message as its role and, for results, what they answer; a `!` marks an interruption.
    fn outline(messages: &[Message]) -> Vec<String> {
        messages
            .iter()
            .map(|message| {
                let parts: Vec<String> = message
                    .content
                    .iter()
                    .map(|block| match block {
                        Content::Text(text) => text.clone(),
                        Content::ToolUse(call) => format!("+{}", call.id),
                        Content::ToolResult(result) if result.status == ToolStatus::Error => {
                            assert!(result.content.text().contains("interrupted"));
                            format!("!{}", result.tool_use_id)
                        }
                        Content::ToolResult(result) => format!("-{}", result.tool_use_id),
                        _ => String::new(),
                    })
                    .collect();
                format!("{} {}", message.role.as_str(), parts.join(" "))
            })
            .collect()
    }

    fn repair(messages: &[Message]) -> Vec<String> {
        let repaired = repaired(messages).unwrap();
        assert!(
            super::repaired(&repaired).is_none(),
            "not whole: {repaired:?}"
        );
        outline(&repaired)
    }

    #[test]
    fn a_whole_conversation_is_left_alone() {
        for messages in [
            vec![],
            vec![
                Message::user("a"),
                calls(&["1", "2"]),
                answers(&["2", "1"]),
                Message::assistant("b"),
            ],
            vec![
                calls(&["1"]),
                answers(&["1"]),
                Message::user("x"),
                calls(&["1"]),
                answers(&["1"]),
            ],
            vec![calls(&["1", "2"]), answers(&["1"]), answers(&["2"])],
        ] {
            assert_eq!(repaired(&messages), None);
        }
    }

    #[test]
    fn a_call_without_result_is_answered_as_interrupted() {
        assert_eq!(
            repair(&[Message::user("a"), calls(&["1"]), Message::user("continue")]),
            ["user a", "assistant +1", "tool !1", "user continue"]
        );
        assert_eq!(
            repair(&[calls(&["1", "2"]), answers(&["2"]), Message::user("b")]),
            ["assistant +1 +2", "tool !1 -2", "user b"]
        );
        assert_eq!(repair(&[calls(&["1"])]), ["assistant +1", "tool !1"]);
    }

    #[test]
    fn an_id_of_two_turns_is_answered_in_each() {
        assert_eq!(
            repair(&[
                calls(&["1"]),
                answers(&["1"]),
                calls(&["1"]),
                Message::user("b")
            ]),
            [
                "assistant +1",
                "tool -1",
                "assistant +1",
                "tool !1",
                "user b"
            ]
        );
    }

    #[test]
    fn a_result_without_call_is_dropped() {
        assert_eq!(
            repair(&[
                answers(&["9"]),
                Message::user("a"),
                calls(&["1"]),
                answers(&["1", "9"])
            ]),
            ["user a", "assistant +1", "tool -1"]
        );
        let said = Message::from_value(&json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "9", "content": "x", "status": "success"}, "words"]}));
        assert_eq!(repair(&[said.unwrap()]), ["user words"]);
    }

    #[test]
    fn a_late_result_moves_to_its_call() {
        assert_eq!(
            repair(&[
                calls(&["1"]),
                Message::user("hurry"),
                answers(&["1"]),
                Message::assistant("b")
            ]),
            ["assistant +1", "tool -1", "user hurry", "assistant b"]
        );
    }

    #[test]
    fn a_repeated_id_of_one_message_is_called_once() {
        assert_eq!(
            repair(&[calls(&["1", "1"]), answers(&["1"])]),
            ["assistant +1", "tool -1"]
        );
    }
}
