//! Programs that want all of the machine. Each is bounded by itself as well.

use std::time::{Duration, Instant};

use little_ghost::sandbox::Program;
use little_ghost::{ErrorKind, Sandbox};

use super::place::{LONG, Place, eventually, marked, marker};

/// Fails unless the sandbox ended the program, saying `why`.
async fn is_ended(place: &Place, program: Program, why: &str) {
    let process = place.sandbox.start(program).await.unwrap();
    let problem = process.wait(Some(LONG), true).await.unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Tool);
    assert!(problem.message().contains(why), "{problem}");
    process.close().await.unwrap();
}

#[tokio::test]
async fn a_bomb_of_processes_is_ended() {
    let Some(place) = Place::new().await else {
        return;
    };
    let marker = marker();
    let line = format!("for i in $(seq 300); do sleep {marker} & done; wait");
    let mut program = Program::shell(line);
    program.tasks = Some(40);
    // A user who is not root cannot even start more; the shell then fails by itself.
    let process = place.sandbox.start(program).await.unwrap();
    match process.wait(Some(LONG), true).await {
        Err(problem) => assert!(
            problem.message().contains("processes and threads"),
            "{problem}"
        ),
        Ok(status) => assert_ne!(status.code, Some(0)),
    }
    process.close().await.unwrap();
    eventually("the bomb is gone", || marked(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_flood_of_memory_is_ended() {
    let Some(place) = Place::new().await else {
        return;
    };
    let mut program = Program::shell("head -c 300000000 /dev/zero | tail -c 300000000; sleep 60");
    program.memory_bytes = Some(64 * 1024 * 1024);
    program.output_bytes = Some(u64::MAX);
    is_ended(&place, program, "memory").await;
}

#[tokio::test]
async fn a_flood_of_files_in_memory_is_refused() {
    let Some(place) = Place::new().await else {
        return;
    };
    for folder in ["/tmp", "/run", "/dev/shm"] {
        let line =
            format!("head -c 50000000 /dev/zero > {folder}/flood; stat -c %s {folder}/flood");
        let mut program = Program::shell(line);
        program.memory_bytes = Some(16 * 1024 * 1024);
        let execution = place.sandbox.execute(program, LONG, None).await.unwrap();
        let size: u64 = execution.stdout.trim().parse().unwrap();
        assert!(size <= 16 * 1024 * 1024, "{folder} took {size} bytes");
        assert!(
            execution.stderr.contains("No space left"),
            "{}",
            execution.stderr
        );
    }
}

#[tokio::test]
async fn a_flood_of_one_file_is_refused() {
    let Some(place) = Place::new().await else {
        return;
    };
    let mut program = Program::shell("head -c 3000000 /dev/zero > flood; stat -c %s flood");
    program.file_bytes = Some(1_000_000);
    let execution = place.sandbox.execute(program, LONG, None).await.unwrap();
    assert_eq!(execution.stdout, "1000000\n");
}

#[tokio::test]
async fn a_flood_of_output_is_ended_or_cut() {
    let Some(place) = Place::new().await else {
        return;
    };
    let mut program = Program::new(["yes"]);
    program.output_bytes = Some(100_000);
    is_ended(&place, program, "more than 100000 bytes of output").await;
    let program = Program::shell("yes | head -c 5000000; yes | head -c 5000000 >&2");
    let execution = place
        .sandbox
        .execute(program, LONG, Some(1_000))
        .await
        .unwrap();
    for text in [&execution.stdout, &execution.stderr] {
        assert!(
            text.len() < 1_100 && text.contains("truncated"),
            "{} bytes",
            text.len()
        );
    }
}

#[tokio::test]
async fn an_endless_loop_runs_out_of_processor_time() {
    let Some(place) = Place::new().await else {
        return;
    };
    let mut program = Program::shell("while :; do :; done");
    program.cpu_seconds = Some(1);
    let execution = place.sandbox.execute(program, LONG, None).await.unwrap();
    assert_ne!(execution.exit_code, Some(0));
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended() {
    let Some(place) = Place::new().await else {
        return;
    };
    let marker = marker();
    let begin = Instant::now();
    let program = Program::new(["sleep", &marker]);
    let short = Duration::from_millis(300);
    let problem = place
        .sandbox
        .execute(program, short, None)
        .await
        .unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Tool);
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(marked(&marker), Vec::<u32>::new());
}
