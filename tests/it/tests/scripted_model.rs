//! The test kit's scripted model: legal events, recorded requests, clear complaints.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, Deadline, Error, ErrorKind, Invocation, Model, ModelCapabilities, ModelRequest, Outcome,
    RunContext, Runtime, StopReason, Usage, host, tool_with_schema,
};
use serde_json::{Value, json};

fn agent(model: &ScriptedModel) -> Agent {
    let lookup = tool_with_schema(
        "lookup",
        "Looks a topic up.",
        json!({"type": "object", "properties": {"topic": {"type": "string"}}}),
        |input: Value, _: RunContext| async move {
            Ok::<Value, Error>(json!(format!("about {}", input["topic"])))
        },
    );
    Agent::builder("support")
        .model(model.clone())
        .system_prompt("Be brief.")
        .tool(lookup)
        .build()
        .unwrap()
}

#[tokio::test]
async fn it_plays_its_turns_as_a_legal_sequence_of_events() {
    let usage = Usage {
        input_tokens: 3,
        output_tokens: 4,
        ..Usage::default()
    };
    let model = ScriptedModel::new([
        Turn::chunks(["Let me ", "look."])
            .reasoning("Hm.")
            .call("lookup", json!({"topic": "x"})),
        Turn::text("Done").usage(usage),
    ]);
    let mut stream = agent(&model).stream_ask("Hi").unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = stream.next().await {
        kinds.push(event.kind());
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(
        kinds,
        [
            "run_start",
            "invocation_start",
            "model_start",
            "message_start",
            "reasoning_delta",
            "text_delta",
            "text_delta",
            "tool_call_start",
            "tool_call_delta",
            "tool_call_stop",
            "message_stop",
            "model_stop",
            "tool_start",
            "tool_stop",
            "model_start",
            "message_start",
            "text_delta",
            "usage",
            "message_stop",
            "model_stop",
            "invocation_stop",
            "run_stop",
        ]
    );
    assert_eq!(run.response(), "Done");
    assert_eq!(run.usage(), usage);
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].tools[0].name(), "lookup");
    let messages = requests[1].to_value()["messages"].clone();
    assert_eq!(messages[2]["content"][1]["text"], "Let me look.");
    assert_eq!(messages[2]["content"][2]["id"], "call_1");
    assert_eq!(messages[3]["content"][0]["content"], "about \"x\"");
    model.verify().unwrap();
}

#[tokio::test]
async fn it_says_when_it_is_asked_too_often_or_too_rarely() {
    let model = ScriptedModel::new(["One", "Two"]);
    let agent = agent(&model);
    agent.ask("first").await.unwrap();
    assert_eq!(
        model.verify().unwrap_err().message(),
        "the scripted model was asked 1 time, but its script has 2 turns: turn 2 was never needed"
    );
    agent.ask("second").await.unwrap();
    model.verify().unwrap();
    let run = agent.ask("third").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    let expected = "the scripted model was asked 3 times, but its script has only 2 turns; the \
                    request ends with user \"third\"";
    assert_eq!(run.error().unwrap().message(), expected);
    assert_eq!(model.verify().unwrap_err().message(), expected);

    let endless = ScriptedModel::new(["Always"]).repeating();
    for _ in 0..3 {
        let run = self::agent(&endless).ask("Hi").await.unwrap();
        assert_eq!(run.response(), "Always");
    }
    endless.verify().unwrap();
}

#[tokio::test]
async fn it_fails_waits_and_looks_at_requests() {
    let failure = Error::new(ErrorKind::ContextWindowOverflow, "too long");
    let model = ScriptedModel::new([
        Turn::text("Half").fail(failure),
        Turn::function(|request| Turn::text(request.messages[1].text().to_uppercase())),
        Turn::text("late").delay(Duration::from_secs(600)),
        Turn::text("cut").stop_reason(StopReason::MaxTokens),
    ]);
    let agent = agent(&model);
    let mut stream = agent.stream_ask("Hi").unwrap();
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let little_ghost::StreamEvent::TextDelta { text: piece } = event {
            text.push_str(&piece);
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(text, "Half");
    assert_eq!(
        run.error().unwrap().kind(),
        ErrorKind::ContextWindowOverflow
    );

    assert_eq!(agent.ask("loud").await.unwrap().response(), "LOUD");

    let begun = Instant::now();
    let deadline = Deadline::after(Duration::from_millis(20));
    let late = Invocation::new("Hi").unwrap().with_deadline(deadline);
    let run = agent.ask(late).await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Partial));
    assert!(begun.elapsed() < Duration::from_secs(60));

    let run = agent.ask("Hi").await.unwrap();
    assert_eq!(run.error().unwrap().kind(), ErrorKind::OutputLimit);
}

#[tokio::test]
async fn it_stands_in_for_whatever_model_an_agent_selects() {
    let model = ScriptedModel::new(["Scripted"]).repeating();
    let runtime = Runtime::builder()
        .model_override(model.clone())
        .build()
        .unwrap();
    let own: Arc<dyn Model> = Arc::new(ScriptedModel::new(["Own"]));
    for agent in [
        Agent::builder("a").model("nowhere:model").build().unwrap(),
        Agent::builder("b").build().unwrap(),
        Agent::builder("c").model(own).build().unwrap(),
    ] {
        let run = agent.with_runtime(Arc::clone(&runtime)).ask("Hi").await;
        assert_eq!(run.unwrap().response(), "Scripted");
    }
}

#[test]
fn turns_are_read_from_plain_data() {
    for (value, problem) in [
        (json!(1), "a turn is a text or an object"),
        (json!({}), "a turn needs one of"),
        (json!({"texts": "a"}), "a turn has no \"texts\""),
        (json!({"id": "call_1", "text": "x"}), "a turn has no \"id\""),
        (json!({"tool": "a", "input": []}), "input must be an object"),
        (json!({"tools": [{"name": "a"}]}), "needs the key \"tool\""),
        (json!({"error": {"kind": "Oops"}}), "unknown kind \"Oops\""),
        (json!({"delay": -1}), "delay must be a number of seconds"),
    ] {
        let error = Turn::from_value(&value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(problem), "{error}");
    }
}

#[tokio::test]
async fn plain_data_makes_the_same_turns() {
    let turns = json!([
        {"reasoning": "Hm.", "text": ["a", "b"], "tool": "lookup", "input": {"topic": "y"}, "id": "c9"},
        {"tools": [{"tool": "lookup"}, {"tool": "lookup", "input": {"topic": "z"}}]},
        {"json": {"answer": 42}, "usage": {"input_tokens": 7}},
        {"error": {"kind": "HTTPError", "message": "overloaded", "status": 529}},
    ]);
    let turns = turns.as_array().unwrap().iter();
    let model = ScriptedModel::new(turns.map(|turn| Turn::from_value(turn).unwrap()));
    let run = agent(&model).ask("Hi").await.unwrap();
    assert_eq!(run.response(), "{\"answer\":42}");
    assert_eq!(run.usage().input_tokens, 7);
    let messages = model.requests()[2].to_value()["messages"].clone();
    assert_eq!(messages[2]["content"][2]["id"], "c9");
    assert_eq!(messages[4]["content"][1]["id"], "call_2");
    let run = agent(&model).ask("Hi").await.unwrap();
    assert_eq!(run.error().unwrap().status(), Some(529));
    model.verify().unwrap();
}

#[test]
fn a_host_names_a_model_while_it_keeps_it() {
    let registration = host::register_model(Arc::new(ScriptedModel::new(["Hi"]))).unwrap();
    assert_eq!(registration.model().target(), "testing:scripted");
    let other = host::register_model(Arc::new(ScriptedModel::new(["Hi"]))).unwrap();
    assert_ne!(registration.id(), other.id());
}

/// The answer to whatever result tool the request offers.
fn call_the_result_tool(request: &ModelRequest) -> Turn {
    let tool = request.tools.last().unwrap();
    Turn::tool(tool.name(), json!({"city": "Bern"}))
}

#[tokio::test]
async fn structured_results_are_scripted_for_both_strategies() {
    let schema = json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false,
    });
    let native = ScriptedModel::new([Turn::json(&json!({"city": "Bern"}))]);
    let mut capabilities = ModelCapabilities::permissive();
    capabilities.native_structured_output = false;
    let by_tool =
        ScriptedModel::new([Turn::function(call_the_result_tool)]).capable_of(capabilities);
    for model in [native, by_tool] {
        let agent = Agent::builder("extractor")
            .model(model.clone())
            .result_schema(schema.clone())
            .build()
            .unwrap();
        let run = agent.ask("Where is the parliament?").await.unwrap();
        let result = run.result().unwrap();
        assert_eq!(result.structured.as_ref().unwrap().value["city"], "Bern");
        model.verify().unwrap();
    }
}
