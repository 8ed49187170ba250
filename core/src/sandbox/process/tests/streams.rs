//! What it reads and writes.

use super::*;

#[tokio::test]
async fn both_streams_and_the_exit_code_arrive() {
    let (stdout, stderr, status) = run("echo out; echo err >&2; exit 3").await;
    assert_eq!((stdout.as_str(), stderr.as_str()), ("out\n", "err\n"));
    assert_eq!((status.code, status.signal), (Some(3), None));
}

#[tokio::test]
async fn what_is_written_arrives_and_closing_ends_it() {
    let process = start(shell("cat")).await;
    let text = vec![b'x'; 300_000];
    process.write(&text).await.unwrap();
    process.close_write().await.unwrap();
    assert_eq!(read_all(&process).await.stdout, text);
    assert!(process.wait(Some(LONG), true).await.unwrap().is_success());
    process.close().await.unwrap();
}

#[tokio::test]
async fn writing_to_a_program_that_ended_fails() {
    let process = start(shell("exec <&-; echo closed; cat /dev/zero > /dev/null")).await;
    hear(&process, "closed").await;
    let problem = process.write(b"anybody?").await.unwrap_err();
    assert_eq!(problem.code(), Some("EPIPE"));
    process.close().await.unwrap();
}

#[tokio::test]
async fn writing_after_the_input_was_ended_fails() {
    let process = start(shell("cat")).await;
    process.close_write().await.unwrap();
    assert_eq!(
        process.write(b"more").await.unwrap_err().code(),
        Some("EPIPE")
    );
    process.close().await.unwrap();
}

#[tokio::test]
async fn a_write_that_is_given_up_arrives_whole() {
    let process = start(shell("read line; cat")).await;
    let big = vec![b'y'; 500_000];
    // Nothing reads yet beyond the buffer of the pipe, so this write cannot be done.
    tokio::select! {
        biased;
        _ = process.write(&big) => panic!("the pipe took everything"),
        () = tokio::task::yield_now() => {}
    }
    process.write(b"\nend").await.unwrap();
    process.close_write().await.unwrap();
    assert_eq!(read_all(&process).await.stdout, b"end");
    process.close().await.unwrap();
}

#[tokio::test]
async fn too_much_output_ends_it() {
    let mut options = shell("echo begin; cat /dev/zero");
    options.output_bytes = 10_000;
    let process = start(options).await;
    tool_error(
        process.wait(Some(LONG), true).await,
        "more than 10000 bytes",
    );
    tool_error(process.read(Duration::ZERO).await, "more than 10000 bytes");
    tool_error(process.is_alive().await, "more than 10000 bytes");
    process.close().await.unwrap();
    gone(process.pid()).await;
}

#[tokio::test]
async fn the_bound_counts_both_streams_together() {
    let mut options = shell("head -c 600 /dev/zero; head -c 600 /dev/zero >&2; sleep 60");
    options.output_bytes = 1_000;
    let process = start(options).await;
    tool_error(process.wait(Some(LONG), true).await, "more than 1000 bytes");
    process.close().await.unwrap();
}

#[tokio::test]
async fn without_a_bound_the_program_waits_for_its_reader() {
    let mut options = shell("head -c 20000000 /dev/zero");
    options.output_bytes = u64::MAX;
    let process = start(options).await;
    assert_eq!(read_all(&process).await.stdout.len(), 20_000_000);
    process.close().await.unwrap();
}

#[tokio::test]
async fn reading_gives_up_in_time() {
    let process = start(shell("cat")).await;
    let output = process.read(Duration::from_millis(5)).await.unwrap();
    assert_eq!(output, Output::default());
    process.close().await.unwrap();
}
