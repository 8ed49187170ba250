//! Whether a response is the result.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::shaping::Structured;
use super::value_limits::{MAX_BYTES, excess, too_long};
use crate::message::{Content, Message, Role};
use crate::model::ModelResponse;

/// What a response is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// A step on the way: calls of ordinary tools.
    Ordinary,
    /// The result, and the message that stands for it in the conversation.
    Valid(Map<String, Value>, Message),
    /// An attempt at the result that failed.
    Failed(Failure),
    /// The output limit cut it, so that whatever is there is not the whole.
    Cut,
}

/// Why an attempt at the result failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// `"invalid"` or `"missing"`.
    pub(crate) status: &'static str,
    /// What is wrong, each starting with a path where there is one.
    pub(crate) violations: Vec<String>,
}

impl Failure {
    fn missing(problem: impl Into<String>) -> Finding {
        Finding::Failed(Self {
            status: "missing",
            violations: vec![problem.into()],
        })
    }

    fn invalid(violations: Vec<String>) -> Finding {
        Finding::Failed(Self {
            status: "invalid",
            violations,
        })
    }
}

impl Structured {
    /// Judges `response`. In a `final_turn`, which repairs an earlier attempt, only the result
    /// will do.
    pub(crate) fn examine(&self, response: &ModelResponse, final_turn: bool) -> Finding {
        let calls = response.message.tool_uses().count();
        let submissions = self.submissions(response);
        if calls > 0 && submissions == 0 && !final_turn {
            return Finding::Ordinary;
        }
        if response.stop_reason.is_output_limit() {
            return Finding::Cut;
        }
        if self.by_tool {
            match (submissions, calls) {
                (1, 1) => self.submitted(response),
                (0, 0) => Failure::missing("the model answered with text instead of the result"),
                (0, _) => Failure::missing("the model called a tool instead of giving the result"),
                (1, _) => Failure::invalid(vec![
                    "the model submitted the result together with other calls".into(),
                ]),
                _ => Failure::invalid(vec!["the model submitted the result more than once".into()]),
            }
        } else if calls > 0 {
            Failure::missing("the model called a tool instead of giving the result")
        } else {
            self.written(response)
        }
    }

    /// Calls of the result's own tool.
    pub(crate) fn submissions(&self, response: &ModelResponse) -> usize {
        if !self.by_tool {
            return 0;
        }
        let is_ours = |name: &str| name == self.name();
        response
            .message
            .tool_uses()
            .filter(|call| is_ours(&call.name))
            .count()
    }

    fn submitted(&self, response: &ModelResponse) -> Finding {
        let Some(call) = response.message.tool_uses().next() else {
            return Failure::missing("the model did not submit the result");
        };
        self.checked(call.input.clone(), |value| {
            // The call has no result, so that it cannot stay in the conversation; its value can.
            Message::assistant(Value::Object(value.clone()).to_string())
        })
    }

    fn written(&self, response: &ModelResponse) -> Finding {
        let text = response.message.text();
        if text.trim().is_empty() {
            return Failure::missing("the model answered with nothing");
        }
        if text.len() > MAX_BYTES {
            return Failure::invalid(vec![too_long()]);
        }
        match serde_json::from_str(&text) {
            Ok(Value::Object(value)) => self.checked(value, |_| {
                let kept = response.message.content.iter().filter(|block| keeps(block));
                Message {
                    content: Arc::new(kept.cloned().collect()),
                    ..response.message.clone()
                }
            }),
            Ok(other) => Failure::invalid(vec![format!(
                "$ must be object, not {}",
                crate::message::kind_of(&other)
            )]),
            // The problem's position says enough; its text might quote the response.
            Err(problem) => Failure::invalid(vec![format!(
                "the response is not one JSON document (line {}, column {})",
                problem.line(),
                problem.column()
            )]),
        }
    }

    fn checked(
        &self,
        value: Map<String, Value>,
        message: impl FnOnce(&Map<String, Value>) -> Message,
    ) -> Finding {
        let value = Value::Object(value);
        if let Some(excess) = excess(&value) {
            return Failure::invalid(vec![excess]);
        }
        let Value::Object(value) = value else {
            return Failure::missing("the result is not an object");
        };
        let violations = self.definition.violations(&value);
        if !violations.is_empty() {
            return Failure::invalid(violations);
        }
        let mut message = message(&value);
        message.role = Role::Assistant;
        Finding::Valid(value, message)
    }
}

/// What of a written result stays in the conversation: its text, and reasoning to send back.
fn keeps(block: &Content) -> bool {
    matches!(block, Content::Text(_) | Content::Reasoning(_))
}

/// The result of this schema that a model wrote as `text`, or what is wrong with it.
///
/// # Errors
/// As [`ResultSchema::bind`](super::ResultSchema), for a schema that is none for results.
#[cfg(feature = "fuzzing")]
pub(crate) fn written_result(
    schema: &Value,
    text: &str,
) -> crate::error::Result<Result<Map<String, Value>, String>> {
    use super::{ResultSchema, ResultStrategy};
    let capabilities = crate::model::ModelCapabilities::permissive();
    let structured = ResultSchema::new(schema.clone())
        .strategy(ResultStrategy::Provider)
        .bind("fuzzed", &capabilities, "c:m", [""; 0].iter())?;
    let response = ModelResponse {
        message: Message::assistant(text),
        stop_reason: crate::model::StopReason::EndTurn,
        usage: crate::message::Usage::default(),
        metadata: Map::new(),
    };
    Ok(match structured.examine(&response, false) {
        Finding::Valid(value, _) => Ok(value),
        Finding::Failed(failure) => Err(failure.violations.join("; ")),
        other => Err(format!("{other:?}")),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{ResultSchema, ResultStrategy};
    use super::*;
    use crate::message::{ToolUse, Usage};
    use crate::model::{ModelCapabilities, StopReason};

    fn structured(strategy: ResultStrategy) -> Structured {
        ResultSchema::new(json!({"type": "object", "additionalProperties": false,
            "properties": {"a": {"type": "integer"}}, "required": ["a"]}))
        .name("answer")
        .strategy(strategy)
        .bind(
            "triage",
            &ModelCapabilities::permissive(),
            "c:m",
            [""; 0].iter(),
        )
        .unwrap()
    }

    fn response(content: Vec<Content>, stop_reason: StopReason) -> ModelResponse {
        ModelResponse {
            message: Message::new(Role::Assistant, content),
            stop_reason,
            usage: Usage::default(),
            metadata: Map::new(),
        }
    }

    fn call(name: &str, input: &Value) -> Content {
        Content::ToolUse(ToolUse {
            id: format!("{name}-1"),
            name: name.into(),
            input: input.as_object().unwrap().clone(),
        })
    }

    fn violations(finding: Finding) -> (String, &'static str) {
        match finding {
            Finding::Failed(failure) => (failure.violations.join("; "), failure.status),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_written_result_is_one_valid_document() {
        let provider = structured(ResultStrategy::Provider);
        let text = |text: &str| response(vec![Content::text(text)], StopReason::EndTurn);
        let Finding::Valid(value, message) = provider.examine(&text(" {\"a\": 1}\n"), false) else {
            panic!("refused")
        };
        assert_eq!(Value::Object(value), json!({"a": 1}));
        assert_eq!(message.text(), " {\"a\": 1}\n");
        for (written, problem, status) in [
            ("", "nothing", "missing"),
            ("Sure: {\"a\": 1}", "not one JSON document", "invalid"),
            ("{\"a\": 1} {}", "not one JSON document", "invalid"),
            ("[1]", "$ must be object, not an array", "invalid"),
            ("{\"a\": \"secret\"}", "$.a must be integer", "invalid"),
            (
                "{\"a\": 1, \"b\": 2}",
                "keys that are not allowed",
                "invalid",
            ),
        ] {
            let (found, kind) = violations(provider.examine(&text(written), false));
            assert!(found.contains(problem), "{found} for {written}");
            assert!(!found.contains("secret") && kind == status, "{found}");
        }
    }

    #[test]
    fn a_cut_response_is_never_a_result() {
        let cut = |content| response(vec![content], StopReason::MaxTokens);
        let provider = structured(ResultStrategy::Provider);
        assert_eq!(
            provider.examine(&cut(Content::text("{\"a\": 1}")), false),
            Finding::Cut
        );
        let tool = structured(ResultStrategy::Tool);
        assert_eq!(
            tool.examine(&cut(call("answer", &json!({"a": 1}))), false),
            Finding::Cut
        );
    }

    #[test]
    fn a_submitted_result_is_the_only_call() {
        let tool = structured(ResultStrategy::Tool);
        let calls = |content| response(content, StopReason::ToolUse);
        let good = json!({"a": 1});
        let Finding::Valid(_, message) = tool.examine(&calls(vec![call("answer", &good)]), true)
        else {
            panic!("refused")
        };
        assert_eq!(message.text(), "{\"a\":1}");
        for (content, problem) in [
            (vec![Content::text("Done.")], "text instead"),
            (
                vec![call("answer", &good), call("answer", &good)],
                "more than once",
            ),
            (
                vec![call("answer", &good), call("lookup", &json!({}))],
                "together with",
            ),
            (vec![call("answer", &json!({}))], "missing required key"),
        ] {
            let (found, _) = violations(tool.examine(&calls(content), false));
            assert!(found.contains(problem), "{found}");
        }
    }

    #[test]
    fn ordinary_calls_go_on_except_in_the_final_turn() {
        for strategy in [ResultStrategy::Provider, ResultStrategy::Tool] {
            let structured = structured(strategy);
            let response = response(vec![call("lookup", &json!({}))], StopReason::ToolUse);
            assert_eq!(structured.examine(&response, false), Finding::Ordinary);
            let (found, status) = violations(structured.examine(&response, true));
            assert!(found.contains("called a tool") && status == "missing");
        }
    }
}
