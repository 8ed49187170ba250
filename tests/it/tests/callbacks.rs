//! Callbacks of an application around the steps of an invocation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;

use futures_util::StreamExt;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, Agent, BeforeInvocation, BeforeModel,
    BeforeTool, Callbacks, Decision, Error, ErrorKind, Message, ModelRequest, ModelResponse,
    Outcome, Result, RunContext, RunResult, ToolOutcome, ToolResultContent, async_trait,
    tool_with_schema,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// Notes every step, and decides what the test says.
#[derive(Clone, Default)]
struct Recorder {
    steps: Arc<Mutex<Vec<String>>>,
    cancel: Option<&'static str>,
    replace: Option<&'static str>,
}

impl Recorder {
    fn cancelling(step: &'static str) -> Self {
        Self {
            cancel: Some(step),
            ..Self::default()
        }
    }

    fn replacing(step: &'static str) -> Self {
        Self {
            replace: Some(step),
            ..Self::default()
        }
    }

    fn decide<T>(&self, step: &str, replacement: impl FnOnce() -> T) -> Result<Decision<T>> {
        self.steps.lock().push(step.to_owned());
        if self.cancel == Some(step) {
            return Ok(Decision::Cancel(Some(format!("no {step}"))));
        }
        if self.replace == Some(step) {
            return Ok(Decision::Replace(replacement()));
        }
        Ok(Decision::Continue)
    }

    fn steps(&self) -> Vec<String> {
        self.steps.lock().clone()
    }
}

#[async_trait]
impl Callbacks for Recorder {
    async fn before_invocation(
        &self,
        payload: &BeforeInvocation,
        _: &RunContext,
    ) -> Result<Decision<Vec<Message>>> {
        self.decide("before_invocation", || {
            let mut messages = (*payload.messages).clone();
            messages.insert(0, Message::system("Be brief."));
            messages
        })
    }

    async fn after_invocation(
        &self,
        payload: &AfterInvocation,
        _: &RunContext,
    ) -> Result<Decision<RunResult>> {
        self.decide("after_invocation", || {
            let mut result = (*payload.result).clone();
            result.message = Some(Message::assistant("replaced"));
            result
        })
    }

    async fn before_model(
        &self,
        payload: &BeforeModel,
        context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        assert_eq!(
            *payload.parent_operation_id,
            *context.run().operation_id(),
            "a top-level agent is a part of its run"
        );
        self.decide("before_model", || {
            let mut request = payload.request.clone();
            request.messages = Arc::new(vec![Message::user("another question")]);
            request.settings.insert("temperature".into(), json!(0.5));
            request.tools = [].into();
            request
        })
    }

    async fn after_model(
        &self,
        payload: &AfterModel,
        _: &RunContext,
    ) -> Result<Decision<ModelResponse>> {
        self.decide("after_model", || {
            let mut response = (*payload.response).clone();
            response.message = Message::assistant("another answer");
            response
        })
    }

    async fn after_model_error(
        &self,
        payload: &AfterModelError,
        _: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        self.decide("after_model_error", || payload.request.clone())
    }

    async fn before_tool(&self, payload: &BeforeTool, _: &RunContext) -> Result<Decision<()>> {
        assert_ne!(payload.operation_id, payload.parent_operation_id);
        self.decide("before_tool", || ())
    }

    async fn after_tool(
        &self,
        payload: &AfterTool,
        _: &RunContext,
    ) -> Result<Decision<ToolOutcome>> {
        let status = payload.outcome.status.as_str();
        self.decide(&format!("after_tool {status}"), || {
            let mut outcome = payload.outcome.clone();
            outcome.content = ToolResultContent::Text("replaced".into());
            outcome
        })
    }
}

fn agent(model: &ScriptedModel, callbacks: &Recorder) -> Agent {
    let double = tool_with_schema(
        "double",
        "Doubles a number.",
        json!({
            "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        }),
        |input: Map<String, Value>, _context| async move {
            Ok::<_, Error>(json!(input["n"].as_i64().unwrap() * 2))
        },
    );
    Agent::builder("careful")
        .model(model.clone())
        .tool(double)
        .callbacks(callbacks.clone())
        .build()
        .unwrap()
}

fn tool_turns(input: Value) -> [Turn; 2] {
    [Turn::tool("double", input), Turn::text("done")]
}

fn tool_text(model: &ScriptedModel) -> String {
    let requests = model.requests();
    let last = requests.last().unwrap().messages.last().unwrap().clone();
    last.to_value()["content"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn run_around_every_step_in_order() {
    let model = ScriptedModel::new(tool_turns(json!({"n": 2})));
    let callbacks = Recorder::default();
    let run = agent(&model, &callbacks).ask("Double 2").await.unwrap();
    assert_eq!(run.response(), "done");
    assert_eq!(
        callbacks.steps(),
        [
            "before_invocation",
            "before_model",
            "after_model",
            "before_tool",
            "after_tool success",
            "before_model",
            "after_model",
            "after_invocation"
        ]
    );
    assert_eq!(tool_text(&model), "4");
}

#[tokio::test]
async fn invalid_input_is_offered_after_but_not_before() {
    let model = ScriptedModel::new(tool_turns(json!({"n": "two"})));
    let callbacks = Recorder::default();
    agent(&model, &callbacks).ask("Double two").await.unwrap();
    let steps = callbacks.steps();
    assert!(steps.contains(&"after_tool error".to_owned()), "{steps:?}");
    assert!(!steps.contains(&"before_tool".to_owned()), "{steps:?}");
}

#[tokio::test]
async fn a_cancelled_tool_is_answered_with_the_reason_and_not_offered_again() {
    let model = ScriptedModel::new(tool_turns(json!({"n": 2})));
    let callbacks = Recorder::cancelling("before_tool");
    let run = agent(&model, &callbacks).ask("Double 2").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert_eq!(tool_text(&model), "no before_tool");
    let after = |step: &String| step.starts_with("after_tool");
    assert!(!callbacks.steps().iter().any(after));
}

#[tokio::test]
async fn cancelling_ends_the_run_as_cancelled_with_the_reason() {
    for step in [
        "before_invocation",
        "before_model",
        "after_model",
        "after_invocation",
    ] {
        let model = ScriptedModel::new(["answer"]);
        let run = agent(&model, &Recorder::cancelling(step))
            .ask("Question")
            .await
            .unwrap();
        assert_eq!(run.outcome(), Some(Outcome::Cancelled), "{step}");
        assert_eq!(run.error().unwrap().message(), format!("no {step}"));
    }
}

#[tokio::test]
async fn replacements_are_what_goes_on() {
    let model = ScriptedModel::new(["answer"]);
    let replaced = agent(&model, &Recorder::replacing("before_invocation"));
    replaced.ask("Question").await.unwrap();
    assert_eq!(model.requests()[0].messages[0].text(), "Be brief.");

    let model = ScriptedModel::new(["answer"]);
    let replaced = agent(&model, &Recorder::replacing("before_model"));
    let run = replaced.ask("Question").await.unwrap();
    let request = &model.requests()[0];
    assert_eq!(request.messages[0].text(), "another question");
    assert_eq!(request.settings["temperature"], 0.5);
    assert_eq!(request.tools.len(), 1, "tools are the agent's own");
    assert_eq!(
        run.result().unwrap().messages[0].text(),
        "another question",
        "the replaced conversation is the one that is returned"
    );

    let model = ScriptedModel::new(["answer"]);
    let replaced = agent(&model, &Recorder::replacing("after_model"));
    assert_eq!(
        replaced.ask("Question").await.unwrap().response(),
        "another answer"
    );

    let model = ScriptedModel::new(["answer"]);
    let replaced = agent(&model, &Recorder::replacing("after_invocation"));
    assert_eq!(
        replaced.ask("Question").await.unwrap().response(),
        "replaced"
    );

    let model = ScriptedModel::new(tool_turns(json!({"n": 2})));
    let replaced = agent(&model, &Recorder::replacing("after_tool success"));
    replaced.ask("Double 2").await.unwrap();
    assert_eq!(tool_text(&model), "replaced");
}

fn overloaded() -> Turn {
    Turn::error(Error::new(ErrorKind::Provider, "overloaded"))
}

#[tokio::test]
async fn a_model_call_recovers_three_times_and_no_more() {
    let model = ScriptedModel::new([overloaded(), overloaded(), overloaded(), "answer".into()]);
    let recovering = Recorder::replacing("after_model_error");
    let mut stream = agent(&model, &recovering).stream_ask("Question").unwrap();
    let mut starts = Vec::new();
    while let Some(event) = stream.next().await {
        if event.kind() == "model_start" {
            starts.push(event.data()["turn"].clone());
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(run.response(), "answer");
    assert_eq!(starts, [0, 0, 0, 0], "one model call, announced each time");

    let model = ScriptedModel::new([overloaded(), overloaded(), overloaded(), overloaded()]);
    let recovering = Recorder::replacing("after_model_error");
    let run = agent(&model, &recovering).ask("Question").await.unwrap();
    assert_eq!(run.error().unwrap().message(), "overloaded");
    let errors = |step: &&String| *step == "after_model_error";
    assert_eq!(recovering.steps().iter().filter(errors).count(), 3);
}

#[tokio::test]
async fn a_cancellation_of_the_model_is_not_offered() {
    let stopped = Error::new(ErrorKind::Cancelled, "stopped");
    let model = ScriptedModel::new([Turn::error(stopped)]);
    let callbacks = Recorder::replacing("after_model_error");
    let run = agent(&model, &callbacks).ask("Question").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
    assert!(!callbacks.steps().contains(&"after_model_error".to_owned()));
}
