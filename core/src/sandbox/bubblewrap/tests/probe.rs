//! Whether there can be sandboxes at all.

use std::fs;

use super::*;

#[tokio::test]
async fn all_walls_of_this_machine_are_named() {
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let walls = sandbox.effective_policy().walls;
    assert!(walls.is_superset(&BTreeSet::from([Wall::Namespaces, Wall::Seccomp])));
    assert_eq!(
        walls.contains(&Wall::Landlock),
        landlock::version().is_some()
    );
    let told = sandbox.effective_policy().to_value();
    assert_eq!(told["walls"][0], "namespaces");
    assert_eq!(told["network"]["mode"], "none");
}

#[tokio::test]
async fn without_bwrap_nothing_opens() {
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let sandbox = sandbox.executable("/nowhere/bwrap");
    assert_eq!(
        sandbox.open(None).await.unwrap_err().kind(),
        ErrorKind::Dependency
    );
    let probe = Bubblewrap::probe(Some("/nowhere/bwrap".as_ref()), None).await;
    assert!(!probe.available && probe.reason.unwrap().contains("missing"));
    let elsewhere = Bubblewrap::probe(None, Some("arm64-darwin24")).await;
    assert!(elsewhere.reason.unwrap().contains("belongs to Linux"));
    let broken = Bubblewrap::probe(Some("/bin/false".as_ref()), None).await;
    assert!(broken.reason.unwrap().contains("cannot make a sandbox"));
}

#[tokio::test]
async fn a_set_up_that_fails_is_no_exit_code() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::default()).unwrap();
    let sandbox = sandbox.runtime_roots(["/usr", "/nowhere"]).unwrap();
    let problem = sandbox
        .execute(Program::new(["true"]), LONG, None)
        .await
        .unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::SandboxConfiguration);
    assert!(problem.message().contains("/nowhere"), "{problem}");
}

/// A stand-in for `bwrap` that counts how often it is started, and then does `what`.
fn counting(folder: &Folder, what: &str) -> PathBuf {
    let count = folder.path().join("count");
    let script = format!("#!/bin/sh\necho >> {}\n{what}\n", count.display());
    let path = folder.path().join("bwrap");
    // Not written by this process: children that other tests start at this moment would have it open for writing.
    let line = "printf %s \"$1\" > \"$2\"; chmod 755 \"$2\"";
    let mut writing = Command::new("/bin/sh");
    writing.args(["-c", line, "sh", &script]).arg(&path);
    assert!(writing.status().unwrap().success());
    path
}

fn starts(folder: &Folder) -> usize {
    let count = fs::read(folder.path().join("count"));
    count.map_or(0, |lines| lines.len())
}

#[tokio::test]
async fn what_has_worked_is_not_probed_again_until_it_changes() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let executable = counting(&folder, "exec /usr/bin/bwrap \"$@\"");
    let workspace = folder.opened().await;
    let make = || {
        let sandbox = Bubblewrap::new(workspace.clone(), Policy::writable()).unwrap();
        sandbox.executable(&executable)
    };
    let (first, second) = (make(), make());
    for sandbox in [&first, &first, &second] {
        sandbox.open(None).await.unwrap();
        assert_eq!(starts(&folder), 1);
    }
    let other = make().proc(ProcFilesystem::Absent);
    other.open(None).await.unwrap();
    assert_eq!(starts(&folder), 2);
    // Who asks gets an answer of this moment.
    let probe = Bubblewrap::probe(Some(&executable), None).await;
    assert_eq!((probe.reason, starts(&folder)), (None, 3));
    let elsewhere = make().platform("darwin").open(None).await.unwrap_err();
    assert_eq!(elsewhere.kind(), ErrorKind::UnsupportedPlatform);

    counting(&folder, "exit 1");
    for count in [4, 5] {
        let problem = first.open(None).await.unwrap_err();
        assert_eq!(problem.kind(), ErrorKind::Dependency);
        assert_eq!(starts(&folder), count);
    }
    counting(&folder, "exec  /usr/bin/bwrap  \"$@\"");
    for sandbox in [&first, &second] {
        sandbox.open(None).await.unwrap();
        assert_eq!(starts(&folder), 6);
    }
}
