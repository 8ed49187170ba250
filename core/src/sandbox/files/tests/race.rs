//! Somebody swaps what is opened while it is opened.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::Target;
use super::super::walk::pretend_missing;
use super::super::{read, write};
use super::*;
use crate::sandbox::Access;

const SECRET: &str = "secret of the host";

/// Tries at most this often, and for at most the time that the suite has.
const TRIES: u32 = 1_000_000;

fn patience() -> Duration {
    let seconds = std::env::var("LITTLE_GHOST_RACE_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(2))
}

/// On a busy machine one side may have to wait for its chances.
const AT_MOST: Duration = Duration::from_secs(60);

/// Has the directory `folder` and the file in it be, in turn, honest and a way out, until `done`.
fn swap(root: &Path, outside: &Path, done: &AtomicBool) {
    let (folder, aside) = (root.join("folder"), root.join("aside"));
    let file = folder.join("file");
    let mut round = 0_u32;
    while !done.load(Ordering::Relaxed) {
        round = round.wrapping_add(1);
        if round.is_multiple_of(2) {
            // A link in the place of the directory.
            let _ = fs::rename(&folder, &aside);
            let _ = symlink(outside, &folder);
            thread::yield_now();
            let _ = fs::remove_file(&folder);
            let _ = fs::rename(&aside, &folder);
        } else {
            // A link, then a second name, in the place of the file.
            let _ = fs::remove_file(&file);
            let _ = symlink(outside.join("file"), &file);
            thread::yield_now();
            let _ = fs::remove_file(&file);
            let _ = fs::hard_link(outside.join("file"), &file);
            thread::yield_now();
            let _ = fs::remove_file(&file);
            let _ = fs::write(&file, "inside");
        }
    }
}

async fn survives() {
    let policy = json!({"files": {"root": "read_write"}});
    let place = Place::with(&[], policy).await;
    let secret = place.folder.file("outside/file", SECRET);
    place.folder.file("root/folder/file", "inside");
    let grants = place.policy.process_grants(&place.workspace).unwrap();
    let done = AtomicBool::new(false);
    let root = place.workspace.root().to_owned();
    let outside = secret.parent().unwrap().to_owned();
    let (mut seen, mut refused) = (0_u32, 0_u32);
    thread::scope(|scope| {
        scope.spawn(|| swap(&root, &outside, &done));
        let end = Instant::now() + patience();
        for attempt in 0..TRIES {
            let access = if attempt % 2 == 0 {
                Access::ReadOnly
            } else {
                Access::ReadWrite
            };
            let target =
                Target::find(&place.workspace, grants.clone(), "folder/file", access).unwrap();
            let outcome = if attempt % 2 == 0 {
                read::text(&target, 1_000)
            } else {
                write::whole(&target, b"by the model", 1_000)
            };
            match outcome {
                Ok(text) => {
                    assert!(
                        !text.contains(SECRET),
                        "a race was lost after {attempt} tries"
                    );
                    seen += 1;
                }
                Err(_) => refused += 1,
            }
            let now = Instant::now();
            if now > end + AT_MOST || now > end && seen > 100 && refused > 100 {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(&secret).unwrap(), SECRET);
    // Both sides had their chances.
    assert!(
        seen > 100 && refused > 100,
        "{seen} seen, {refused} refused"
    );
}

/// One test, because how files are opened is a setting of the process.
#[tokio::test]
async fn no_race_leads_outside() {
    survives().await;
    pretend_missing(true);
    survives().await;
    pretend_missing(false);
}
