//! The cases of code mode: programs that a scripted model writes, what they come to, what is seen of them.

use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt;
use little_ghost::code_mode::CodeMode;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, AgentBuilder, CancellationToken, Limits, Outcome, RunContext, StreamEvent,
    tool_with_schema,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::behaviour::{Stage, Surroundings};
use super::case::Behaviour;
use super::mask::matches;

/// One case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    #[serde(rename = "about")]
    _about: String,
    tools: Vec<Tool>,
    #[serde(default)]
    mode: Map<String, Value>,
    #[serde(default)]
    limits: Map<String, Value>,
    turns: Vec<Map<String, Value>>,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(default = "described")]
    description: String,
    #[serde(default = "any_object")]
    input_schema: Value,
    behaviour: Behaviour,
}

fn described() -> String {
    "A tool of the test.".into()
}

fn any_object() -> Value {
    json!({"type": "object"})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// What the model is told of each call of its own: the object, where it is one, else the text.
    results: Vec<Value>,
    /// The calls that are seen: name, input, status, text.
    calls: Vec<Value>,
    #[serde(default)]
    model_tools: Option<Vec<String>>,
    #[serde(default)]
    system_includes: Vec<String>,
    #[serde(default = "completed")]
    outcome: String,
    #[serde(default = "done")]
    response: String,
    #[serde(default)]
    error: Option<ExpectedError>,
    /// What is said of an agent that cannot even be declared.
    #[serde(default)]
    refused: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedError {
    class: String,
    message_contains: Vec<String>,
}

fn completed() -> String {
    "completed".into()
}

fn done() -> String {
    "Done".into()
}

/// Every case.
pub fn load() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/code_mode/cases.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// The source of a program: a text, or `{"$repeat": [text, times]}`.
fn source(value: &Value) -> String {
    match value.get("$repeat") {
        Some(repeat) => {
            let times = repeat[1].as_u64().unwrap() as usize;
            repeat[0].as_str().unwrap().repeat(times)
        }
        None => value.as_str().unwrap().to_owned(),
    }
}

fn turn(turn: &Map<String, Value>) -> Turn {
    let (kind, value) = turn.iter().next().unwrap();
    match kind.as_str() {
        "text" => Turn::text(value.as_str().unwrap()),
        "exec" => {
            let mut input = json!({"source": source(value)});
            if let Some(tokens) = turn.get("max_output_tokens") {
                input["max_output_tokens"] = tokens.clone();
            }
            Turn::tool("exec", input)
        }
        "wait" | "stop" => Turn::tool(kind, value.clone()),
        "call" => Turn::tool(value[0].as_str().unwrap(), value[1].clone()),
        other => panic!("unknown turn {other:?}"),
    }
}

struct Reach<'a>(&'a RunContext);

impl Surroundings for Reach<'_> {
    fn with_state(&self, change: &mut (dyn FnMut(&mut Map<String, Value>) + Send)) {
        self.0.with_state(|state| change(state));
    }

    fn token(&self) -> CancellationToken {
        self.0.cancellation_token().clone()
    }
}

fn mode(declared: &Map<String, Value>) -> CodeMode {
    let mut mode = json!({"engine": "javascript", "sandbox": "unrestricted"});
    for (key, value) in declared {
        mode[key] = value.clone();
    }
    CodeMode::from_value(&mode).unwrap()
}

/// Plays a case and says what is not as expected.
pub async fn differences(case: &Case) -> Vec<String> {
    let model = ScriptedModel::new(case.turns.iter().map(turn));
    let stage = Arc::new(Stage::default());
    let mut builder = Agent::builder("support")
        .model(model.clone())
        .system_prompt("You help.")
        .code_mode(mode(&case.mode));
    if !case.limits.is_empty() {
        builder = builder.limits(Limits::from_map(&case.limits).unwrap());
    }
    for tool in &case.tools {
        let (stage, name, behaviour) = (
            Arc::clone(&stage),
            tool.name.clone(),
            tool.behaviour.clone(),
        );
        builder = builder.tool(tool_with_schema(
            &tool.name,
            &tool.description,
            tool.input_schema.clone(),
            move |input: Map<String, Value>, context: RunContext| {
                let (stage, name, behaviour) =
                    (Arc::clone(&stage), name.clone(), behaviour.clone());
                async move {
                    stage
                        .perform(&name, &behaviour, &input, &Reach(&context))
                        .await
                }
            },
        ));
    }
    if let Some(parts) = &case.expect.refused {
        return not_refused(builder, parts);
    }
    let mut stream = builder.build().unwrap().stream_ask("Go").unwrap();
    let mut calls = Vec::new();
    let mut differences = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            StreamEvent::ToolStop { tool_use, result } => calls.push(json!([
                tool_use.name,
                tool_use.input,
                result.status.as_str(),
                result.content.text()
            ])),
            StreamEvent::ToolCallStart { name, .. }
                if ["exec", "wait", "stop"].contains(&name.as_str()) =>
            {
                differences.push(format!("the control {name} is seen"));
            }
            _ => {}
        }
    }
    let run = stream.run();
    let mut compare = |what: &str, expected: &Value, actual: &Value| {
        if !matches(expected, actual) {
            differences.push(format!("{what}: expected {expected}, found {actual}"));
        }
    };
    let expect = &case.expect;
    compare("calls", &json!(expect.calls), &json!(calls));
    compare("results", &json!(expect.results), &json!(results(&model)));
    let outcome = run.outcome().map(Outcome::as_str);
    compare("outcome", &json!(expect.outcome), &json!(outcome));
    compare("response", &json!(expect.response), &json!(run.response()));
    let requests = model.requests();
    if let (Some(names), Some(request)) = (&expect.model_tools, requests.first()) {
        let found: Vec<&str> = request.tools.iter().map(|tool| tool.name()).collect();
        compare("tools", &json!(names), &json!(found));
    }
    for part in &expect.system_includes {
        let system = requests.first().map(|request| request.messages[0].text());
        compare("system prompt", &json!({"$contains": part}), &json!(system));
    }
    match (&expect.error, run.error()) {
        (None, None) => {}
        (Some(expected), Some(error)) => {
            compare("error", &json!(expected.class), &json!(error.class_name()));
            for part in &expected.message_contains {
                compare(
                    "error",
                    &json!({"$contains": part}),
                    &json!(error.message()),
                );
            }
        }
        (_, error) => differences.push(format!("error: {error:?}")),
    }
    differences
}

/// What is missing in the error of an agent that cannot be declared.
fn not_refused(builder: AgentBuilder, parts: &[String]) -> Vec<String> {
    let Err(error) = builder.build() else {
        return vec!["it could be declared".to_owned()];
    };
    let missing = parts.iter().filter(|part| !error.message().contains(*part));
    missing
        .map(|part| format!("{part:?} is not in {error}"))
        .collect()
}

/// What the model was told of its calls.
fn results(model: &ScriptedModel) -> Vec<Value> {
    let requests = model.requests();
    let Some(last) = requests.last() else {
        return Vec::new();
    };
    let mut results = Vec::new();
    for message in last.messages.iter() {
        for block in message.to_value()["content"].as_array().unwrap() {
            if block["type"] == "tool_result" {
                let text = block["content"].as_str().unwrap_or_default().to_owned();
                let report = serde_json::from_str(&text).ok();
                let report = report.filter(|report: &Value| report.get("status").is_some());
                results.push(report.unwrap_or(Value::String(text)));
            }
        }
    }
    results
}
