//! Starts that are cut off.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use little_ghost::Sandbox;
use little_ghost::sandbox::Program;

use super::place::{Place, eventually, marked, marker};

const FOLDER: &str = "LITTLE_GHOST_TEST_STARTS";
const MARKER: &str = "LITTLE_GHOST_TEST_MARKER";
const ROUNDS: u64 = 30;
const STARTS: usize = 8;

/// What the next test starts as a process of its own, and kills.
#[tokio::test]
async fn parent_of_many_starts() {
    let (Ok(folder), Ok(marker)) = (std::env::var(FOLDER), std::env::var(MARKER)) else {
        return;
    };
    let sandbox = Arc::new(Place::sandbox(Path::new(&folder)).await);
    let together = Arc::new(Barrier::new(STARTS + 1));
    let starting: Vec<_> = (0..STARTS)
        .map(|_| {
            let (sandbox, marker) = (Arc::clone(&sandbox), marker.clone());
            let together = Arc::clone(&together);
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                together.wait();
                runtime.block_on(sandbox.start(Program::new(["sleep", &marker])))
            })
        })
        .collect();
    fs::write(Path::new(&folder).join("ready"), "").unwrap();
    together.wait();
    // Whoever is started stays until this process is killed.
    let _started: Vec<_> = starting.into_iter().map(thread::JoinHandle::join).collect();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn killing_this_process_while_it_starts_programs_leaves_none() {
    let Some(place) = Place::new().await else {
        return;
    };
    let ready = place.folder().join("ready");
    let mut markers = Vec::new();
    for round in 0..ROUNDS {
        let marker = marker();
        let mut parent = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "starts::parent_of_many_starts", "--nocapture"])
            .env(FOLDER, place.folder())
            .env(MARKER, &marker)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually("it starts programs", || ready.exists()).await;
        // From the first fork to the last exec, and a little longer.
        let moment = Instant::now() + Duration::from_millis(2) * u32::try_from(round).unwrap();
        while Instant::now() < moment {
            tokio::task::yield_now().await;
        }
        parent.kill().unwrap();
        parent.wait().unwrap();
        fs::remove_file(&ready).unwrap();
        eventually("everything ends", || marked(&marker).is_empty()).await;
        markers.push(marker);
    }
    // Who had only been forked when its parent was killed may have gone on since the look.
    for marker in markers {
        eventually("everything ends", || marked(&marker).is_empty()).await;
    }
}
