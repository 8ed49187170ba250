//! Tools written in Rust: closures, types of their own, failures, panics, state.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use futures_util::StreamExt;
use it::{MODEL, Scenario, Server, runtime};
use little_ghost::{
    Agent, AgentBuilder, Error, ErrorKind, Limits, Outcome, Result, Run, RunContext, StreamEvent,
    Tool, ToolDefinition, ToolStatus, async_trait, tool, tool_with_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

fn agent(scenario: &Scenario) -> AgentBuilder {
    Agent::builder("support")
        .model(MODEL)
        .runtime(runtime(scenario))
}

/// Two exchanges: a call of `name`, then the answer `Ok`.
async fn calling(name: &str, arguments: Value) -> Scenario {
    let call = json!({"chat": {"tool_calls": [{"name": name, "arguments": arguments}]}});
    Server::shared()
        .scenario(&[call, json!({"chat": {"text": "Ok"}})])
        .await
}

/// Status and text of the tool results of a run.
async fn results(agent: &Agent) -> (Run, Vec<(ToolStatus, String)>) {
    let mut stream = agent.stream_ask("Go").unwrap();
    let mut results = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::ToolStop { result, .. } = event {
            results.push((result.status, result.content.text()));
        }
    }
    (stream.run(), results)
}

#[derive(Deserialize, JsonSchema)]
struct Lookup {
    /// Number on the receipt.
    order: u32,
    #[serde(default)]
    express: bool,
}

#[derive(Serialize)]
struct Status {
    order: u32,
    state: &'static str,
}

#[tokio::test]
async fn a_typed_closure_is_a_tool_with_a_schema() {
    let scenario = calling("order_status", json!({"order": 481})).await;
    let order_status = tool(
        "order_status",
        "Look up an order.",
        |input: Lookup, _context: RunContext| async move {
            assert!(!input.express);
            Ok::<_, Error>(Status {
                order: input.order,
                state: "on its way",
            })
        },
    );
    let (run, results) = results(&agent(&scenario).tool(order_status).build().unwrap()).await;
    assert_eq!(run.response(), "Ok");
    let text = r#"{"order":481,"state":"on its way"}"#.to_owned();
    assert_eq!(results, [(ToolStatus::Success, text)]);
    let schema = &scenario.journal().await[0]["body"]["tools"][0]["function"]["parameters"];
    assert_eq!(
        schema["properties"]["order"]["description"],
        "Number on the receipt."
    );
    assert_eq!(schema["required"], json!(["order"]));
}

#[tokio::test]
async fn arguments_outside_the_schema_never_reach_the_closure() {
    let scenario = calling("order_status", json!({"order": "x"})).await;
    let order_status = tool(
        "order_status",
        "Look up an order.",
        |_: Lookup, _: RunContext| async move { panic!("called") as Result<Value> },
    );
    let (_, results) = results(&agent(&scenario).tool(order_status).build().unwrap()).await;
    assert_eq!(results[0].0, ToolStatus::Error);
    assert!(
        results[0].1.contains("$.order must be integer"),
        "{}",
        results[0].1
    );
}

static CALLS: LazyLock<AtomicUsize> = LazyLock::new(AtomicUsize::default);

struct Counter(ToolDefinition);

#[async_trait]
impl Tool for Counter {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        CALLS.fetch_add(1, Ordering::SeqCst);
        context.with_state(|state| state.insert("seen".into(), input.into()));
        assert_eq!(context.tool_use_id(), "call_1");
        Ok(Value::Null)
    }
}

#[tokio::test]
async fn a_type_of_its_own_is_a_tool_and_shares_state() {
    let scenario = calling("count", json!({"n": 1})).await;
    let definition = ToolDefinition::new("count", "Counts.", json!({})).unwrap();
    let (run, results) =
        results(&agent(&scenario).tool(Counter(definition)).build().unwrap()).await;
    assert_eq!(results, [(ToolStatus::Success, String::new())]);
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
    assert_eq!(
        run.with_state(|state| state["seen"].clone()),
        json!({"n": 1})
    );
}

#[tokio::test]
async fn a_failure_of_the_application_keeps_its_text_from_the_model() {
    let scenario = calling("read", json!({})).await;
    let read = tool_with_schema(
        "read",
        "Reads.",
        json!({}),
        |_: Value, _: RunContext| async move { std::fs::read_to_string("/does/not/exist/secret") },
    );
    let (_, results) = results(&agent(&scenario).tool(read).build().unwrap()).await;
    assert_eq!(
        results,
        [(
            ToolStatus::Error,
            "The tool failed unexpectedly (Error).".to_owned()
        )]
    );
}

#[tokio::test]
async fn a_panic_is_a_failed_call_and_nothing_more() {
    let scenario = calling("burst", json!({})).await;
    let burst = tool_with_schema(
        "burst",
        "Bursts.",
        json!({}),
        |_: Value, _: RunContext| async move { panic!("secret") as Result<Value> },
    );
    let (run, results) = results(&agent(&scenario).tool(burst).build().unwrap()).await;
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert_eq!(results[0].0, ToolStatus::Error);
    assert!(!results[0].1.contains("secret"), "{}", results[0].1);
}

#[tokio::test]
async fn at_most_eight_calls_overlap() {
    let calls: Vec<Value> = (0..20).map(|_| json!({"name": "work"})).collect();
    let exchanges = [
        json!({"chat": {"tool_calls": calls}}),
        json!({"chat": {"text": "Ok"}}),
    ];
    let scenario = Server::shared().scenario(&exchanges).await;
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let work = tool_with_schema(
        "work",
        "Works.",
        json!({}),
        move |_: Value, _: RunContext| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                // Every other call gets its turn before this one ends.
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                running.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, Error>("done")
            }
        },
    );
    let (_, results) = results(&agent(&scenario).tool(work).build().unwrap()).await;
    assert_eq!(results.len(), 20);
    assert_eq!(seen.load(Ordering::SeqCst), 8);
}

#[test]
fn declarations_that_cannot_work_are_refused_when_the_agent_is_built() {
    let plain = |name: &str| {
        tool_with_schema(name, "Works.", json!({}), |_: Value, _: RunContext| async {
            Ok::<_, Error>(1)
        })
    };
    let twice = Agent::builder("a")
        .tool(plain("work"))
        .tool(plain("work"))
        .build();
    let error = twice.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.message().contains("\"work\""), "{error}");
    assert_eq!(
        Agent::builder("a")
            .tool(plain("no spaces"))
            .build()
            .unwrap_err()
            .kind(),
        ErrorKind::Configuration
    );
    let limits = Limits {
        max_turns: 0,
        ..Limits::default()
    };
    let error = Agent::builder("a").limits(limits).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

/// A tool whose schema the provider enforces.
struct Shipping(ToolDefinition);

#[async_trait]
impl Tool for Shipping {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: Map<String, Value>, _context: &RunContext) -> Result<Value> {
        Ok(Value::Object(input))
    }
}

#[tokio::test]
async fn an_optional_value_that_a_strict_provider_gives_as_null_is_absent() {
    let scenario = calling("ship", json!({"order": 7, "note": null, "insurance": null})).await;
    let definition = ToolDefinition::new(
        "ship",
        "Ships an order.",
        json!({
            "type": "object",
            "properties": {
                "order": {"type": "integer"},
                "note": {"type": "string"},
                "insurance": {"type": ["string", "null"]},
            },
            "required": ["order"],
            "additionalProperties": false,
        }),
    );
    let tool = Shipping(definition.unwrap().strict(true));
    let agent = agent(&scenario).tool(tool).build().unwrap();
    let (_, results) = results(&agent).await;
    let given = json!({"order": 7, "insurance": null}).to_string();
    assert_eq!(results, [(ToolStatus::Success, given)]);
}
