//! How long a program takes to start in the sandbox of Linux, against `bwrap` alone and against no sandbox.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use little_ghost::sandbox::{Bubblewrap, Policy, Program, Unrestricted};
use little_ghost::{Sandbox, Workspace};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);

/// Milliseconds of `/bin/true`, the median of `count` turns: by `bwrap` alone in the same namespaces, by the sandbox,
/// without one, and of opening the sandbox once more.
pub async fn measure(count: usize) -> Value {
    let folder = super::scratch();
    let workspace = Workspace::builder(&folder).build().unwrap();
    workspace.open(None).await.unwrap();
    let sandbox = Bubblewrap::new(workspace.clone(), Policy::writable()).unwrap();
    sandbox.open(None).await.unwrap();
    let host = Unrestricted::new(workspace, Policy::writable()).unwrap();
    let arguments = sandbox.arguments(&Program::new(["/bin/true"])).unwrap();
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..count {
        let begin = Instant::now();
        let mut bare = Command::new("/usr/bin/bwrap");
        bare.args(&arguments)
            .args(["--", "/bin/true"])
            .env_clear()
            .stdin(Stdio::null());
        assert!(bare.output().unwrap().status.success());
        times[0].push(begin.elapsed());
        times[1].push(run(&sandbox).await);
        times[2].push(run(&*host).await);
        let begin = Instant::now();
        sandbox.open(None).await.unwrap();
        times[3].push(begin.elapsed());
    }
    std::fs::remove_dir_all(folder).unwrap();
    let [bwrap, bubblewrap, unrestricted, open] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    });
    json!({"bwrap": bwrap, "bubblewrap": bubblewrap, "unrestricted": unrestricted, "open": open})
}

async fn run(sandbox: &dyn Sandbox) -> Duration {
    let begin = Instant::now();
    let program = Program::new(["/bin/true"]);
    let execution = sandbox.execute(program, PATIENCE, None).await.unwrap();
    assert!(execution.is_success());
    begin.elapsed()
}
