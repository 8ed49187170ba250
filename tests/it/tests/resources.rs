//! What a run closes, in which order, and what its caller is told when that fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use little_ghost::host::{HostCallKind, HostRun, HostStart, Item};
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, CancellationToken, Error, ErrorKind, Invocation, Outcome, Resource, Result, RunStream,
    Runtime, StreamEvent, async_trait,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

type Log = Arc<Mutex<Vec<&'static str>>>;

struct Door(&'static str, Log, Option<ErrorKind>);

#[async_trait]
impl Resource for Door {
    async fn close(&self) -> Result<()> {
        self.1.lock().push(self.0);
        match self.2 {
            Some(kind) => Err(Error::new(kind, self.0)),
            None => Ok(()),
        }
    }
}

fn stream(turn: impl Into<Turn>) -> RunStream {
    let model = ScriptedModel::new([turn]);
    let agent = Agent::builder("support").model(model).build();
    agent.unwrap().stream_ask("Hello").unwrap()
}

#[tokio::test]
async fn resources_close_in_reverse_order_before_the_terminal_event() {
    let log = Log::default();
    let mut stream = stream("Hi");
    for name in ["first", "second", "third"] {
        stream
            .run()
            .register(Door(name, Arc::clone(&log), None))
            .unwrap();
    }
    while let Some(event) = stream.next().await {
        if event.is_terminal() {
            assert_eq!(*log.lock(), ["third", "second", "first"]);
        }
    }
    let late = stream.run().register(Door("late", log, None)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Error);
    assert!(late.message().contains("closed"), "{late}");
}

#[tokio::test]
async fn every_closer_is_tried_and_the_first_cleanup_error_wins() {
    let log = Log::default();
    let mut stream = stream("Hi");
    let run = stream.run();
    for (name, failure) in [
        ("a", None),
        ("b", Some(ErrorKind::Cleanup)),
        ("c", Some(ErrorKind::Cleanup)),
        ("d", Some(ErrorKind::Error)),
    ] {
        run.register(Door(name, Arc::clone(&log), failure)).unwrap();
    }
    let mut last = None;
    while let Some(event) = stream.next().await {
        last = Some(event);
    }
    assert_eq!(*log.lock(), ["d", "c", "b", "a"]);
    let Some(StreamEvent::RunError {
        error,
        cleanup_failed,
        ..
    }) = last
    else {
        panic!("ended with {last:?}");
    };
    assert!(cleanup_failed);
    assert_eq!((error.kind(), error.message()), (ErrorKind::Cleanup, "c"));
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    assert_eq!(run.response(), "");
    assert!(run.result().is_some(), "the agent had finished");
    assert_eq!(stream.finish().await.unwrap_err().message(), "c");
}

#[tokio::test]
async fn a_run_that_nobody_reads_still_closes_what_it_has() {
    let log = Log::default();
    let mut stream = stream(Turn::chunks(["Hi", "never"]).pause(Duration::from_secs(3_600)));
    let run = stream.run();
    run.register(Door("only", Arc::clone(&log), None)).unwrap();
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. }) {
            break;
        }
    }
    drop(stream);
    while run.outcome().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(*log.lock(), ["only"]);
}

/// A signal or a timeout may reach a host at any point, also before it started what it is about to drive.
#[tokio::test]
async fn a_run_that_is_left_before_its_start_closes_and_ends() {
    let runtime = Runtime::from_value(&json!({})).unwrap();
    let invocation = Invocation::from_value(&json!({"message": "Hi"})).unwrap();
    let run = HostRun::new(runtime, invocation, &CancellationToken::new()).unwrap();
    run.register(7).unwrap();
    run.interrupt(None);
    run.interrupt(None);
    let refused = run.start(&HostStart::default()).unwrap_err();
    assert!(refused.message().contains("only once"), "{refused}");
    let mut closed = Vec::new();
    'run: loop {
        for item in run.drain().unwrap() {
            match item {
                Item::Call(call) if call.kind == HostCallKind::Close => {
                    closed.push(call.payload["resource"].as_u64());
                    run.complete(call.id, Ok(Value::Null));
                }
                Item::Done => break 'run,
                other => panic!("{other:?}"),
            }
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(closed, [Some(7)]);
}
