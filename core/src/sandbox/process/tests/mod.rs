//! Real processes.

mod ending;
mod limits;
mod start;
mod streams;

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::super::{ExitStatus, Output, Process};
use super::companion::Companion;
use super::sample::Sample;
use super::*;
use crate::error::{Error, ErrorKind};

const LONG: Duration = Duration::from_secs(20);

fn shell(line: &str) -> ProcessOptions {
    let mut options = ProcessOptions::new(["/bin/sh", "-c", line]);
    options.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    options
}

async fn start(options: ProcessOptions) -> ProcessSession {
    ProcessSession::start(options).await.unwrap()
}

/// Everything up to the end of both streams.
async fn read_all(process: &ProcessSession) -> Output {
    let mut all = Output::default();
    while !all.eof {
        let part = process.read(LONG).await.unwrap();
        all.stdout.extend(part.stdout);
        all.stderr.extend(part.stderr);
        all.eof = part.eof;
    }
    all
}

/// Reads until the program has said this on standard output.
async fn hear(process: &ProcessSession, word: &str) -> String {
    let mut heard = String::new();
    while !heard.contains(word) {
        let part = process.read(LONG).await.unwrap();
        heard.push_str(std::str::from_utf8(&part.stdout).unwrap());
        assert!(
            !part.eof || heard.contains(word),
            "it ended after {heard:?}"
        );
    }
    heard
}

async fn run(line: &str) -> (String, String, ExitStatus) {
    let process = start(shell(line)).await;
    let output = read_all(&process).await;
    let status = process.wait(Some(LONG), true).await.unwrap();
    process.close().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), status)
}

fn exists(pid: u32) -> bool {
    sample::stat::Stat::of(pid).is_some_and(|stat| !stat.is_gone())
}

/// Waits until the process has gone; the kernel may take a moment for one that is not our child.
async fn gone(pid: u32) {
    let end = Instant::now() + LONG;
    while exists(pid) {
        assert!(Instant::now() < end, "process {pid} still runs");
        tokio::task::yield_now().await;
    }
}

fn tool_error(result: Result<impl std::fmt::Debug, Error>, part: &str) {
    let problem = result.unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Tool);
    assert!(problem.message().contains(part), "{problem}");
}
