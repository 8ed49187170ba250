//! Programs that try to get out of the sandbox of Linux, and what is left when things go wrong.
//!
//! The attempts are scripts in `tests/escapes`; docs/sandbox-escapes.md lists each with the wall that stops
//! it. Where the kernel refuses user namespaces these tests are skipped, and say why; with
//! `LITTLE_GHOST_REQUIRE_SANDBOX=1` they fail.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod engines;
mod faults;
mod floods;
mod place;
mod starts;

use std::fs;

use little_ghost::Sandbox;
use little_ghost::sandbox::{Program, Wall};
use place::{LONG, Place};

/// Fails unless everything that an attempt tried, a line each, was stopped.
fn check_held(name: &str, output: &str) {
    let lines: Vec<&str> = output.lines().collect();
    let bad: Vec<&&str> = lines
        .iter()
        .filter(|line| !line.starts_with("held: "))
        .collect();
    assert!(bad.is_empty(), "{name}: {bad:#?}");
    assert!(!lines.is_empty(), "{name} tried nothing");
}

/// Runs an attempt by that interpreter, and fails unless everything it tried was stopped.
async fn attempt(interpreter: &str, name: &str) {
    let Some(place) = Place::new().await else {
        return;
    };
    if !std::path::Path::new(interpreter).exists() {
        eprintln!("skipped: there is no {interpreter}");
        return;
    }
    let script = place.attempts().join(name);
    let program = place.program(Program::new([interpreter, script.to_str().unwrap()]));
    let execution = place.sandbox.execute(program, LONG, None).await.unwrap();
    check_held(name, &execution.stdout);
    assert_eq!(execution.exit_code, Some(0), "{name}: {}", execution.stderr);
    place.check_untouched();
}

macro_rules! attempts {
    ($($name:ident = $interpreter:literal, $script:literal;)+) => {
        $(#[tokio::test]
        async fn $name() {
            attempt($interpreter, $script).await;
        })+

        const SCRIPTS: &[&str] = &[$($script),+];
    };
}

attempts! {
    nothing_outside_is_read = "/bin/sh", "reading_outside.sh";
    nothing_read_only_is_written = "/bin/sh", "writing_read_only.sh";
    no_race_leads_outside = "/usr/bin/python3", "races.py";
    processes_of_the_host_are_out_of_reach = "/usr/bin/python3", "processes.py";
    sockets_lead_nowhere = "/usr/bin/python3", "sockets.py";
    dangerous_calls_are_refused = "/usr/bin/python3", "system_calls.py";
    set_id_bits_and_users_stay = "/usr/bin/python3", "set_ids.py";
    devices_and_terminals_are_out_of_reach = "/usr/bin/python3", "devices.py";
    nothing_is_inherited = "/usr/bin/python3", "inherited.py";
    ordinary_work_still_works = "/bin/sh", "streams.sh";
}

/// The mounts would allow it.
#[tokio::test]
async fn landlock_stands_behind_the_mounts() {
    let Some(place) = Place::new().await else {
        return;
    };
    if !place
        .sandbox
        .effective_policy()
        .walls
        .contains(&Wall::Landlock)
    {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let line = "echo name > /proc/self/comm || echo refused; kill -CONT 1 || echo refused";
    let execution = place
        .sandbox
        .execute(Program::shell(line), LONG, None)
        .await
        .unwrap();
    assert_eq!(
        execution.stdout, "refused\nrefused\n",
        "{}",
        execution.stderr
    );
}

#[test]
fn every_attempt_runs_and_is_listed() {
    let root = place::repository();
    let page = fs::read_to_string(root.join("docs/sandbox-escapes.md")).unwrap();
    let entries = fs::read_dir(root.join("tests/escapes")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name != "tries.py" && !name.starts_with("__")) {
        let runs = SCRIPTS.contains(&name.as_str()) || engines::PROGRAMS.contains(&name.as_str());
        assert!(runs, "nothing runs {name}");
        assert!(
            page.contains(&format!("`{name}`")),
            "the page does not list {name}"
        );
    }
}
