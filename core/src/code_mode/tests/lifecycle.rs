//! Watching, stopping, closing, overlapping.

use futures_util::future::join;
use tokio::time::Instant;

use super::*;
use crate::code_mode::ProgramStatus;
use crate::error::ErrorKind;

const SHORT: Duration = Duration::from_millis(100);

fn is_tool(result: Result<ProgramResult>, part: &str) {
    let error = result.unwrap_err();
    assert!(
        error.is(ErrorKind::Tool) && error.message().contains(part),
        "{error}"
    );
}

/// A tool that answers when it may.
#[derive(Clone, Default)]
struct Gate(Arc<tokio::sync::Notify>);

#[async_trait]
impl Dispatch for Gate {
    async fn dispatch(&self, _call: ToolUse) -> Result<Answer> {
        self.0.notified().await;
        Ok(Answer::value(json!(1)))
    }
}

#[tokio::test]
async fn a_program_goes_on_between_two_looks() {
    let gate = Gate::default();
    let broker = Arc::new(Broker::new(catalog(), Arc::new(gate.clone())));
    let sandboxes = Arc::new(DeclaredSandboxes::new(json!("unrestricted")));
    let ruby = Arc::new(RubyEngine::default());
    let session = ProgramSession::open(ruby, broker, sandboxes, &Map::new()).unwrap();
    let session = session.observing(SHORT);
    let first = run(&session, "text 'a'; tools.echo; text 'b'; 3").await;
    let (mut seen, mut status) = (first.output, first.status);
    while seen.is_empty() {
        assert_eq!(status, ProgramStatus::StillWorking);
        let next = session.wait(None).await.unwrap();
        (seen, status) = (next.output, next.status);
    }
    assert_eq!((seen.as_str(), status), ("a", ProgramStatus::StillWorking));
    is_tool(session.execute(source("1")).await, "active already");
    gate.0.notify_one();
    let mut second = session.wait(None).await.unwrap();
    let mut seen = second.output.clone();
    while second.is_still_working() {
        second = session.wait(None).await.unwrap();
        seen.push_str(&second.output);
    }
    assert_eq!(
        (seen.as_str(), second.status),
        ("b", ProgramStatus::Completed)
    );
    assert_eq!(second.value, Some(json!(3)));
    is_tool(session.wait(None).await, "No program is active");
    is_tool(session.stop(None).await, "No program is active");
    assert_eq!(run(&session, "4").await.value, Some(json!(4)));
}

#[tokio::test]
async fn a_program_is_stopped() {
    let session = session(RubyEngine::default(), json!({})).observing(SHORT);
    let first = run(&session, "$stdout.puts Process.pid; sleep").await;
    let output = if first.output.is_empty() {
        loop {
            let next = session.wait(None).await.unwrap();
            if !next.output.is_empty() {
                break next.output;
            }
        }
    } else {
        first.output
    };
    let pid = output.trim().parse().unwrap();
    assert!(is_there(pid));
    let stopped = session.stop(None).await.unwrap();
    assert_eq!(stopped.status, ProgramStatus::Terminated);
    assert!(!is_there(pid));
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_tool_that_never_returns_is_left_behind() {
    let session = javascript(json!({})).observing(SHORT);
    let first = run(&session, "await tools.never({})").await;
    assert_eq!(first.status, ProgramStatus::StillWorking);
    assert_eq!(
        session.stop(None).await.unwrap().status,
        ProgramStatus::Terminated
    );
    assert_eq!(run(&session, "1").await.value, Some(json!(1)));
    run(&session, "await tools.never({})").await;
    session.close().await.unwrap();
    session.close().await.unwrap();
    is_tool(session.execute(source("1")).await, "closed");
    is_tool(session.wait(None).await, "closed");
}

#[tokio::test]
async fn operations_do_not_overlap() {
    let session = javascript(json!({})).observing(Duration::from_secs(1));
    let (first, second) = join(
        session.execute(source("await tools.never({})")),
        session.execute(source("1")),
    )
    .await;
    assert!(first.unwrap().is_still_working());
    is_tool(second, "at a time");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_look_that_is_given_up_leaves_the_program_at_work() {
    let session = javascript(json!({}));
    let looked = tokio::time::timeout(
        SHORT,
        session.execute(source("text('a'); await tools.never({})")),
    )
    .await;
    assert!(looked.is_err());
    let stopped = session.stop(None).await.unwrap();
    assert_eq!(stopped.output, "a");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_session_that_is_dropped_ends_its_program() {
    let session = session(RubyEngine::default(), json!({})).observing(SHORT);
    let mut output = run(&session, "puts Process.pid; sleep").await.output;
    while output.is_empty() {
        output = session.wait(None).await.unwrap().output;
    }
    let pid = output.trim().parse().unwrap();
    drop(session);
    eventually("the process of a dropped session ends", || !is_there(pid)).await;
}

#[tokio::test]
async fn closing_does_not_wait_for_a_stage_to_end() {
    // Cancelled while the place is made, while the process starts, while it works.
    for delay in [0, 1, 3, 8, 20, 60] {
        let session = session(RubyEngine::default(), json!({}));
        let delay = Duration::from_millis(delay);
        let looked = tokio::time::timeout(delay, session.execute(source("sleep"))).await;
        assert!(looked.is_err());
        let begun = Instant::now();
        session.close().await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(4));
    }
}

#[tokio::test]
async fn calls_of_a_program_overlap_up_to_the_limit() {
    struct Meeting(
        Arc<std::sync::atomic::AtomicUsize>,
        Arc<std::sync::atomic::AtomicUsize>,
    );

    #[async_trait]
    impl Dispatch for Meeting {
        async fn dispatch(&self, _call: ToolUse) -> Result<Answer> {
            use std::sync::atomic::Ordering::SeqCst;
            let now = self.0.fetch_add(1, SeqCst) + 1;
            self.1.fetch_max(now, SeqCst);
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.0.fetch_sub(1, SeqCst);
            Ok(Answer::value(json!(1)))
        }
    }

    for (limits, most) in [(json!({}), 8), (json!({"max_concurrency": 3}), 3)] {
        let peak: Arc<std::sync::atomic::AtomicUsize> = Arc::default();
        let dispatch = Meeting(Arc::default(), Arc::clone(&peak));
        let broker = Arc::new(Broker::new(catalog(), Arc::new(dispatch)));
        let sandboxes = Arc::new(DeclaredSandboxes::new(json!("unrestricted")));
        let limits = limits.as_object().unwrap();
        let session =
            ProgramSession::open(Arc::new(JavascriptEngine), broker, sandboxes, limits).unwrap();
        let all = "(await Promise.all(Array.from({length: 20}, () => tools.echo({})))).length";
        assert_eq!(run(&session, all).await.value, Some(json!(20)));
        assert_eq!(peak.load(std::sync::atomic::Ordering::SeqCst), most);
    }
}

#[tokio::test]
async fn output_is_cut_to_what_was_asked_for() {
    let session = session(RubyEngine::default(), json!({}));
    let cut = Source {
        max_output_tokens: Some(10),
        ..source("text 'x' * 1000; nil")
    };
    let shown = session.execute(cut).await.unwrap();
    assert!(
        shown.output.len() < 120 && shown.output.contains("xxx"),
        "{}",
        shown.output
    );
    assert_eq!(
        run(&session, "text 'x' * 100_000; nil").await.output.len(),
        100_000
    );
    let javascript = javascript(json!({}));
    let shown = run(&javascript, "text('x'.repeat(100000))").await;
    assert!(shown.output.len() < 50_000);
}
