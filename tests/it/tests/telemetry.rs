//! What subscribers are told of a run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::time::Duration;

use little_ghost::provider::{Environment, ModelResolver};
use little_ghost::support::ContentCapture;
use little_ghost::telemetry::Subscriber;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, AgentBuilder, Deadline, Error, ErrorKind, Invocation, Model, Outcome, Runtime,
    RuntimeBuilder, json, tool_with_schema,
};
use parking_lot::Mutex;
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
struct Told {
    phase: &'static str,
    name: String,
    attributes: Map<String, Value>,
}

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Told>>>);

impl Recorder {
    fn note(&self, phase: &'static str, name: &str, attributes: &Map<String, Value>) {
        self.0.lock().push(Told {
            phase,
            name: name.to_owned(),
            attributes: attributes.clone(),
        });
    }

    fn order(&self) -> Vec<String> {
        let told = self.0.lock();
        told.iter()
            .map(|told| format!("{} {}", told.phase, told.name))
            .collect()
    }

    /// The attributes of the only notification of that kind.
    fn only(&self, phase: &str, name: &str) -> Map<String, Value> {
        let told = self.0.lock();
        let mut matching = told
            .iter()
            .filter(|told| told.phase == phase && told.name == name);
        let only = matching
            .next()
            .unwrap_or_else(|| panic!("no {phase} {name}"));
        assert!(matching.next().is_none(), "several {phase} {name}");
        only.attributes.clone()
    }
}

impl Subscriber for Recorder {
    fn start(&self, name: &str, attributes: &Map<String, Value>) {
        self.note("start", name, attributes);
    }

    fn finish(&self, name: &str, attributes: &Map<String, Value>) {
        assert!(attributes["duration_ms"].as_f64().unwrap() >= 0.0);
        self.note("finish", name, attributes);
    }

    fn emit(&self, name: &str, attributes: &Map<String, Value>) {
        self.note("emit", name, attributes);
    }
}

/// Panics at whatever it is told.
struct Broken;

impl Subscriber for Broken {
    fn start(&self, _name: &str, _attributes: &Map<String, Value>) {
        panic!("no telemetry today");
    }

    fn finish(&self, _name: &str, _attributes: &Map<String, Value>) {
        panic!("no telemetry today");
    }
}

fn runtime(model: &ScriptedModel, recorder: &Recorder) -> RuntimeBuilder {
    let resolver = ModelResolver::from_value(
        &json!({"providers": {"none": {"adapter": "openai", "api_key": "test-key"}}}),
        Environment::process(),
    );
    let model: Arc<dyn Model> = Arc::new(model.clone());
    Runtime::builder()
        .resolver(resolver.unwrap())
        .model_override(model)
        .subscriber(recorder.clone())
}

fn agent() -> AgentBuilder {
    let schema = json!({"type": "object", "properties": {"fail": {"type": "boolean"}}});
    Agent::builder("support")
        .system_prompt("Be brief.")
        .tool(tool_with_schema(
            "lookup",
            "Looks it up.",
            schema,
            |input: Map<String, Value>, _context: little_ghost::RunContext| async move {
                if input["fail"] == true {
                    return Err(Error::tool("nothing there"));
                }
                Ok(json!("found sesame"))
            },
        ))
}

fn hello() -> Invocation {
    Invocation::new("Where is it?")
        .unwrap()
        .with_session_id("s-1")
}

#[tokio::test]
async fn a_run_is_told_as_nested_operations() {
    let model = ScriptedModel::new([
        Turn::tool("lookup", json!({"fail": false})),
        Turn::text("Here."),
    ]);
    let recorder = Recorder::default();
    let runtime = runtime(&model, &recorder)
        .service_name("support-api")
        .build()
        .unwrap();
    let run = agent()
        .runtime(runtime)
        .build()
        .unwrap()
        .ask(hello())
        .await
        .unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert_eq!(
        recorder.order(),
        [
            "start run",
            "start agent",
            "start agent_turn",
            "start model",
            "finish model",
            "start tool",
            "finish tool",
            "finish agent_turn",
            "start agent_turn",
            "start model",
            "finish model",
            "finish agent_turn",
            "finish agent",
            "finish run",
        ]
    );

    let started = recorder.only("start", "run");
    assert_eq!(started["service_name"], "support-api");
    assert_eq!(started["entrypoint_kind"], "agent");
    let ended = recorder.only("finish", "run");
    assert_eq!(ended["operation_id"], started["operation_id"]);
    assert_eq!(ended["outcome"], "completed");
    assert_eq!(ended["total_tokens"], json!(run.usage().total_tokens()));

    let agent = recorder.only("finish", "agent");
    assert_eq!(agent["parent_operation_id"], started["operation_id"]);
    assert_eq!(agent["available_tools"], json!(["lookup"]));
    assert_eq!(
        (&agent["outcome"], &agent["stop_reason"]),
        (&json!("completed"), &json!("end_turn"))
    );

    let told = recorder.0.lock().clone();
    for told in &told {
        assert_eq!(told.attributes["session_id"], "s-1");
        assert_eq!(told.attributes["agent_id"], "support");
        assert!(
            !told
                .attributes
                .keys()
                .any(|key| key.starts_with("diagnostic")),
            "{told:?}"
        );
    }
    let turns: Vec<&Told> = told
        .iter()
        .filter(|told| told.phase == "finish" && told.name == "agent_turn")
        .collect();
    assert_eq!(
        (&turns[0].attributes["turn"], &turns[1].attributes["turn"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        turns[0].attributes["parent_operation_id"],
        agent["operation_id"]
    );
    let model = told
        .iter()
        .find(|told| told.phase == "finish" && told.name == "model")
        .unwrap();
    assert_eq!(
        model.attributes["parent_operation_id"],
        turns[0].attributes["operation_id"]
    );
    assert_eq!(model.attributes["turn"], 0);
    assert_eq!(model.attributes["model_id"], "scripted");
    assert_eq!(model.attributes["model_provider"], "testing");
    assert_eq!(model.attributes["finish_reasons"], json!(["tool_use"]));
    assert!(model.attributes["time_to_first_token"].as_f64().unwrap() >= 0.0);
    let tool = recorder.only("finish", "tool");
    assert_eq!(tool["parent_operation_id"], agent["operation_id"]);
    assert_eq!(
        (&tool["tool_name"], &tool["outcome"]),
        (&json!("lookup"), &json!("success"))
    );
}

#[tokio::test]
async fn failures_carry_their_class() {
    let refused = Error::new(ErrorKind::Http, "no").with_http(Some(403), None);
    let model = ScriptedModel::new([
        Turn::tool("lookup", json!({"fail": true})).call("missing", json!({})),
        Turn::error(refused),
    ]);
    let recorder = Recorder::default();
    let runtime = runtime(&model, &recorder).build().unwrap();
    let run = agent()
        .runtime(runtime)
        .build()
        .unwrap()
        .ask(hello())
        .await
        .unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    let told = recorder.0.lock().clone();
    let ended = |name: &str| -> Vec<(Value, Value)> {
        told.iter()
            .filter(|told| told.phase == "finish" && told.name == name)
            .map(|told| {
                let of = |key: &str| told.attributes.get(key).cloned().unwrap_or_default();
                (of("outcome"), of("error_type"))
            })
            .collect()
    };
    assert_eq!(
        ended("tool"),
        [
            (json!("error"), json!("ToolError")),
            (json!("error"), json!("ToolError"))
        ]
    );
    assert_eq!(ended("model")[1], (json!("error"), json!("HTTPError")));
    assert_eq!(ended("agent_turn")[1], (json!("error"), json!("HTTPError")));
    assert_eq!(ended("agent"), [(json!("error"), json!("HTTPError"))]);
    assert_eq!(ended("run"), [(json!("failed"), json!("HTTPError"))]);
    let model = told
        .iter()
        .rfind(|told| told.phase == "finish" && told.name == "model")
        .unwrap();
    assert_eq!(model.attributes["http_response_status_code"], 403);
    let unknown = told
        .iter()
        .any(|told| told.name == "tool" && told.attributes["tool_name"] == "unknown_tool");
    assert!(unknown);
}

#[tokio::test]
async fn work_that_is_given_up_ends_too() {
    let model = ScriptedModel::new([Turn::text("late").delay(Duration::from_secs(600))]);
    let recorder = Recorder::default();
    let runtime = runtime(&model, &recorder).build().unwrap();
    let request = hello().with_deadline(Deadline::after(Duration::from_millis(30)));
    let run = agent()
        .runtime(runtime)
        .build()
        .unwrap()
        .ask(request)
        .await
        .unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Partial));
    assert_eq!(
        recorder.order()[4..],
        [
            "finish model",
            "finish agent_turn",
            "finish agent",
            "finish run"
        ]
    );
    for name in ["model", "agent_turn", "agent", "run"] {
        assert_eq!(
            recorder.only("finish", name)["error_type"],
            "DeadlineExceededError",
            "{name}"
        );
    }
}

#[tokio::test]
async fn content_is_told_only_through_a_policy() {
    let answers = || {
        ScriptedModel::new([
            Turn::tool("lookup", json!({"fail": false})),
            Turn::text("Here."),
        ])
    };
    let policy = || ContentCapture::enabled().with_redactions(["found sesame"]);

    let recorder = Recorder::default();
    let all = runtime(&answers(), &recorder)
        .capture_content(policy())
        .build()
        .unwrap();
    agent()
        .runtime(all)
        .build()
        .unwrap()
        .ask(hello())
        .await
        .unwrap();
    let tool = recorder.only("finish", "tool");
    assert_eq!(tool["diagnostic_output"], "\"[REDACTED]\"");
    let input = recorder.only("start", "tool")["diagnostic_input"].clone();
    assert_eq!(input, "{\"fail\":false}");
    let run = recorder.only("start", "run")["diagnostic_input"].clone();
    assert!(run.as_str().unwrap().contains("Where is it?"));
    let models: Vec<Told> = recorder
        .0
        .lock()
        .iter()
        .filter(|told| told.name == "model")
        .cloned()
        .collect();
    let tools = models[0].attributes["diagnostic_tool_definitions"]
        .as_str()
        .unwrap();
    assert!(tools.contains("Looks it up."), "{tools}");

    let recorder = Recorder::default();
    let some = runtime(&answers(), &recorder)
        .capture_content(policy())
        .build()
        .unwrap();
    let discreet = agent()
        .capture_diagnostics(false)
        .runtime(some)
        .build()
        .unwrap();
    discreet.ask(hello()).await.unwrap();
    for told in recorder.0.lock().iter() {
        let captured = told
            .attributes
            .keys()
            .any(|key| key.starts_with("diagnostic"));
        assert_eq!(captured, told.name == "run", "{told:?}");
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_changes_nothing() {
    let model = ScriptedModel::new(["Here."]);
    let recorder = Recorder::default();
    let runtime = runtime(&model, &recorder)
        .subscriber(Broken)
        .build()
        .unwrap();
    let run = agent()
        .runtime(runtime)
        .build()
        .unwrap()
        .ask(hello())
        .await
        .unwrap();
    assert_eq!(run.response(), "Here.");
    assert_eq!(recorder.order().len(), 8);
}
