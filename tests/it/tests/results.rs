//! Typed results, and what a run tells besides its events.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use it::{MODEL, Server, runtime};
use little_ghost::host::{HostCallKind, HostRun, HostStart, Item};
use little_ghost::{
    Agent, CancellationToken, ContextManagement, ErrorKind, Invocation, ResultSchema,
    ResultStrategy, ToolLoop,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Where a request goes.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Triage {
    /// The team.
    team: Team,
    note: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Team {
    Billing,
    Delivery,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Step {
    minutes: u8,
    then: Option<Box<Step>>,
}

const TRIAGE: &str =
    r#"{"team":"delivery","note":null,"steps":[{"minutes":5,"then":{"minutes":1,"then":null}}]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_read_into_its_type() {
    let exchanges = [json!({"chat": {"text": TRIAGE}})];
    let scenario = Server::shared().scenario(&exchanges).await;
    let agent = Agent::builder("triage")
        .runtime(runtime(&scenario))
        .model(MODEL)
        .result::<Triage>()
        .build()
        .unwrap();
    let run = agent.ask("My package is missing.").await.unwrap();
    let step = Step {
        minutes: 5,
        then: Some(Box::new(Step {
            minutes: 1,
            then: None,
        })),
    };
    let expected = Triage {
        team: Team::Delivery,
        note: None,
        steps: vec![step],
    };
    assert_eq!(run.output::<Triage>().unwrap(), expected);
    let result = run.result().unwrap();
    let structured = result.structured.as_ref().unwrap();
    assert_eq!(structured.name, "triage_result");
    assert_eq!(structured.strategy, ResultStrategy::Provider);
    let wrong = run.output::<Vec<u8>>().unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::StructuredResult);
    let sent = &scenario.journal().await[0]["body"]["response_format"]["json_schema"];
    assert_eq!(sent["description"], "Where a request goes.");
    assert_eq!(sent["schema"]["required"], json!(["team", "note", "steps"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_result_there_is_no_typed_output() {
    let exchanges = [
        json!({"chat": {"text": "Hello"}}),
        json!({"status": 400, "body": {"error": {"message": "no"}}}),
    ];
    let scenario = Server::shared().scenario(&exchanges).await;
    let agent = Agent::builder("support")
        .runtime(runtime(&scenario))
        .model(MODEL)
        .build()
        .unwrap();
    let run = agent.ask("Hi").await.unwrap();
    let error = run.output::<Triage>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StructuredResult);
    assert_eq!(run.result().unwrap().output(), json!("Hello"));
    let failed = agent.ask("Hi").await.unwrap();
    assert_eq!(
        failed.output::<Triage>().unwrap_err().kind(),
        ErrorKind::Http
    );
}

#[test]
fn declarations_are_checked_when_the_agent_is_built() {
    let builder = || Agent::builder("support");
    let open = json!({"type": "object", "properties": {}});
    for (built, kind, part) in [
        (
            builder().result_schema(open),
            ErrorKind::Configuration,
            "additionalProperties",
        ),
        (
            builder().manage_context(ContextManagement::default().summary_ratio(0.9)),
            ErrorKind::Argument,
            "summary_ratio",
        ),
        (
            builder().detect_tool_loops(ToolLoop::default().warning_at(1)),
            ErrorKind::Argument,
            "warning_at",
        ),
    ] {
        let error = built.build().unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(part), "{error}");
    }
}

/// Drives a host run of `agent` and returns its notices and measurements.
async fn told(agent: Value, exchanges: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let scenario = Server::shared().scenario(exchanges).await;
    let invocation = Invocation::new("Go.").unwrap();
    let token = CancellationToken::new();
    let run = HostRun::new(runtime(&scenario), invocation, &token).unwrap();
    let start = HostStart::from_value(&json!({"instrument": true})).unwrap();
    run.start(&start).unwrap();
    let (mut notices, mut measurements) = (Vec::new(), Vec::new());
    loop {
        for item in run.drain().unwrap() {
            match item {
                Item::Done => return (notices, measurements),
                Item::Call(call) if call.kind == HostCallKind::Entrypoint => {
                    run.complete(call.id, Ok(agent.clone()));
                }
                Item::Call(call) => run.complete(call.id, Ok(json!("same"))),
                Item::Notice(notice) => notices.push(notice.to_value()),
                Item::Instrument(instrument) => measurements.push(instrument.to_value()),
                _ => {}
            }
        }
        tokio::task::yield_now().await;
    }
}

fn named<'a>(measurements: &'a [Value], name: &str) -> Vec<&'a Value> {
    measurements
        .iter()
        .filter(|entry| entry["name"] == name)
        .map(|entry| &entry["attributes"])
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_cannot_be_told_is_noticed() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {"a": {"type": "string", "maxLength": 3}}});
    let agent = json!({"agent_id": "support", "model": MODEL, "result_schema": {"schema": schema}});
    let exchanges = [
        json!({"chat": {"text": "{\"a\":\"long\"}"}}),
        json!({"chat": {"text": "{\"a\":\"ok\"}"}}),
    ];
    let (notices, measurements) = told(agent, &exchanges).await;
    let reduced = notices
        .iter()
        .find(|notice| notice["name"] == "little_ghost.result_schema.reduced")
        .unwrap();
    assert_eq!(reduced["level"], "warn");
    assert_eq!(
        reduced["payload"]["dropped"],
        json!(["$.properties.a.maxLength"])
    );
    let results = named(&measurements, "structured_result");
    let statuses: Vec<&Value> = results
        .iter()
        .map(|entry| &entry["validation_status"])
        .collect();
    assert_eq!(statuses, ["invalid", "valid"]);
    assert_eq!(results[1]["repair_attempted"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn loops_and_summaries_are_measured() {
    let lookup = json!({"name": "lookup", "description": "Looks up."});
    let agent = json!({
        "agent_id": "support", "model": MODEL, "tools": [lookup],
        "tool_loop": {"warning_at": 2, "terminate_at": 3},
        "context_management": {"context_window_tokens": 1, "preserve_recent_messages": 2},
    });
    let call =
        |id: &str| json!({"chat": {"tool_calls": [{"id": id, "name": "lookup", "arguments": {}}]}});
    let summary = json!({"chat": {"text": "- They looked."}});
    // One message has no room for a summary; later turns have.
    let exchanges = [call("a"), summary.clone(), call("b"), summary, call("c")];
    let (_, measurements) = told(agent, &exchanges).await;
    let actions: Vec<&Value> = named(&measurements, "tool_loop")
        .iter()
        .map(|entry| &entry["action"])
        .collect();
    assert_eq!(actions, ["warn", "terminate"]);
    let compactions = named(&measurements, "context_compaction");
    assert!(
        compactions
            .iter()
            .any(|entry| entry["removed_messages"].is_u64()),
        "{compactions:?}"
    );
    assert!(
        compactions
            .iter()
            .all(|entry| entry["reason"] == "threshold")
    );
}

#[test]
fn the_schema_of_a_type_is_a_contract() {
    let schema = ResultSchema::of::<Triage>();
    schema.check().unwrap();
    assert_eq!(schema.to_value()["description"], "Where a request goes.");
}
