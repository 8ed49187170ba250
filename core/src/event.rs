//! Stream events: one language for text, tools, usage and endings.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::assembly::AssemblyEvent;
use crate::error::Error;
use crate::message::{Message, ToolResult, ToolUse, Usage};
use crate::model::ModelResponse;
use crate::run::{AgentStreamSource, RunResult};
use crate::subagent::SubagentEvent;

/// One thing that happened during a run, in order.
///
/// Names and payloads are the same in Ruby and Python, where an event has a
/// `type` ([`StreamEvent::kind`]) and `data` ([`StreamEvent::data`]).
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// The run began.
    RunStart {
        /// Identifier of the run.
        run_id: String,
        /// The invocation's session.
        thread_id: String,
    },
    /// The agent began its loop.
    InvocationStart {
        /// Identifier of the agent.
        agent_id: Arc<str>,
    },
    /// A model call began; `turn` counts from zero.
    ModelStart {
        /// Model call, counted from zero.
        turn: u32,
    },
    /// The model began to answer.
    MessageStart {
        /// The provider's identifier.
        id: Option<String>,
        /// Model that answers, as the provider names it.
        model: String,
    },
    /// A piece of visible text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A piece of visible reasoning.
    ReasoningDelta {
        /// The piece.
        text: String,
    },
    /// The model began a tool call.
    ToolCallStart {
        /// The provider's position of the call; not necessarily dense.
        index: u32,
        /// The provider's identifier.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// A fragment of the call's JSON arguments.
    ToolCallDelta {
        /// The provider's position of the call; not necessarily dense.
        index: u32,
        /// Raw JSON fragment.
        arguments: String,
    },
    /// The call's arguments are complete.
    ToolCallStop {
        /// The provider's position of the call; not necessarily dense.
        index: u32,
        /// The call.
        tool_use: Arc<ToolUse>,
    },
    /// Token counts of one model response.
    Usage {
        /// Token counts.
        usage: Usage,
    },
    /// A model call failed and is tried again; text of the failed attempt is superseded.
    ModelRetry(ModelRetry),
    /// The model finished one response.
    MessageStop {
        /// The response.
        response: Arc<ModelResponse>,
    },
    /// The model call ended.
    ModelStop {
        /// Model call, counted from zero.
        turn: u32,
        /// The response.
        response: Arc<ModelResponse>,
    },
    /// A tool call is about to run.
    ToolStart {
        /// The call.
        tool_use: Arc<ToolUse>,
    },
    /// A tool call ended.
    ToolStop {
        /// The call.
        tool_use: Arc<ToolUse>,
        /// The result.
        result: Arc<ToolResult>,
    },
    /// Messages that arrived meanwhile are part of the next model call.
    AgentInterjectionDelivered {
        /// Their identifiers.
        interjection_ids: Vec<String>,
        /// Their common batch key.
        batch_key: Option<String>,
    },
    /// The agent finished.
    InvocationStop {
        /// The result.
        result: Arc<RunResult>,
        /// Facts about the model.
        metadata: Arc<Map<String, Value>>,
    },
    /// The agent failed.
    InvocationError {
        /// What went wrong.
        error: Error,
        /// Token counts.
        usage: Usage,
        /// Facts about the model.
        metadata: Arc<Map<String, Value>>,
    },
    /// An event of one of the run's agents, and whose it is; when the request asked for it. The
    /// event itself follows.
    AgentStream {
        /// The agent.
        source: Arc<AgentStreamSource>,
        /// Its event.
        event: Box<StreamEvent>,
        /// What the agent was asked; only with its `invocation_start`.
        input: Option<Message>,
    },
    /// An assembly coordinated its participants.
    Assembly(AssemblyEvent),
    /// Something happened to a subagent.
    Subagent(SubagentEvent),
    /// The run completed. Terminal.
    RunStop {
        /// The response.
        response: String,
        /// The result.
        result: Arc<RunResult>,
    },
    /// The deadline ended the run; `response` is the text so far. Terminal.
    RunPartial {
        /// The response.
        response: String,
        /// What went wrong.
        error: Error,
    },
    /// Cancellation ended the run. Terminal.
    RunCancel {
        /// What went wrong.
        error: Error,
    },
    /// The run failed; `message` is safe to show to a caller. Terminal.
    RunError {
        /// What went wrong.
        error: Error,
        /// Text that is safe to show to a caller.
        message: String,
        /// Whether a resource failed to close.
        cleanup_failed: bool,
    },
}

/// Why and when a model call is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRetry {
    /// Number of the coming retry, from one.
    pub attempt: u32,
    /// Pause before it.
    pub delay: Duration,
    /// Class name of the failure.
    pub error_class: String,
    /// Whether text of the failed attempt was already delivered.
    pub partial_text: bool,
    /// HTTP status of the failure.
    pub http_status: Option<u16>,
    /// Provider error code of an in-stream failure, if it is a known one.
    pub error_code: Option<String>,
}

impl StreamEvent {
    /// The event's type name, such as `"text_delta"`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            StreamEvent::RunStart { .. } => "run_start",
            StreamEvent::InvocationStart { .. } => "invocation_start",
            StreamEvent::ModelStart { .. } => "model_start",
            StreamEvent::MessageStart { .. } => "message_start",
            StreamEvent::TextDelta { .. } => "text_delta",
            StreamEvent::ReasoningDelta { .. } => "reasoning_delta",
            StreamEvent::ToolCallStart { .. } => "tool_call_start",
            StreamEvent::ToolCallDelta { .. } => "tool_call_delta",
            StreamEvent::ToolCallStop { .. } => "tool_call_stop",
            StreamEvent::Usage { .. } => "usage",
            StreamEvent::ModelRetry(_) => "model_retry",
            StreamEvent::MessageStop { .. } => "message_stop",
            StreamEvent::ModelStop { .. } => "model_stop",
            StreamEvent::ToolStart { .. } => "tool_start",
            StreamEvent::ToolStop { .. } => "tool_stop",
            StreamEvent::AgentInterjectionDelivered { .. } => "agent_interjection_delivered",
            StreamEvent::InvocationStop { .. } => "invocation_stop",
            StreamEvent::InvocationError { .. } => "invocation_error",
            StreamEvent::AgentStream { .. } => "agent_stream",
            StreamEvent::Assembly(event) => event.kind(),
            StreamEvent::Subagent(_) => "subagent",
            StreamEvent::RunStop { .. } => "run_stop",
            StreamEvent::RunPartial { .. } => "run_partial",
            StreamEvent::RunCancel { .. } => "run_cancel",
            StreamEvent::RunError { .. } => "run_error",
        }
    }

    /// Whether this event ends a run.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(
            self,
            StreamEvent::RunStop { .. }
                | StreamEvent::RunPartial { .. }
                | StreamEvent::RunCancel { .. }
                | StreamEvent::RunError { .. }
        )
    }

    /// The payload as JSON: messages, usage, results and errors in their serialised shapes.
    #[must_use]
    pub fn data(&self) -> Value {
        match self {
            StreamEvent::RunStart { run_id, thread_id } => {
                json!({"run_id": run_id, "thread_id": thread_id})
            }
            StreamEvent::InvocationStart { agent_id } => json!({"agent_id": **agent_id}),
            StreamEvent::ModelStart { turn } => json!({"turn": turn}),
            StreamEvent::MessageStart { id, model } => json!({"id": id, "model": model}),
            StreamEvent::TextDelta { text } | StreamEvent::ReasoningDelta { text } => {
                json!({"text": text})
            }
            StreamEvent::ToolCallStart { index, id, name } => {
                json!({"index": index, "id": id, "name": name})
            }
            StreamEvent::ToolCallDelta { index, arguments } => {
                json!({"index": index, "arguments": arguments})
            }
            StreamEvent::ToolCallStop { index, tool_use } => {
                json!({"index": index, "tool_use": tool_use.to_value()})
            }
            StreamEvent::Usage { usage } => json!({"usage": usage.to_value()}),
            StreamEvent::ModelRetry(retry) => retry.to_value(),
            StreamEvent::MessageStop { response } => json!({"response": response.to_value()}),
            StreamEvent::ModelStop { turn, response } => {
                json!({"turn": turn, "response": response.to_value()})
            }
            StreamEvent::ToolStart { tool_use } => json!({"tool_use": tool_use.to_value()}),
            StreamEvent::ToolStop { tool_use, result } => {
                json!({"tool_use": tool_use.to_value(), "result": result.to_value()})
            }
            StreamEvent::AgentInterjectionDelivered {
                interjection_ids,
                batch_key,
            } => json!({"interjection_ids": interjection_ids, "batch_key": batch_key}),
            StreamEvent::InvocationStop { result, metadata } => {
                json!({"result": result.to_value(), "metadata": **metadata})
            }
            StreamEvent::InvocationError {
                error,
                usage,
                metadata,
            } => {
                json!({"error": error.to_value(), "usage": usage.to_value(), "metadata": **metadata})
            }
            StreamEvent::AgentStream {
                source,
                event,
                input,
            } => {
                let event = json!({"type": event.kind(), "data": event.data()});
                let mut data = json!({"source": source.to_value(), "event": event});
                if let (Some(input), Some(data)) = (input, data.as_object_mut()) {
                    data.insert("input".into(), input.to_value());
                }
                data
            }
            StreamEvent::Assembly(event) => event.data(),
            StreamEvent::Subagent(event) => json!({"event": event.to_value()}),
            StreamEvent::RunStop { response, result } => {
                json!({"outcome": "completed", "response": response, "result": result.to_value()})
            }
            StreamEvent::RunPartial { response, error } => {
                json!({"outcome": "partial", "response": response, "error": error.to_value()})
            }
            StreamEvent::RunCancel { error } => {
                json!({"outcome": "cancelled", "response": "", "error": error.to_value()})
            }
            StreamEvent::RunError {
                error,
                message,
                cleanup_failed,
            } => {
                json!({
                    "outcome": "failed", "error": error.to_value(),
                    "message": message, "cleanup_failed": cleanup_failed,
                })
            }
        }
    }
}

impl ModelRetry {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("attempt".into(), json!(self.attempt));
        map.insert("delay".into(), json!(self.delay.as_secs_f64()));
        map.insert("error_class".into(), json!(self.error_class));
        map.insert("partial_text".into(), json!(self.partial_text));
        if let Some(status) = self.http_status {
            map.insert("http_status".into(), json!(status));
        }
        if let Some(code) = &self.error_code {
            map.insert("error_code".into(), json!(code));
        }
        Value::Object(map)
    }
}
