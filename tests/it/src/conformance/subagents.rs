//! Cases about subagents; `tests/conformance/README.md` says what they may hold.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, Content, Invocation, ModelRequest, Role, Run, Runtime, StreamEvent, Subagent,
    SubagentEvent, SubagentLimits, ToolResultContent, tool_with_schema,
};
use serde_json::{Map, Value, json};

use super::mask;

/// Every case.
pub fn cases() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../conformance/subagents/subagents.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every way in which a case did not go as it should.
pub async fn differences(spec: &Value) -> Vec<String> {
    let observed = observe(spec).await;
    let mut found = Vec::new();
    for (name, expected) in spec["expect"].as_object().unwrap() {
        if name == "omits" {
            let text = observed.to_string();
            let told = expected.as_array().unwrap().iter();
            found.extend(
                told.filter(|secret| text.contains(secret.as_str().unwrap()))
                    .map(|secret| format!("omits {secret}")),
            );
            continue;
        }
        let actual = observed.get(name);
        let actual = actual.unwrap_or_else(|| panic!("unknown expectation {name}"));
        if !fits(expected, actual) {
            found.push(format!(
                "{name}\n  expected {expected}\n  but was  {actual}"
            ));
        }
    }
    found
}

type Models = BTreeMap<String, ScriptedModel>;

async fn observe(spec: &Value) -> Value {
    let mut models = Models::new();
    let lead = agent("lead", spec, &mut models);
    let lead = lead.with_runtime(Runtime::from_value(&json!({})).unwrap());
    let mut events = Vec::new();
    let mut run = None;
    for _ in 0..spec["runs"].as_u64().unwrap_or(1) {
        run = Some(ask(&lead, spec, &mut events).await);
    }
    let run = run.unwrap();
    let response = run
        .error()
        .map_or_else(|| run.response(), |error| error.message().to_owned());
    let each = |look: &dyn Fn(&[ModelRequest]) -> Value| -> Value {
        let seen = models.iter();
        seen.map(|(name, model)| (name.clone(), look(&model.requests())))
            .collect::<Map<_, _>>()
            .into()
    };
    json!({
        "response": response,
        "answers": answers(&models["lead"].requests()),
        "events": events,
        "requests": each(&|requests| requests.iter().map(texts).collect()),
        "settings": each(&|requests| requests.first().map_or(json!({}), |first| json!(first.settings))),
        "tools": each(&|requests| requests.first().map_or(json!([]), |first| {
            first.tools.iter().map(|tool| json!(tool.name())).collect()
        })),
        "usage": [run.usage().input_tokens, run.usage().output_tokens],
    })
}

async fn ask(lead: &Agent, spec: &Value, events: &mut Vec<String>) -> Run {
    let settings = spec["settings"].as_object().cloned().unwrap_or_default();
    let invocation = Invocation::new("Go")
        .unwrap()
        .with_session_id("conversation")
        .with_settings(settings);
    let mut stream = lead.stream_ask(invocation).unwrap();
    while let Some(event) = stream.next().await {
        if let StreamEvent::Subagent(event) = event {
            events.push(line(&event));
        }
    }
    stream.finish().await.unwrap()
}

fn line(event: &SubagentEvent) -> String {
    let turn = event.turn.map(|turn| turn.to_string());
    let parts = [
        Some(event.kind.as_str().to_owned()),
        Some(event.status.to_owned()),
        Some(event.subagent_id.to_string()),
        turn,
        event.tool_name.clone(),
        event.error_type.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn agent(id: &str, spec: &Value, models: &mut Models) -> Agent {
    let list = |key: &str| spec[key].as_array().cloned().unwrap_or_default();
    let turns = list("turns")
        .iter()
        .map(|turn| Turn::from_value(turn).unwrap())
        .collect::<Vec<_>>();
    let model = ScriptedModel::new(turns);
    models.insert(id.to_owned(), model.clone());
    let mut builder = Agent::builder(id).model(model);
    for tool in list("tools") {
        let value = tool["return"].clone();
        let name = tool["name"].as_str().unwrap();
        builder = builder.tool(tool_with_schema(
            name,
            "A tool.",
            json!({"type": "object"}),
            move |_: Map<String, Value>, _| {
                let value = value.clone();
                async move { Ok::<_, little_ghost::Error>(value) }
            },
        ));
    }
    if !spec["result_schema"].is_null() {
        builder = builder.result_schema(spec["result_schema"].clone());
    }
    if let Some(limits) = spec["limits"].as_object() {
        builder = builder.subagent_limits(SubagentLimits::from_map(limits).unwrap());
    }
    for kind in list("kinds") {
        let name = kind["kind"].as_str().unwrap();
        let found = agent(name, &kind, models);
        let persist = kind["persist"].as_bool().unwrap_or(true);
        builder = builder.subagent(Subagent::new(&found).persist(persist));
    }
    builder.build().unwrap()
}

fn texts(request: &ModelRequest) -> Value {
    let messages = request.messages.iter();
    messages
        .filter(|message| message.role != Role::System)
        .map(|message| {
            let results = message.content.iter().filter_map(result_text);
            json!(if message.role == Role::Tool {
                results.collect::<String>()
            } else {
                message.text()
            })
        })
        .collect()
}

fn answers(requests: &[ModelRequest]) -> Value {
    let messages = requests.last().unwrap().messages.iter();
    messages
        .flat_map(|message| message.content.iter())
        .filter_map(result_text)
        .map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)))
        .collect()
}

fn result_text(block: &Content) -> Option<String> {
    match block {
        Content::ToolResult(result) => match &result.content {
            ToolResultContent::Text(text) => Some(text.clone()),
            other => panic!("{other:?}"),
        },
        _ => None,
    }
}

/// Of an object, only the keys that are expected matter.
fn fits(expected: &Value, actual: &Value) -> bool {
    match expected {
        Value::Array(expected) => actual.as_array().is_some_and(|actual| {
            expected.len() == actual.len()
                && expected
                    .iter()
                    .zip(actual)
                    .all(|(one, other)| fits(one, other))
        }),
        Value::Object(map) if !map.keys().any(|key| key.starts_with('$')) => {
            actual.is_object()
                && map.iter().all(|(key, value)| match actual.get(key) {
                    Some(actual) => fits(value, actual),
                    None => value.is_null(),
                })
        }
        mask => mask::matches(mask, actual),
    }
}
