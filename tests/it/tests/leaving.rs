//! Whoever stops reading, cancels or runs out of time: what closes, and how quickly.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use it::{MODEL, Scenario, Server, runtime};
use little_ghost::{
    Agent, AskOptions, CancellationToken, Deadline, Error, ErrorKind, Invocation, Outcome,
    RunContext, RunStream, StreamEvent, tool_with_schema,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// From cancel to a closed socket, as the server sees it.
const CLOSING: Duration = Duration::from_millis(100);
/// From cancel to the end of the run.
const RETURNING: Duration = Duration::from_millis(50);

fn agent(scenario: &Scenario) -> Agent {
    Agent::builder("support")
        .model(MODEL)
        .runtime(runtime(scenario))
        .build()
        .unwrap()
}

async fn silent() -> Scenario {
    let text = json!(["first", {"wait_for": "never"}, "second"]);
    Server::shared()
        .scenario(&[json!({"chat": {"text": text}})])
        .await
}

async fn until_text(stream: &mut RunStream) {
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. }) {
            return;
        }
    }
    panic!("no text came");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_socket() {
    let scenario = silent().await;
    let mut stream = agent(&scenario).stream_ask("Hello").unwrap();
    until_text(&mut stream).await;
    let run = stream.run();
    let left = Instant::now();
    drop(stream);
    scenario.wait("disconnects=1").await;
    assert!(left.elapsed() < CLOSING, "{:?}", left.elapsed());
    while run.outcome().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
}

#[tokio::test]
async fn dropping_a_stream_that_never_began_asks_nothing() {
    let scenario = silent().await;
    drop(agent(&scenario).stream_ask("Hello").unwrap());
    assert!(scenario.journal().await.is_empty());
}

#[tokio::test]
async fn cancelling_ends_the_run_and_closes_the_socket() {
    let scenario = silent().await;
    let token = CancellationToken::new();
    let request = AskOptions::from("Hello").with_cancellation_token(token.clone());
    let mut stream = agent(&scenario).stream_ask(request).unwrap();
    until_text(&mut stream).await;
    let cancelled = Instant::now();
    token.cancel();
    let run = stream.finish().await.unwrap();
    assert!(cancelled.elapsed() < RETURNING, "{:?}", cancelled.elapsed());
    scenario.wait("disconnects=1").await;
    assert!(cancelled.elapsed() < CLOSING, "{:?}", cancelled.elapsed());
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
    assert_eq!(run.error().unwrap().kind(), ErrorKind::Cancelled);
}

#[tokio::test]
async fn cancelling_ends_the_pause_before_a_retry() {
    let busy = json!({"status": 429, "headers": {"retry-after": "10"}, "body": {}});
    let scenario = Server::shared().scenario(&[busy]).await;
    let mut stream = agent(&scenario).stream_ask("Hello").unwrap();
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::ModelRetry(_)) {
            break;
        }
    }
    let cancelled = Instant::now();
    stream.run().cancel();
    let run = stream.finish().await.unwrap();
    assert!(cancelled.elapsed() < RETURNING, "{:?}", cancelled.elapsed());
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
    assert_eq!(scenario.journal().await.len(), 1);
}

#[tokio::test]
async fn a_deadline_keeps_the_text_so_far() {
    let scenario = silent().await;
    let deadline = Deadline::after(Duration::from_millis(300));
    let request = Invocation::new("Hello").unwrap().with_deadline(deadline);
    let begun = Instant::now();
    let run = agent(&scenario).ask(request).await.unwrap();
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_millis(290) && took < Duration::from_millis(450),
        "{took:?}"
    );
    assert_eq!(run.outcome(), Some(Outcome::Partial));
    assert_eq!(run.response(), "first");
    assert_eq!(
        run.into_completed().unwrap_err().kind(),
        ErrorKind::DeadlineExceeded
    );
}

/// Notes when a tool's future is dropped.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn running_tools_are_dropped() {
    let calls = json!([{"name": "wait"}, {"name": "wait"}]);
    let scenario = Server::shared()
        .scenario(&[json!({"chat": {"tool_calls": calls}})])
        .await;
    let (dropped, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let (guard, begin) = (Arc::clone(&dropped), Arc::clone(&begun));
    let wait = tool_with_schema(
        "wait",
        "Waits.",
        json!({}),
        move |_: Value, _: RunContext| {
            let (guard, begin) = (Guard(Arc::clone(&guard)), Arc::clone(&begin));
            async move {
                begin.notify_one();
                std::future::pending::<()>().await;
                drop(guard);
                Ok::<_, Error>(1)
            }
        },
    );
    let agent = Agent::builder("support")
        .model(MODEL)
        .runtime(runtime(&scenario))
        .tool(wait);
    let stream = agent.build().unwrap().stream_ask("Go").unwrap();
    let run = stream.run();
    let finished = tokio::spawn(stream.finish());
    begun.notified().await;
    run.cancel();
    let run = finished.await.unwrap().unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Cancelled));
    assert!(
        dropped.load(Ordering::SeqCst),
        "the tool's future outlived its run"
    );
}

#[tokio::test]
async fn a_slow_consumer_slows_the_server() {
    // Far more than the queue and the sockets' buffers hold.
    let piece = "x".repeat(2_000);
    let text = json!([{"repeat": piece, "count": 20_000}]);
    let scenario = Server::shared()
        .scenario(&[json!({"chat": {"text": text}})])
        .await;
    let mut stream = agent(&scenario).stream_ask("Hello").unwrap();
    until_text(&mut stream).await;
    // Standing still shows only over time: half a second without a byte.
    let mut last = 0;
    let mut still = 0;
    while still < 20 {
        tokio::time::sleep(Duration::from_millis(25)).await;
        let written = scenario.journal().await[0]["bytes_written"]
            .as_u64()
            .unwrap();
        still = if written == last { still + 1 } else { 0 };
        last = written;
    }
    assert!(
        last < 20_000_000,
        "the server could send {last} bytes to a reader that stands still"
    );
    let mut deltas = 1;
    while let Some(event) = stream.next().await {
        deltas += usize::from(matches!(event, StreamEvent::TextDelta { .. }));
    }
    assert_eq!(deltas, 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_runs_at_once_keep_apart() {
    let exchanges = json!([
        {"chat": {"tool_calls": [{"name": "who"}]}, "match": {"body_contains": "\"tools\""}},
    ]);
    let script = json!({"exchanges": exchanges, "cycle": true});
    let scenario = Server::shared().script(&script).await;
    let who = tool_with_schema(
        "who",
        "Says who.",
        json!({}),
        |_: Value, context: RunContext| async move {
            let name = context.with_state(|state| state["name"].clone());
            context.with_state(|state| state.insert("seen".into(), name.clone()));
            // The run is over when its name is known: no second model call is needed.
            context.run().cancel();
            Ok::<_, Error>(name)
        },
    );
    let agent = Agent::builder("support")
        .model(MODEL)
        .runtime(runtime(&scenario))
        .tool(who);
    let agent = agent.build().unwrap();
    let runs = (0..200).map(|number| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let context = json!({"name": number}).as_object().unwrap().clone();
            let request = Invocation::new("Who?").unwrap().with_context(context);
            (number, agent.ask(request).await.unwrap())
        })
    });
    for run in futures_util::future::join_all(runs).await {
        let (number, run) = run.unwrap();
        assert_eq!(run.with_state(|state| state["seen"].clone()), json!(number));
    }
}
