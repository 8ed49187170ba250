//! What a Rust caller may declare of an agent, and the ways to run one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, Deadline, Decision, Error, ErrorKind, IntoTool, Invocation, Message, Model,
    ModelSelection, Outcome, Result, Run, StreamEvent, Tool, ToolProvider, async_trait,
    tool_with_schema,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

fn named(name: &str) -> Invocation {
    let context = json!({"name": name}).as_object().unwrap().clone();
    Invocation::new("Hello").unwrap().with_context(context)
}

#[tokio::test]
async fn model_instructions_and_tools_may_depend_on_the_request() {
    struct Personal;

    #[async_trait]
    impl ToolProvider for Personal {
        async fn tools(&self, run: &Run) -> Result<Vec<Arc<dyn Tool>>> {
            let name = run.invocation().context()["name"].as_str().unwrap();
            let tool = tool_with_schema(
                format!("greet_{name}"),
                "Greets.",
                json!({"type": "object"}),
                |_input: Map<String, Value>, _context| async move { Ok::<_, Error>("hello") },
            );
            Ok(vec![tool.into_tool()?])
        }
    }

    let large = ScriptedModel::new(["large"]);
    let small = ScriptedModel::new(["small"]);
    let (for_ada, for_others) = (large.clone(), small.clone());
    let agent = Agent::builder("personal")
        .model_with(move |invocation| {
            let model: Arc<dyn Model> = match invocation.context()["name"].as_str() {
                Some("ada") => Arc::new(for_ada.clone()),
                _ => Arc::new(for_others.clone()),
            };
            Ok(ModelSelection::from(model))
        })
        .system_prompt_with(|run| {
            Ok(format!(
                "You talk to {}.",
                run.invocation().context()["name"]
            ))
        })
        .tool_provider(Personal)
        .build()
        .unwrap();
    assert_eq!(agent.ask(named("ada")).await.unwrap().response(), "large");
    assert_eq!(agent.ask(named("bob")).await.unwrap().response(), "small");
    let request = &small.requests()[0];
    assert_eq!(request.messages[0].text(), "You talk to \"bob\".");
    assert_eq!(request.tools[0].name(), "greet_bob");
}

#[tokio::test]
async fn a_choice_that_fails_is_a_failed_run() {
    let refuse = || Error::new(ErrorKind::Configuration, "not for you");
    let agent = Agent::builder("picky")
        .model_with(move |_| Err(refuse()))
        .build()
        .unwrap();
    let run = agent.ask("Hello").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    assert_eq!(run.error().unwrap().message(), "not for you");
}

#[tokio::test]
async fn closures_are_callbacks() {
    let model = ScriptedModel::new([Turn::tool("look", json!({})), Turn::text("done")]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |step: &'static str| {
        let seen = Arc::clone(&seen);
        move || seen.lock().push(step)
    };
    let (before, after, result) = (note("before_tool"), note("after_tool"), note("result"));
    let agent = Agent::builder("watched")
        .model(model.clone())
        .tool(tool_with_schema(
            "look",
            "Looks.",
            json!({"type": "object"}),
            |_input: Map<String, Value>, _context| async move { Ok::<_, Error>("seen") },
        ))
        .before_model(|payload, _context| async move {
            let mut request = payload.request;
            let mut messages = (*request.messages).clone();
            messages.push(Message::user("Hurry."));
            request.messages = Arc::new(messages);
            Ok(if payload.turn == 0 {
                Decision::Replace(request)
            } else {
                Decision::Continue
            })
        })
        .before_tool(move |payload, _context| {
            assert_eq!(payload.tool_use.name, "look");
            before();
            async { Ok(Decision::Continue) }
        })
        .after_tool(move |_payload, _context| {
            after();
            async { Ok(Decision::Continue) }
        })
        .after_invocation(move |_payload, _context| {
            result();
            async { Ok(Decision::Continue) }
        })
        .build()
        .unwrap();
    assert_eq!(agent.ask("Look").await.unwrap().response(), "done");
    assert_eq!(*seen.lock(), ["before_tool", "after_tool", "result"]);
    assert_eq!(model.requests()[0].messages[1].text(), "Hurry.");
}

/// An agent whose one tool waits until it is told to go on.
fn waiting() -> (Agent, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    let told = Arc::clone(&go_on);
    let tool = tool_with_schema(
        "wait",
        "Waits.",
        json!({"type": "object"}),
        move |_input: Map<String, Value>, _context| {
            let told = Arc::clone(&told);
            async move {
                told.notified().await;
                Ok::<_, Error>("waited")
            }
        },
    );
    let turns = [Turn::tool("wait", json!({})), "Noted.".into()];
    let agent = Agent::builder("patient")
        .model(ScriptedModel::new(turns))
        .tool(tool)
        .build()
        .unwrap();
    (agent, go_on)
}

#[tokio::test]
async fn an_execution_works_in_the_background() {
    let (agent, go_on) = waiting();
    let at_work = Arc::new(Notify::new());
    let begun = Arc::clone(&at_work);
    let execution = agent
        .start_execution("Wait", move |event| {
            if event.kind() == "tool_start" {
                begun.notify_one();
            }
        })
        .unwrap();
    at_work.notified().await;
    assert!(!execution.is_finished());
    let late = execution.wait(Some(Deadline::after(Duration::ZERO))).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::DeadlineExceeded);

    let said = execution.interject("In euros");
    let told = async {
        tokio::task::yield_now().await;
        go_on.notify_one();
    };
    let (answer, ()) = tokio::join!(said, told);
    assert_eq!(answer.unwrap().text, "Noted.");
    let run = execution.wait(None).await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert!(execution.is_finished());
}

#[tokio::test]
async fn closing_an_execution_cancels_it() {
    let (agent, _go_on) = waiting();
    let execution = agent.start_execution("Wait", |_| {}).unwrap();
    let run = execution.close(None).await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
    execution.close(None).await.unwrap();
}

#[tokio::test]
async fn a_panic_in_the_function_that_gets_events_is_told() {
    let (agent, _go_on) = waiting();
    let execution = agent.start_execution("Wait", |_| panic!("no")).unwrap();
    let error = execution.wait(None).await.unwrap_err();
    assert!(error.message().contains("panicked"), "{error}");
    assert!(execution.is_finished());
}

#[tokio::test]
async fn one_invocation_without_a_run_has_the_agents_events_alone() {
    let agent = Agent::builder("step")
        .model(ScriptedModel::new(["one", "two"]))
        .build()
        .unwrap();
    let mut stream = agent.stream("Hello").unwrap();
    let mut kinds = Vec::new();
    while let Some(event) = stream.next().await {
        kinds.push(StreamEvent::kind(&event));
    }
    assert_eq!(kinds.first(), Some(&"invocation_start"));
    assert_eq!(kinds.last(), Some(&"invocation_stop"));
    assert_eq!(stream.finish().await.unwrap().text(), "one");

    let failing = Agent::builder("step")
        .model(ScriptedModel::new([Turn::error(Error::new(
            ErrorKind::Provider,
            "down",
        ))]))
        .build()
        .unwrap();
    let error = failing.stream("Hello").unwrap().finish().await.unwrap_err();
    assert_eq!(error.message(), "down");
}
