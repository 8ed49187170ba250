//! A proxy process that ends with its gateway, and with this process.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::{oneshot, watch};

use crate::error::{Error, ErrorKind, Result};

/// What is kept of the process's last words.
const TAIL_BYTES: usize = 2_048;
/// How long the process may take to end when asked.
const GRACE: Duration = Duration::from_millis(500);

/// A process in a group of its own. Dropping this kills the group.
#[derive(Debug)]
pub(super) struct Supervised {
    group: Arc<Mutex<Option<Pid>>>,
    tail: Arc<Mutex<Vec<u8>>>,
    ended: watch::Receiver<bool>,
}

impl Supervised {
    /// Starts `command`.
    ///
    /// A thread starts and awaits it: the kernel ends the process with the thread that started it, which therefore must
    /// not be one that comes and goes.
    pub(super) async fn start(mut command: Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let unstartable = move |error: std::io::Error| {
            Error::new(
                ErrorKind::Dependency,
                format!("cannot start {program} as network gateway: {error}"),
            )
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        die_with_parent(&mut command);
        let group = Arc::new(Mutex::new(None));
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = watch::channel(false);
        let (started, starting) = oneshot::channel();
        let supervised = Self {
            group: Arc::clone(&group),
            tail: Arc::clone(&tail),
            ended,
        };
        thread::Builder::new()
            .name("little-ghost-gateway".into())
            .spawn(move || {
                let mut child = match command.spawn() {
                    Ok(child) => child,
                    Err(error) => {
                        let _ = started.send(Err(error));
                        return;
                    }
                };
                *group.lock() = pid(&child);
                // Whoever gave up waiting for the start has dropped its handle, which kills nothing yet.
                if started.send(Ok(())).is_err() {
                    kill(&group, Signal::KILL);
                }
                let listener = child.stderr.take().map(|stream| listen(stream, &tail));
                reap(&mut child, &group);
                if let Some(Ok(listener)) = listener {
                    let _ = listener.join();
                }
                let _ = end.send(true);
            })
            .map_err(unstartable.clone())?;
        match starting.await {
            Ok(Ok(())) => Ok(supervised),
            Ok(Err(error)) => Err(unstartable(error)),
            Err(_) => Err(unstartable(std::io::Error::other("its thread ended"))),
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        self.group.lock().is_some()
    }

    /// The process group, for as long as the process lives.
    pub(super) fn group(&self) -> Arc<Mutex<Option<Pid>>> {
        Arc::clone(&self.group)
    }

    /// What the process said last about what went wrong.
    pub(super) fn last_words(&self) -> String {
        String::from_utf8_lossy(&self.tail.lock()).trim().to_owned()
    }

    /// Waits for the end.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.clone();
        // The sender is gone only after it said so.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Asks the process to end, and forces it when it does not.
    pub(super) async fn stop(&self) -> Result<()> {
        for (signal, patience) in [(Signal::TERM, GRACE), (Signal::KILL, GRACE * 10)] {
            kill(&self.group, signal);
            if tokio::time::timeout(patience, self.ended()).await.is_ok() {
                return Ok(());
            }
        }
        Err(Error::new(
            ErrorKind::Cleanup,
            "the network gateway's process does not end, not even when killed",
        ))
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        kill(&self.group, Signal::KILL);
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Signals the group unless it is gone. The lock keeps the number from being reused meanwhile.
fn kill(group: &Mutex<Option<Pid>>, signal: Signal) {
    let group = group.lock();
    if let Some(group) = *group {
        let _ = kill_process_group(group, signal);
    }
}

/// Waits without taking the process's number out of use, so that a signal cannot hit another one.
fn reap(child: &mut Child, group: &Mutex<Option<Pid>>) {
    if let Some(pid) = pid(child) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
    }
    let mut group = group.lock();
    if let Some(left) = group.take() {
        // What it started ends with it.
        let _ = kill_process_group(left, Signal::KILL);
    }
    let _ = child.wait();
}

fn listen(
    mut stream: ChildStderr,
    tail: &Arc<Mutex<Vec<u8>>>,
) -> std::io::Result<thread::JoinHandle<()>> {
    let tail = Arc::clone(tail);
    thread::Builder::new()
        .name("little-ghost-gateway-log".into())
        .spawn(move || {
            let mut buffer = [0_u8; 1_024];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let mut tail = tail.lock();
                tail.extend_from_slice(buffer.get(..read).unwrap_or_default());
                let excess = tail.len().saturating_sub(TAIL_BYTES);
                tail.drain(..excess);
            }
        })
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "code between fork and exec")]
fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: both calls are bare system calls, which are allowed between fork and exec.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before the line above.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(rustix::io::Errno::SRCH.into())
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[tokio::test]
    async fn last_words_are_kept() {
        let process = Supervised::start(shell("echo broken >&2; exit 3"))
            .await
            .unwrap();
        process.ended().await;
        assert!(!process.is_alive());
        assert_eq!(process.last_words(), "broken");
        process.stop().await.unwrap();
    }

    #[tokio::test]
    async fn the_stubborn_are_killed_with_what_they_started() {
        let script = "trap '' TERM; sleep 600 & echo $! >&2; while :; do sleep 600; done";
        let process = Supervised::start(shell(script)).await.unwrap();
        let child = loop {
            if let Ok(pid) = process.last_words().parse::<i32>() {
                break Pid::from_raw(pid).unwrap();
            }
            tokio::task::yield_now().await;
        };
        process.stop().await.unwrap();
        assert!(!process.is_alive());
        // Dying takes a moment; then it is a zombie until whoever inherited it looks.
        let stat = format!("/proc/{}/stat", child.as_raw_nonzero());
        while std::fs::read_to_string(&stat).is_ok_and(|state| !state.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_cannot_be_started_says_so() {
        let error = Supervised::start(Command::new("/nowhere/envoy"))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Dependency);
        assert!(error.message().contains("/nowhere/envoy"));
    }
}
