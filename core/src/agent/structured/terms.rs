//! A structured result as the contract of an agent's invocations.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::ResultStrategy;
use super::evaluation::{Failure, Finding};
use super::redaction::{redacted_events, redacted_response};
use super::shaping::{Forced, Structured};
use crate::agent::Conversation;
use crate::agent::contract::{Contract, Terms, Verdict};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::model::{ModelRequest, ModelResponse, StopReason};
use crate::run::{RunResult, StructuredResult};

impl Contract for Structured {
    fn begin(&self, conversation: &Arc<Conversation>) -> Box<dyn Terms> {
        self.report_dropped(conversation);
        Box::new(StructuredTerms {
            structured: self.clone(),
            conversation: Arc::clone(conversation),
            began: Instant::now(),
            repairing: false,
            free: false,
        })
    }
}

impl Structured {
    /// Says what of the schema the provider will not be told.
    fn report_dropped(&self, conversation: &Conversation) {
        let agent = &conversation.agent;
        let dropped = agent
            .model
            .unsupported_schema(self.definition.input_schema());
        if !dropped.is_empty() {
            let payload = json!({
                "agent_id": *agent.id, "schema_name": self.name(), "target": agent.model.target(),
                "dropped": dropped,
            });
            conversation
                .run
                .warn("little_ghost.result_schema.reduced", payload);
        }
    }
}

/// The result of one invocation, still to come.
struct StructuredTerms {
    structured: Structured,
    conversation: Arc<Conversation>,
    began: Instant,
    /// The model has its last attempt.
    repairing: bool,
    /// The request in progress asks for nothing in particular.
    free: bool,
}

impl StructuredTerms {
    fn examine(&self, response: &ModelResponse) -> Finding {
        if self.free && self.structured.submissions(response) == 0 {
            return Finding::Ordinary;
        }
        self.structured.examine(response, self.repairing)
    }

    fn complete(&self, value: Map<String, Value>, message: crate::message::Message) -> RunResult {
        self.publish("valid");
        RunResult {
            message: Some(message),
            stop_reason: StopReason::StructuredResult,
            usage: self.conversation.usage(),
            cost: None,
            messages: Vec::new(),
            structured: Some(StructuredResult {
                name: self.structured.name().to_owned(),
                value,
                strategy: if self.structured.by_tool {
                    ResultStrategy::Tool
                } else {
                    ResultStrategy::Provider
                },
            }),
            steps: Vec::new(),
            scope: 0,
        }
    }

    fn publish(&self, status: &str) {
        let duration = self.began.elapsed();
        let attributes = json!({
            "schema_name": self.structured.name(), "strategy": self.structured.strategy(),
            "validation_status": status, "repair_attempted": self.repairing,
            "duration_ms": u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            "usage": self.conversation.usage().to_value(),
        });
        self.conversation.notify("structured_result", attributes);
    }

    fn cut(&self) -> Error {
        Error::new(
            ErrorKind::OutputLimit,
            format!(
                "the model reached its output limit before the result {:?} was complete; raise \
                 max_tokens or ask for less",
                self.structured.name()
            ),
        )
    }

    fn error(&self, problem: &str, violations: &[String]) -> Error {
        let name = self.structured.name();
        Error::new(
            ErrorKind::StructuredResult,
            format!("the model gave no valid result {name:?}: {problem}"),
        )
        .with_data(json!({"schema_name": name, "validation_errors": violations}))
    }
}

impl Terms for StructuredTerms {
    fn shape(&mut self, request: &mut ModelRequest, interjected: bool) -> Result<()> {
        self.free = interjected;
        let forced = match (interjected, self.repairing) {
            (true, _) => Forced::No,
            (false, false) => Forced::Any,
            (false, true) => Forced::Result,
        };
        self.structured.shape(request, forced)
    }

    fn disclose(
        &self,
        response: &Arc<ModelResponse>,
        held: Vec<StreamEvent>,
    ) -> (Vec<StreamEvent>, Arc<ModelResponse>) {
        match self.examine(response) {
            Finding::Ordinary => (held, Arc::clone(response)),
            _ => (
                redacted_events(held),
                redacted_response(self.structured.name(), response),
            ),
        }
    }

    fn judge(&mut self, response: &Arc<ModelResponse>, _interjected: bool) -> Result<Verdict> {
        let Failure { status, violations } = match self.examine(response) {
            Finding::Ordinary => return Ok(Verdict::Ordinary),
            Finding::Valid(value, message) => {
                let result = self.complete(value, message);
                // Should an interjection keep the invocation going, its next result has a repair too.
                self.repairing = false;
                return Ok(Verdict::Done(Box::new(result)));
            }
            Finding::Cut => {
                self.publish("failed");
                return Err(self.cut());
            }
            Finding::Failed(failure) => failure,
        };
        if self.repairing {
            self.publish("failed");
            return Err(self.error("it failed again after one repair", &violations));
        }
        self.publish(status);
        self.repairing = true;
        Ok(Verdict::Repair(self.structured.repair(response)))
    }

    fn explain(&self, error: Error) -> Error {
        let was_cut = error
            .data()
            .is_some_and(|data| data.get("output_limit") == Some(&Value::Bool(true)));
        if was_cut { self.cut() } else { error }
    }

    fn exhausted(&self) -> Option<Error> {
        self.publish("failed");
        let limit = self.conversation.agent.limits.max_turns;
        let problem = format!("it did not come within {limit} model calls (max_turns)");
        Some(self.error(&problem, &[]))
    }
}
