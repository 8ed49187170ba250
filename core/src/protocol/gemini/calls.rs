//! The calls of one answer in the making.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::partial_call::PartialCall;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::http::shorten;
use crate::message::ToolUse;
use crate::protocol::tool_arguments::tool_use;

/// Begins the ids that are made here for calls without one. The service never gave them, so it does
/// not get them back.
const OWN_ID: &str = "generated-";

/// Characters of the answer's id that an id of a call repeats; other services limit its length.
const MAX_ANSWER_ID: usize = 40;

/// Whether the id was made here.
pub(super) fn is_own_id(id: &str) -> bool {
    id.starts_with(OWN_ID)
}

/// A whole call, and the signature of its part.
pub(super) type SignedCall = (ToolUse, Option<String>);

/// Calls in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The ids of those that were announced.
    ids: Vec<String>,
    /// The one whose arguments have begun to arrive.
    open: Option<PartialCall>,
    /// Name of the tool whose call is the answer.
    answer_tool: Option<String>,
    /// What that tool was called with.
    answered: Option<Map<String, Value>>,
}

impl Calls {
    /// The calls of an answer that may be given by calling `answer_tool`.
    pub(super) fn new(answer_tool: Option<String>) -> Self {
        Self {
            answer_tool,
            ..Self::default()
        }
    }

    /// Whether there are any besides the answer's own.
    pub(super) fn any(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Takes what a part says of a call, and returns the call once it is whole. `answer_id` makes
    /// ids unique.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`] for a call without a name, and for arguments that are no
    /// object.
    pub(super) fn push(
        &mut self,
        call: &Map<String, Value>,
        signature: Option<String>,
        answer_id: Option<&str>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<Option<SignedCall>> {
        let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = text("name");
        let more = call.get("willContinue").and_then(Value::as_bool) == Some(true);
        if self.open.is_some() && name.is_empty() {
            return self.go_on(call, more, events);
        }
        self.check_whole()?;
        let id = Some(text("id"))
            .filter(|id| !id.is_empty() && !self.ids.iter().any(|known| known == id))
            .map_or_else(|| self.own_id(answer_id), str::to_owned);
        if !name.is_empty() && (more || call.contains_key("partialArgs")) {
            let index = self.start(&id, name, events);
            self.open = Some(PartialCall::new(id, name, signature, index));
            return self.go_on(call, more, events);
        }
        let tool_use = match call.get("args") {
            Some(Value::Object(input)) if !name.is_empty() => ToolUse {
                id,
                name: name.to_owned(),
                input: input.clone(),
            },
            None | Some(Value::Null) => tool_use(&id, name, "")?,
            Some(Value::String(text)) => tool_use(&id, name, text)?,
            Some(other) => tool_use(&id, name, &other.to_string())?,
        };
        let index = self.start(&tool_use.id, &tool_use.name, events);
        Ok(self.stop(index, tool_use, signature, events))
    }

    /// Takes more of the open call.
    fn go_on(
        &mut self,
        call: &Map<String, Value>,
        more: bool,
        events: &mut Vec<StreamEvent>,
    ) -> Result<Option<SignedCall>> {
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        open.push(call)?;
        if more {
            return Ok(None);
        }
        let whole = self.open.take().map(|mut open| {
            let tool_use = ToolUse {
                input: open.take_input(),
                id: open.id,
                name: open.name,
            };
            (open.index, tool_use, open.signature)
        });
        Ok(whole
            .and_then(|(index, tool_use, signature)| self.stop(index, tool_use, signature, events)))
    }

    /// Announces a call unless it is the answer's, and returns its position.
    fn start(&mut self, id: &str, name: &str, events: &mut Vec<StreamEvent>) -> u32 {
        let index = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        if self.answer_tool.as_deref() != Some(name) {
            self.ids.push(id.to_owned());
            events.push(StreamEvent::ToolCallStart {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
            });
        }
        index
    }

    fn stop(
        &mut self,
        index: u32,
        tool_use: ToolUse,
        signature: Option<String>,
        events: &mut Vec<StreamEvent>,
    ) -> Option<SignedCall> {
        if self.answer_tool.as_ref() == Some(&tool_use.name) {
            self.answered.get_or_insert(tool_use.input);
            return None;
        }
        events.push(StreamEvent::ToolCallStop {
            index,
            tool_use: Arc::new(tool_use.clone()),
        });
        Some((tool_use, signature))
    }

    /// An id that no other call of the conversation has.
    fn own_id(&self, answer_id: Option<&str>) -> String {
        let answer: String = answer_id
            .unwrap_or_default()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
            .take(MAX_ANSWER_ID)
            .collect();
        let number = self.ids.len();
        if answer.is_empty() {
            format!("{OWN_ID}{:016x}-{number}", fastrand::u64(..))
        } else {
            format!("{OWN_ID}{answer}-{number}")
        }
    }

    /// Makes sure that no call is missing a part.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`] for a call whose arguments did not arrive in full.
    pub(super) fn check_whole(&self) -> Result<()> {
        match &self.open {
            None => Ok(()),
            Some(open) => Err(Error::new(
                ErrorKind::MalformedToolCall,
                format!(
                    "the arguments of tool {:?} did not arrive in full",
                    shorten(&open.name, 64)
                ),
            )),
        }
    }

    /// The answer that was given as a call, unless other tools are to be run first.
    pub(super) fn take_answer(&mut self) -> Option<String> {
        let answered = self.answered.take()?;
        (!self.any()).then(|| Value::Object(answered).to_string())
    }
}
