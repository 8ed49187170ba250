//! Calls of programs, which go the way of every other tool call.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde_json::Value;

use crate::agent::Conversation;
use crate::agent::tool_call::{Purpose, perform};
use crate::code_mode::{Answer, Dispatch};
use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::message::{Attachment, Content, ToolResultContent, ToolStatus, ToolUse};

/// Runs the calls of an invocation's programs.
pub(super) struct AgentDispatch(pub(super) Weak<Conversation>);

#[async_trait]
impl Dispatch for AgentDispatch {
    async fn dispatch(&self, call: ToolUse) -> Result<Answer> {
        let conversation = self.0.upgrade().ok_or_else(Error::cancelled)?;
        let answered = conversation.run.bounded(answer(&conversation, call)).await;
        if let (Err(error), Some(programs)) = (&answered, &conversation.programs) {
            programs.fail(error);
        }
        answered
    }
}

async fn answer(conversation: &Arc<Conversation>, call: ToolUse) -> Result<Answer> {
    conversation.count_tool_call_of_program()?;
    let call = Arc::new(call);
    announce(conversation, &call).await;
    let purpose = Purpose::OfProgram {
        operation: conversation
            .programs
            .as_ref()
            .and_then(|programs| programs.operation()),
    };
    let (result, outcome) = perform(conversation, &call, true, purpose).await?;
    let result = Arc::new(result);
    let stopped = StreamEvent::ToolStop {
        tool_use: call,
        result,
    };
    conversation.brokered_events.send(stopped).await;
    let text = outcome.content.text();
    if outcome.status == ToolStatus::Error {
        return Ok(Answer::error(text));
    }
    Ok(Answer {
        value: outcome.value.unwrap_or(Value::String(text)),
        error: None,
        attachments: attachments(outcome.content),
    })
}

/// A call of a program looks like one of the model.
async fn announce(conversation: &Conversation, call: &Arc<ToolUse>) {
    let arguments = serde_json::to_string(&call.input).unwrap_or_default();
    let events = [
        StreamEvent::ToolCallStart {
            index: 0,
            id: call.id.clone(),
            name: call.name.clone(),
        },
        StreamEvent::ToolCallDelta {
            index: 0,
            arguments,
        },
        StreamEvent::ToolCallStop {
            index: 0,
            tool_use: Arc::clone(call),
        },
        StreamEvent::ToolStart {
            tool_use: Arc::clone(call),
        },
    ];
    for event in events {
        conversation.brokered_events.send(event).await;
    }
}

fn attachments(content: ToolResultContent) -> Vec<Attachment> {
    let ToolResultContent::Blocks(blocks) = content else {
        return Vec::new();
    };
    let attached = blocks.into_iter().filter_map(|block| match block {
        Content::Image(attachment) | Content::Document(attachment) => Some(attachment),
        _ => None,
    });
    attached.collect()
}
