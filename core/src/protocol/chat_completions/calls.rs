//! Which tool call a streamed fragment belongs to.

use std::sync::Arc;

use super::chunk::CallDelta;
use crate::error::Result;
use crate::event::StreamEvent;
use crate::message::ToolUse;
use crate::protocol::tool_arguments::{is_whole, tool_use};

/// The tool calls of one answer in the making.
///
/// Services disagree about `index`: some leave it out, some always send 0, some let it drift. So
/// an id is trusted more than an index, and a fragment that names nothing continues the last call.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    /// The position the service gave, if it did.
    index: Option<u32>,
    /// The position in events: unique, which the service's need not be.
    position: u32,
    id: String,
    name: String,
    arguments: String,
    started: bool,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes one entry of `delta.tool_calls`.
    pub(super) fn push(&mut self, delta: &CallDelta<'_>, events: &mut Vec<StreamEvent>) {
        if delta.custom.is_some() {
            // Nobody here offered the tool, so nobody can answer.
            return;
        }
        let function = delta.function.as_ref();
        let id = delta.id.present();
        let name = function.and_then(|function| function.name.present());
        let fragment = function.map_or("", |function| &*function.arguments.0);
        if id.is_none() && name.is_none() && fragment.is_empty() {
            return;
        }
        let at = match self.target(delta.index.0, id, name) {
            Some(at) => at,
            None => self.open(delta.index.0),
        };
        if let Some(call) = self.calls.get_mut(at) {
            call.add(id, name, fragment, events);
        }
    }

    /// The open call that a fragment continues; `None` when it begins a new one.
    fn target(&self, index: Option<u32>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let last_where = |test: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(test);
        let last = self.calls.len().checked_sub(1);
        let at_index = match index {
            Some(index) => last_where(&|call| call.index == Some(index)),
            None => None,
        };
        if let Some(id) = id {
            if let Some(known) = last_where(&|call| call.id == id) {
                return Some(known);
            }
            // An id may arrive late, and some servers invent a new one for each fragment of a
            // call; a new call has a name.
            let candidate = if index.is_some() { at_index } else { None };
            return candidate.filter(|at| {
                self.calls.get(*at).is_some_and(|call| {
                    call.id.is_empty() || (name.is_none() && !is_whole(&call.arguments))
                })
            });
        }
        let Some(name) = name else {
            return at_index.or(last);
        };
        let candidate = if index.is_some() { at_index } else { last };
        candidate.filter(|at| {
            self.calls.get(*at).is_some_and(|call| {
                call.name.is_empty() || (call.name == name && !is_whole(&call.arguments))
            })
        })
    }

    fn open(&mut self, index: Option<u32>) -> usize {
        let taken = |position| self.calls.iter().any(|call| call.position == position);
        let position = index.filter(|index| !taken(*index)).unwrap_or_else(|| {
            let highest = self.calls.iter().map(|call| call.position).max();
            highest.map_or(0, |highest| highest.saturating_add(1))
        });
        self.calls.push(Call {
            index,
            position,
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
            started: false,
        });
        self.calls.len() - 1
    }

    /// Ends every call, in the order of their positions.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`](crate::ErrorKind::MalformedToolCall) for the first call
    /// without id or name, or whose arguments are no object.
    pub(super) fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<Vec<ToolUse>> {
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|call| call.position);
        let mut uses = Vec::with_capacity(calls.len());
        for call in &calls {
            let tool_use = tool_use(&call.id, &call.name, &call.arguments)?;
            events.push(StreamEvent::ToolCallStop {
                index: call.position,
                tool_use: Arc::new(tool_use.clone()),
            });
            uses.push(tool_use);
        }
        Ok(uses)
    }
}

impl Call {
    fn add(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        fragment: &str,
        events: &mut Vec<StreamEvent>,
    ) {
        if self.id.is_empty() {
            self.id.push_str(id.unwrap_or_default());
        }
        if self.name.is_empty() {
            self.name.push_str(name.unwrap_or_default());
        }
        self.arguments.push_str(fragment);
        let mut delta = fragment;
        if !self.started {
            if self.id.is_empty() || self.name.is_empty() {
                return;
            }
            self.started = true;
            events.push(StreamEvent::ToolCallStart {
                index: self.position,
                id: self.id.clone(),
                name: self.name.clone(),
            });
            // With what came before the call could be announced.
            delta = &self.arguments;
        }
        if !delta.is_empty() {
            events.push(StreamEvent::ToolCallDelta {
                index: self.position,
                arguments: delta.to_owned(),
            });
        }
    }
}
