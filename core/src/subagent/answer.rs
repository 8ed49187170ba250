//! What the tools answer.

use serde_json::{Value, json};

use super::identity::{Identity, Response};
use crate::message::Message;
use crate::run::RunResult;

/// What a model reads of a turn that failed.
pub(super) const FAILED: &str = "The subagent could not finish its turn. Its conversation is over; spawn a new subagent to try again.";
/// What a model reads of a turn behind one that failed.
pub(super) const BEHIND: &str =
    "An earlier turn of the subagent failed, so this message was not read; spawn a new subagent.";
/// What a model reads of a turn that was given up.
pub(super) const CANCELLED: &str = "The work of the subagent was cancelled.";
/// What a model reads when no agent could be made.
pub(super) const NOT_MADE: &str = "The subagent could not be created.";

/// `{status: "working", subagent}`.
pub(super) fn working(identity: &Identity) -> Value {
    json!({"status": "working", "subagent": identity.snapshot()})
}

/// `{status: "finished", subagent_id, kind, turn, response, response_truncated?}`.
pub(super) fn finished(identity: &Identity, response: &Response) -> Value {
    let mut answer = json!({
        "status": "finished", "subagent_id": *identity.path, "kind": *identity.kind.kind,
        "turn": response.turn, "response": response.value,
    });
    if let (true, Some(answer)) = (response.truncated, answer.as_object_mut()) {
        answer.insert("response_truncated".into(), json!(true));
    }
    answer
}

/// `{status: "failed" or "cancelled", subagent_id, kind, turn, error}`.
pub(super) fn over(identity: &Identity, status: &str, turn: u64, error: &str) -> Value {
    json!({
        "status": status, "subagent_id": *identity.path, "kind": *identity.kind.kind,
        "turn": turn, "error": error,
    })
}

/// `{status: "capacity_reached", limit, message, subagent?}`.
pub(super) fn capacity(limit: usize, message: String, subagent: Option<Value>) -> Value {
    let mut answer = json!({"status": "capacity_reached", "limit": limit, "message": message});
    if let (Some(subagent), Some(answer)) = (subagent, answer.as_object_mut()) {
        answer.insert("subagent".into(), subagent);
    }
    answer
}

/// `{status: "invalid_request", message}` for a text that is blank or too long; `None` for any other.
pub(super) fn unusable(what: &str, text: &str, limit: usize) -> Option<Value> {
    let message = if text.trim().is_empty() {
        format!("{what} is blank; say what the subagent should do")
    } else if text.chars().nth(limit).is_some() {
        format!("{what} is longer than {limit} characters; say it more briefly")
    } else {
        return None;
    };
    Some(json!({"status": "invalid_request", "message": message}))
}

/// What a model reads of a result: the structured value, or the text, of which `limit` characters stay.
/// `None` for a structured value that is longer.
pub(super) fn response(result: &RunResult, turn: u64, limit: usize) -> Option<Response> {
    if result.structured.is_some() {
        let value = result.output();
        let fits = value.to_string().chars().nth(limit).is_none();
        return fits.then_some(Response {
            turn,
            value,
            truncated: false,
        });
    }
    let (text, truncated) = cut(result.text(), limit);
    Some(Response {
        turn,
        value: Value::String(text),
        truncated,
    })
}

/// The first `limit` characters, and whether there were more.
pub(super) fn cut(mut text: String, limit: usize) -> (String, bool) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => {
            text.truncate(end);
            (text, true)
        }
        None => (text, false),
    }
}

/// What is kept of a turn: the task, what was said meanwhile, the answer.
pub(super) fn transcript(
    task: &str,
    interjections: Vec<(String, Option<String>)>,
    result: &RunResult,
) -> Vec<Message> {
    let mut messages = vec![Message::user(task)];
    for (said, answered) in interjections {
        if let Some(answered) = answered {
            messages.push(Message::user(said));
            messages.push(Message::assistant(answered));
        }
    }
    let answer = match result.output() {
        Value::String(text) => text,
        structured => structured.to_string(),
    };
    messages.push(Message::assistant(answer));
    messages
}
