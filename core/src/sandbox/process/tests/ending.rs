//! How it ends.

use super::*;

#[tokio::test]
async fn a_signal_is_no_exit_code() {
    let (_, _, status) = run("kill -KILL $$").await;
    assert_eq!((status.code, status.signal), (None, Some(9)));
}

#[tokio::test]
async fn waiting_too_long_ends_it() {
    let process = start(shell("cat")).await;
    tool_error(
        process.wait(Some(Duration::from_millis(5)), true).await,
        "did not end within",
    );
    assert!(!process.is_alive().await.unwrap());
    gone(process.pid()).await;
    process.close().await.unwrap();
}

#[tokio::test]
async fn waiting_may_leave_it_alone() {
    let process = start(shell("read line; exit 7")).await;
    tool_error(
        process.wait(Some(Duration::from_millis(5)), false).await,
        "did not end within",
    );
    assert!(process.is_alive().await.unwrap());
    process.write(b"go\n").await.unwrap();
    assert_eq!(process.wait(Some(LONG), false).await.unwrap().code, Some(7));
    process.close().await.unwrap();
}

#[tokio::test]
async fn it_is_asked_before_it_is_forced() {
    let process = start(shell(
        "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done",
    ))
    .await;
    hear(&process, "ready").await;
    let status = process.terminate().await.unwrap().unwrap();
    assert_eq!(status.code, Some(5));
    process.close().await.unwrap();
}

#[tokio::test]
async fn who_does_not_listen_is_forced_after_half_a_second() {
    let process = start(shell(
        "trap '' TERM; echo ready; while :; do sleep 60; done",
    ))
    .await;
    hear(&process, "ready").await;
    let begin = Instant::now();
    let status = process.terminate().await.unwrap().unwrap();
    assert_eq!(status.signal, Some(9));
    assert!(begin.elapsed() >= Duration::from_millis(500));
    process.close().await.unwrap();
}

#[tokio::test]
async fn descendants_in_its_group_end_with_it() {
    let process = start(shell("sleep 600 & echo $!; wait")).await;
    let child: u32 = hear(&process, "\n").await.trim().parse().unwrap();
    assert!(exists(child));
    process.close().await.unwrap();
    gone(child).await;
}

#[tokio::test]
async fn it_lives_as_long_as_its_group_does() {
    let process = start(shell("sleep 600 > /dev/null 2>&1 & echo $!")).await;
    let child: u32 = hear(&process, "\n").await.trim().parse().unwrap();
    assert!(process.wait(Some(LONG), true).await.unwrap().is_success());
    assert!(process.is_alive().await.unwrap());
    process.terminate().await.unwrap();
    assert!(!process.is_alive().await.unwrap());
    gone(child).await;
    process.close().await.unwrap();
}

#[tokio::test]
async fn closing_again_and_at_once_is_fine() {
    let process = Arc::new(start(shell("cat")).await);
    let closes = (0..8).map(|_| {
        let process = Arc::clone(&process);
        tokio::spawn(async move { process.close().await })
    });
    for close in closes.collect::<Vec<_>>() {
        close.await.unwrap().unwrap();
    }
    process.close().await.unwrap();
    gone(process.pid()).await;
    assert!(!process.is_alive().await.unwrap());
    assert!(process.read(LONG).await.unwrap().eof);
}

#[tokio::test]
async fn dropping_it_ends_it() {
    let process = start(shell("cat")).await;
    let pid = process.pid();
    drop(process);
    gone(pid).await;
}

#[tokio::test]
#[allow(unsafe_code)]
async fn a_forked_copy_leaves_the_process_alone() {
    use futures_util::FutureExt;

    let process = start(shell("cat")).await;
    // SAFETY: the copy uses what it has, takes no lock that another thread may hold, and leaves at once.
    let copy = unsafe { libc::fork() };
    if copy == 0 {
        let closed = process
            .close()
            .now_or_never()
            .is_some_and(|result| result.is_ok());
        let refused = process
            .write(b"x")
            .now_or_never()
            .is_some_and(|result| result.is_err());
        drop(process);
        // SAFETY: nothing of the original is run at this exit.
        unsafe { libc::_exit(i32::from(!(closed && refused))) }
    }
    let mut status = 0;
    // SAFETY: waits for the copy alone, and writes one number.
    assert_eq!(unsafe { libc::waitpid(copy, &raw mut status, 0) }, copy);
    assert_eq!(status, 0);
    assert!(process.is_alive().await.unwrap());
    process.write(b"still here").await.unwrap();
    hear(&process, "still here").await;
    process.close().await.unwrap();
}

/// A companion that says what the test wants.
struct Told(Option<Error>);

impl Companion for Told {
    fn news(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        None
    }

    fn take_in(&mut self, _: u32) {}

    fn remains(&self) -> Option<&OwnedFd> {
        None
    }

    fn end_remains(&self) {}

    fn verdict(&mut self, status: ExitStatus, stderr: &[u8]) -> Result<ExitStatus, Error> {
        assert_eq!(stderr, b"last words\n");
        self.0.take().map_or(Ok(status), Err)
    }
}

#[tokio::test]
async fn a_companion_judges_the_end() {
    for problem in [None, Some(Error::tool("not what was asked for"))] {
        let fails = problem.is_some();
        let mut options = shell("echo last words >&2; exit 1");
        options.companion = Some(Box::new(Told(problem)));
        let process = start(options).await;
        let result = process.wait(Some(LONG), true).await;
        assert_eq!(result.is_err(), fails);
        process.close().await.unwrap();
    }
}
