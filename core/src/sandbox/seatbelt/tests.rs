#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::json;

use super::*;
use crate::sandbox::tests::folder::Folder;

async fn seatbelt(folder: &Folder, policy: serde_json::Value) -> Seatbelt {
    let source = folder.path().join("so\"urce");
    std::fs::create_dir_all(&source).unwrap();
    let workspace = folder
        .workspace()
        .path("skills", "skills")
        .path("source", source)
        .build()
        .unwrap();
    workspace.open(None).await.unwrap();
    Seatbelt::new(workspace, Policy::from_value(&policy).unwrap()).unwrap()
}

fn rendered(sandbox: &Seatbelt, subprocesses: bool) -> String {
    let policy = sandbox.effective_policy();
    sandbox
        .profile_of(&policy, Path::new("/private/tmp/scratch"), subprocesses)
        .unwrap()
}

/// Where `part` is; each line is there once.
fn at(text: &str, part: &str) -> usize {
    assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    text.find(part).unwrap()
}

#[tokio::test]
async fn an_isolated_profile_opens_grants_and_what_programs_need() {
    let folder = Folder::new();
    let policy = json!({
        "files": {"skills": "read_only", "root": "read_write"}, "runtime_paths": {"source": "read_only"},
    });
    let sandbox = seatbelt(&folder, policy).await;
    let text = rendered(&sandbox, false);
    assert!(text.starts_with("(version 1)\n(deny default)\n"));
    let root = sandbox.workspace().root().display().to_string();
    // The root first, so that what lies inside of it has the last word.
    let open = at(
        &text,
        &format!("(allow file-read* file-write* (subpath \"{root}\"))"),
    );
    let closed = at(
        &text,
        &format!("(deny file-write* (subpath \"{root}/skills\"))"),
    );
    assert!(open < closed);
    at(&text, "/so\\\"urce\"))\n(deny file-write* (subpath");
    at(
        &text,
        &format!("(deny file-write-unlink (literal \"{root}/skills\"))"),
    );
    at(
        &text,
        "(allow file-read* file-write* (subpath \"/private/tmp/scratch\"))",
    );
    at(&text, "(allow file-read* (subpath \"/usr\"))");
    for absent in [
        "network",
        "process-fork",
        "(allow file-read*)",
        "mach-lookup (global-name \"com.apple.dnssd",
    ] {
        assert!(!text.contains(absent), "{absent}");
    }
    assert_eq!(text.matches('(').count(), text.matches(')').count());
}

#[tokio::test]
async fn a_wider_policy_is_a_wider_profile() {
    let folder = Folder::new();
    let policy = json!({"root_filesystem": "read_only", "network": "inherit"});
    let sandbox = seatbelt(&folder, policy).await;
    let text = rendered(&sandbox, true);
    for part in [
        "(allow file-read*)",
        "(allow network*)",
        "(allow process-fork)",
    ] {
        at(&text, part);
    }
    assert!(!text.contains("(allow file-read* file-write*)\n"));
    assert!(sandbox.capabilities().supports(Feature::ProcessSpawn));
    let isolated = seatbelt(&folder, json!({})).await;
    assert!(!isolated.capabilities().supports(Feature::ProcessSpawn));
    assert!(
        !isolated
            .capabilities()
            .supports(Feature::ProcessTreeOwnership)
    );
    assert_eq!(
        isolated.effective_policy().network,
        Some(NetworkPolicy::none())
    );
    let all = seatbelt(&folder, json!({"root_filesystem": "read_write"})).await;
    at(&rendered(&all, true), "(allow file-read* file-write*)\n");
}

#[tokio::test]
async fn what_seatbelt_cannot_do_is_refused() {
    let folder = Folder::new();
    let workspace = folder.opened().await;
    let allowlist = json!({"network": {"mode": "allowlist", "allow": ["a:1"]}});
    let policy = Policy::from_value(&allowlist).unwrap();
    let problem = Seatbelt::new(Arc::clone(&workspace), policy).unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Capability);
    let unknown = Policy::from_value(&json!({"files": {"nothing": "read_only"}})).unwrap();
    let problem = Seatbelt::new(Arc::clone(&workspace), unknown).unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Policy);
    let probe = Seatbelt::probe(None, Some("x86_64-linux"));
    assert!(!probe.available && probe.reason.unwrap().contains("macOS"));
    let probe = Seatbelt::probe(
        Some(Path::new("/nonexistent/sandbox-exec")),
        Some("arm64-darwin24"),
    );
    assert!(!probe.available && probe.reason.unwrap().contains("missing"));
    let closed = Seatbelt::new(workspace, Policy::default())
        .unwrap()
        .platform("linux");
    let problem = closed.open(None).await.unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::UnsupportedPlatform);
    let problem = closed.start(Program::new(["true"])).await.err().unwrap();
    assert!(problem.message().contains("not open"));
}

/// Stands in for `sandbox-exec` where there is none: it shows what it was asked for.
#[cfg(not(target_os = "macos"))]
#[tokio::test]
async fn programs_are_started_under_the_profile() {
    let folder = Folder::new();
    let executable = folder.file(
        "sandbox-exec",
        "#!/bin/sh\nprintf '%s\\n' \"$1\" \"$3\" \"$4\" \"$TMPDIR\"\nprintf '%s' \"$2\" >&2\n",
    );
    let mut permissions = std::fs::metadata(&executable).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&executable, permissions).unwrap();
    let sandbox = seatbelt(&folder, json!({}))
        .await
        .executable(&executable)
        .platform("darwin");
    sandbox.open(None).await.unwrap();
    let timeout = std::time::Duration::from_secs(30);
    let execution = sandbox
        .execute(Program::new(["/bin/ls"]), timeout, None)
        .await
        .unwrap();
    let lines: Vec<&str> = execution.stdout.lines().collect();
    assert_eq!(lines[..3], ["-p", "--", "/bin/ls"]);
    let scratch = PathBuf::from(lines[3]);
    assert!(scratch.is_dir());
    assert!(execution.stderr.contains("(deny default)"));
    let spawning = Program {
        allow_subprocesses: Some(true),
        ..Program::new(["/bin/ls"])
    };
    assert_eq!(
        sandbox.start(spawning).await.err().unwrap().kind(),
        ErrorKind::Capability
    );
    sandbox.close().await.unwrap();
    sandbox.close().await.unwrap();
    assert!(!scratch.exists());
}

#[cfg(target_os = "macos")]
#[tokio::test]
async fn the_profile_holds() {
    let folder = Folder::new();
    let secret = folder.file("secret", "secret");
    let sandbox = seatbelt(
        &folder,
        json!({"files": {"root": "read_write", "skills": "read_only"}}),
    )
    .await;
    sandbox.open(None).await.unwrap();
    let run = |line: String| {
        let words = ["/bin/bash".to_owned(), "-c".into(), line];
        sandbox.execute(
            Program::new(words),
            std::time::Duration::from_secs(30),
            None,
        )
    };
    assert!(run("echo hello > file".into()).await.unwrap().is_success());
    assert_eq!(sandbox.read("file").await.unwrap(), "hello\n");
    assert!(
        !run(format!("read line < {}", secret.display()))
            .await
            .unwrap()
            .is_success()
    );
    assert!(
        !run("echo x > skills/file".into())
            .await
            .unwrap()
            .is_success()
    );
    assert!(
        !run("echo x > /dev/tcp/127.0.0.1/9".into())
            .await
            .unwrap()
            .is_success()
    );
    sandbox.close().await.unwrap();
}
