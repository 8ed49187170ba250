//! How long a program takes to start in the sandbox of Linux, against `bwrap` alone:
//! `cargo run --release -p bench --bin sandbox [COUNT]`. Both run `/bin/true` in the same namespaces, in turn.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use little_ghost::sandbox::{Bubblewrap, Policy, Program, Unrestricted};
use little_ghost::{Sandbox, Workspace};

const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count = std::env::args()
        .nth(1)
        .map_or(200, |text| text.parse().unwrap());
    let folder = std::env::temp_dir().join(format!("little-ghost-bench-{}", std::process::id()));
    let workspace = Workspace::builder(&folder).build().unwrap();
    workspace.open(None).await.unwrap();
    let sandbox = Bubblewrap::new(workspace.clone(), Policy::writable()).unwrap();
    sandbox.open(None).await.unwrap();
    let host = Unrestricted::new(workspace, Policy::writable()).unwrap();
    let arguments = sandbox.arguments(&Program::new(["/bin/true"])).unwrap();
    let mut times: [Vec<Duration>; 3] = Default::default();
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
    }
    for (name, times) in ["bwrap alone", "Bubblewrap", "Unrestricted"]
        .iter()
        .zip(&mut times)
    {
        times.sort_unstable();
        let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
        println!("{name:<14} median {:.2} ms, 95% {:.2} ms", at(50), at(95));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

async fn run(sandbox: &dyn Sandbox) -> Duration {
    let begin = Instant::now();
    let program = Program::new(["/bin/true"]);
    let execution = sandbox.execute(program, PATIENCE, None).await.unwrap();
    assert!(execution.is_success());
    begin.elapsed()
}
