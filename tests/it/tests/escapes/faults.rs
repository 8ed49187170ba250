//! What is left when something goes wrong: nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use little_ghost::Sandbox;
use little_ghost::sandbox::{Process, Program};

use super::place::{LONG, Place, eventually, marked, marker};

/// A program that has detached descendants, each told `marker`, and says when they run.
fn detached(marker: &str) -> Program {
    Program::shell(format!(
        "setsid sh -c 'sleep {marker} > /dev/null 2>&1 & exec sleep {marker}' > /dev/null 2>&1 & \
         (setsid setsid sleep {marker} > /dev/null 2>&1 &) ; echo ready; exec sleep {marker}"
    ))
}

async fn ready(process: &dyn Process) {
    let mut heard = String::new();
    while !heard.contains("ready") {
        let output = process.read(LONG).await.unwrap();
        heard.push_str(&String::from_utf8_lossy(&output.stdout));
        assert!(!output.eof, "it ended: {heard}");
    }
}

#[tokio::test]
async fn detached_descendants_end_with_the_program() {
    let Some(place) = Place::new().await else {
        return;
    };
    let marker = marker();
    let process = place.sandbox.start(detached(&marker)).await.unwrap();
    ready(&*process).await;
    eventually("all of them run", || marked(&marker).len() >= 4).await;
    process.close().await.unwrap();
    // Closing returns only when nobody is left.
    assert_eq!(marked(&marker), Vec::<u32>::new());
    let line = format!("(setsid sleep {marker} > /dev/null 2>&1 &); exit 4");
    let execution = place
        .sandbox
        .execute(Program::shell(line), LONG, None)
        .await
        .unwrap();
    assert_eq!(execution.exit_code, Some(4));
    assert_eq!(marked(&marker), Vec::<u32>::new());
}

#[tokio::test]
async fn killing_the_outer_process_ends_everything() {
    let Some(place) = Place::new().await else {
        return;
    };
    let marker = marker();
    let process = place.sandbox.start(detached(&marker)).await.unwrap();
    ready(&*process).await;
    let kill = Command::new("kill")
        .args(["-KILL", &process.pid().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let status = process.wait(Some(LONG), true).await.unwrap();
    assert_eq!((status.code, status.signal), (None, Some(9)));
    process.close().await.unwrap();
    assert_eq!(marked(&marker), Vec::<u32>::new());
}

const FOLDER: &str = "LITTLE_GHOST_TEST_FOLDER";
const MARKER: &str = "LITTLE_GHOST_TEST_MARKER";

/// What the next test starts as a process of its own, and kills.
#[tokio::test]
async fn parent_that_is_killed() {
    let (Ok(folder), Ok(marker)) = (std::env::var(FOLDER), std::env::var(MARKER)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let sandbox = Place::sandbox(&folder).await;
    // Started on a thread that ends at once: the program must outlive it.
    let process = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(sandbox.start(detached(&marker))).unwrap()
    });
    let process = process.join().unwrap();
    ready(&*process).await;
    fs::write(folder.join("ready"), "").unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn killing_this_process_ends_its_programs() {
    let Some(place) = Place::new().await else {
        return;
    };
    let marker = marker();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "faults::parent_that_is_killed", "--nocapture"])
        .env(FOLDER, place.folder())
        .env(MARKER, &marker)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let ready = place.folder().join("ready");
    eventually("the program runs", || ready.exists()).await;
    eventually("all of them run", || marked(&marker).len() >= 4).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("everything ends", || marked(&marker).is_empty()).await;
}

#[tokio::test]
async fn cancelling_at_any_moment_leaves_nothing() {
    let Some(place) = Place::new().await else {
        return;
    };
    let marker = marker();
    // The first steps take no time at all, the last ones are long after the start.
    for step in 0..40 {
        let program = detached(&marker);
        let patience = Duration::from_micros(500 * step);
        let execution = place.sandbox.execute(program, LONG, None);
        assert!(tokio::time::timeout(patience, execution).await.is_err());
    }
    eventually("everything ends", || marked(&marker).is_empty()).await;
    eventually("no thread is left", || supervisors() == 0).await;
    assert_eq!(leftovers(place.folder()), Vec::<PathBuf>::new());
}

/// Threads that supervise a process of the test that asks. Other tests have their own.
fn supervisors() -> usize {
    let own = std::process::id();
    let children = |task: &Path| fs::read_to_string(task.join("children")).unwrap_or_default();
    let tasks = fs::read_dir(format!("/proc/{own}/task")).unwrap();
    let names = tasks.filter_map(|task| {
        let path = task.ok()?.path();
        let name = fs::read_to_string(path.join("comm")).ok()?;
        (name.starts_with("little-ghost-pr") && children(&path).is_empty()).then_some(name)
    });
    names.count()
}

/// What a sandbox may have left on the file system.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("root")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn descriptors_and_mounts_are_given_back() {
    let Some(place) = Place::new().await else {
        return;
    };
    let run = || async {
        let execution = place
            .sandbox
            .execute(Program::new(["true"]), LONG, None)
            .await
            .unwrap();
        assert!(execution.is_success());
    };
    run().await;
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    for _ in 0..20 {
        run().await;
    }
    assert_eq!(fs::read_to_string("/proc/self/mounts").unwrap(), mounts);
    // Other tests have theirs at the same time, but none of them has this many.
    let memory = fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
        let target = fs::read_link(entry.as_ref().unwrap().path()).unwrap_or_default();
        target.to_string_lossy().contains("memfd:little-ghost")
    });
    assert!(memory.count() < 20);
}

/// What the next test starts as a process of its own.
#[tokio::test]
async fn process_that_becomes_a_program() {
    let (Ok(folder), Err(_)) = (std::env::var(FOLDER), std::env::var(MARKER)) else {
        return;
    };
    let sandbox = Place::sandbox(Path::new(&folder)).await;
    let program = Program::shell("read word; echo became $word; cat /etc/passwd; exit 9");
    panic!("{}", sandbox.exec(program).await);
}

#[tokio::test]
async fn a_process_can_become_a_program_in_the_sandbox() {
    let Some(place) = Place::new().await else {
        return;
    };
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "faults::process_that_becomes_a_program",
            "--nocapture",
        ])
        .env(FOLDER, place.folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(b"it\n").unwrap();
    let output = process.wait_with_output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8(output.stdout),
        String::from_utf8(output.stderr),
    );
    assert!(stdout.unwrap().ends_with("became it\n"));
    assert!(stderr.unwrap().contains("/etc/passwd"));
    assert_eq!(output.status.code(), Some(9));
}
