//! What programs may use.

use super::*;
use crate::error::ErrorKind;

async fn refused(session: &ProgramSession, text: &str, part: &str) {
    let error = session.execute(source(text)).await.unwrap_err();
    assert!(
        error.is(ErrorKind::Tool) && error.message().contains(part),
        "{error}"
    );
}

async fn failed(session: &ProgramSession, text: &str, part: &str) {
    let result = run(session, text).await;
    let error = result.error.unwrap_or_default();
    assert!(error.contains(part), "{error:?} of {text}");
}

#[tokio::test]
async fn sources_programs_and_calls_are_counted() {
    let limits = json!({"source_bytes": 60, "programs": 3, "tool_calls": 2});
    let session = session(RubyEngine::default(), limits);
    refused(&session, &"1".repeat(61), "source_bytes").await;
    assert_eq!(
        run(&session, "tools.echo; tools.echo; 1").await.value,
        Some(json!(1))
    );
    failed(&session, "3.times { tools.echo }", "tool_calls").await;
    assert_eq!(run(&session, "tools.echo; 3").await.value, Some(json!(3)));
    refused(&session, "4", "programs").await;
}

#[tokio::test]
async fn a_lifetime_may_be_longer_than_clocks_can_show() {
    let session = session(RubyEngine::default(), json!({"wall_seconds": 1e19}));
    assert_eq!(run(&session, "3").await.value, Some(json!(3)));
}

#[tokio::test]
async fn a_lifetime_ends_whether_somebody_looks_or_not() {
    let session = session(RubyEngine::default(), json!({"wall_seconds": 0.8}))
        .observing(Duration::from_millis(300));
    let mut looked = session
        .execute(source("puts Process.pid; $stdout.flush; sleep"))
        .await;
    let mut output = String::new();
    while let Ok(result) = &looked {
        assert!(result.is_still_working());
        output.push_str(&result.output);
        if !output.is_empty() {
            break;
        }
        looked = session.wait(None).await;
    }
    let pid = output.trim().parse().unwrap();
    eventually("an expired program is gone", || !is_there(pid)).await;
    let error = session.wait(None).await.unwrap_err();
    assert!(
        error.is(ErrorKind::Tool) && error.message().contains("wall_seconds"),
        "{error}"
    );
    assert_eq!(run(&session, "1").await.value, Some(json!(1)));
}

#[tokio::test]
async fn output_is_bounded() {
    for text in [
        "loop { text 'x' * 1000 }",
        "loop { STDERR.write 'x' * 1000 }",
        "system 'yes'",
    ] {
        let session = session(RubyEngine::default(), json!({"output_bytes": 50_000}));
        refused(&session, text, "output_bytes").await;
        session.close().await.unwrap();
    }
    let session = javascript(json!({"output_bytes": 1_000}));
    refused(
        &session,
        "while (true) text('x'.repeat(100))",
        "output_bytes",
    )
    .await;
}

#[tokio::test]
async fn computing_and_memory_are_bounded() {
    let session = javascript(json!({"cpu_seconds": 1, "memory_bytes": 32 * 1024 * 1024}));
    failed(&session, "while (true) {}", "cpu_seconds").await;
    failed(
        &session,
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "cpu_seconds",
    )
    .await;
    failed(
        &session,
        "const a = []; while (true) a.push('x'.repeat(1000) + a.length)",
        "out of memory",
    )
    .await;
    failed(
        &session,
        "const f = () => f() + 1; f()",
        "Maximum call stack",
    )
    .await;
    assert_eq!(run(&session, "1").await.value, Some(json!(1)));
    let ruby = super::session(
        RubyEngine::default(),
        json!({"cpu_seconds": 1, "programs": 100}),
    );
    failed(&ruby, "loop {}", "cpu").await;
    failed(&ruby, "a = []; loop { a << 'x' * 1_000_000 }", "memory").await;
}

#[tokio::test]
async fn files_are_bounded() {
    let session = session(RubyEngine::default(), json!({"file_bytes": 1_000}));
    let result = run(&session, "begin; File.write('a', 'x' * 10_000); rescue SystemCallError => error; raise 'too large'; end").await;
    assert!(
        result
            .error
            .is_some_and(|error| error.contains("too large") || error.contains("file_bytes"))
    );
}

#[tokio::test]
async fn a_flood_of_calls_is_answered() {
    let session = javascript(json!({}));
    let flood = "(await Promise.allSettled(Array.from({length: 3000}, () => tools.echo({})))).filter((one) => one.status === 'rejected').length > 0";
    let result = run(&session, flood).await;
    assert!(result.is_completed(), "{result:?}");
}
