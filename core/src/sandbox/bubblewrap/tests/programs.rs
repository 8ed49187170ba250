//! What programs find, and what becomes of them.

use std::fs;

use super::*;

#[tokio::test]
async fn a_program_runs_where_the_workspace_is() {
    let Some((folder, sandbox)) = place(Policy::writable()).await else {
        return;
    };
    let execution = shell(&sandbox, "pwd; echo hello > file; cat file; exit 3").await;
    let root = folder.path().join("root");
    assert_eq!(execution.stdout, format!("{}\nhello\n", root.display()));
    assert_eq!(
        (execution.stderr.as_str(), execution.exit_code),
        ("", Some(3))
    );
    assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "hello\n");
}

#[tokio::test]
async fn the_environment_is_what_was_given() {
    let policy = Policy {
        environment: EnvironmentPolicy {
            inherit: false,
            values: vec![("A".to_owned(), "from the policy".to_owned())],
        },
        ..Policy::default()
    };
    let Some((folder, sandbox)) = place(policy).await else {
        return;
    };
    let program = Program::new(["/usr/bin/env"]).variable("B", "from the call");
    let output = sandbox.execute(program, LONG, None).await.unwrap().stdout;
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    let root = folder.path().join("root").display().to_string();
    let expected = [
        "A=from the policy".to_owned(),
        "B=from the call".to_owned(),
        format!("LITTLE_GHOST_WORKSPACE_ROOT={root}"),
        format!("PWD={root}"),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn secrets_of_the_environment_are_on_no_command_line() {
    let Some((_folder, sandbox)) = place(Policy::default()).await else {
        return;
    };
    let program = Program::new(["cat"]).variable("TOKEN", "very-secret");
    let process = sandbox.start(program).await.unwrap();
    let line = fs::read_to_string(format!("/proc/{}/cmdline", process.pid())).unwrap();
    assert!(
        line.contains("bwrap") && !line.contains("very-secret"),
        "{line:?}"
    );
    process.close().await.unwrap();
}

#[tokio::test]
async fn a_missing_program_is_127() {
    let Some((folder, sandbox)) = place(Policy::default()).await else {
        return;
    };
    for name in ["no-such-program", "/usr/bin/no-such-program"] {
        let execution = sandbox
            .execute(Program::new([name]), LONG, None)
            .await
            .unwrap();
        assert_eq!(execution.exit_code, Some(127));
        assert_eq!(
            execution.stderr,
            format!("little-ghost: {name}: no such command\n")
        );
    }
    fs::write(folder.path().join("root/data"), "no program").unwrap();
    let execution = sandbox
        .execute(Program::new(["./data"]), LONG, None)
        .await
        .unwrap();
    assert_eq!(execution.exit_code, Some(126));
}

#[tokio::test]
async fn files_of_a_program_exist_for_it_alone() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    for root_filesystem in [RootFilesystem::Isolated, RootFilesystem::ReadOnly] {
        let policy = Policy {
            root_filesystem,
            ..Policy::default()
        };
        let sandbox = sandbox(&folder, policy).await;
        let mut program = Program::new(["/run/own/program", "x"]);
        program.data = vec![(
            "/run/own/program".to_owned(),
            b"#!/bin/sh\necho own $1\n".as_slice().into(),
        )];
        let execution = sandbox.execute(program, LONG, None).await.unwrap();
        assert_eq!(
            (execution.stdout.as_str(), execution.stderr.as_str()),
            ("own x\n", "")
        );
    }
    assert!(!std::path::Path::new("/run/own").exists());
}

#[tokio::test]
async fn a_place_to_start_in_must_exist_inside() {
    let folder = Folder::new();
    folder.file("root/inner/file", "");
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let start = |cwd: &str| sandbox.arguments(&Program::new(["true"]).cwd(cwd));
    for cwd in [
        "/etc",
        "/usr",
        "/tmp/../etc",
        "../x",
        "workspace://unknown/x",
    ] {
        assert_eq!(start(cwd).unwrap_err().kind(), ErrorKind::Policy, "{cwd}");
    }
    for cwd in ["inner", ".", "/tmp", "/run/x"] {
        start(cwd).unwrap();
    }
}

#[tokio::test]
async fn denying_subprocesses_is_refused() {
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let mut program = Program::new(["true"]);
    program.allow_subprocesses = Some(false);
    let problem = sandbox.start(program).await.err().unwrap();
    assert_eq!(problem.kind(), ErrorKind::Capability);
}

#[tokio::test]
async fn the_limits_of_a_program_hold_inside() {
    let Some((_folder, sandbox)) = place(Policy::writable()).await else {
        return;
    };
    let mut program = Program::shell("ulimit -t; ulimit -f; ulimit -c; ulimit -p");
    (program.cpu_seconds, program.file_bytes, program.tasks) = (Some(7), Some(51_200), Some(50));
    let execution = sandbox.execute(program, LONG, None).await.unwrap();
    assert_eq!(execution.stdout, "7\n100\n0\n50\n");
}

struct Refusing;

#[async_trait]
impl CommandWrapper for Refusing {
    async fn wrap(&self, command: Vec<String>, scope: Option<&Narrowing>) -> Result<Vec<String>> {
        assert!(command[0].ends_with("bwrap") && scope.is_none());
        Err(Error::new(ErrorKind::Policy, "not today"))
    }
}

#[tokio::test]
async fn a_wrapper_comes_first() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::default()).unwrap();
    let prefix = ["/usr/bin/env", "WRAPPED=1"].map(str::to_owned).to_vec();
    let sandbox = sandbox.command_wrapper(prefix);
    let execution = shell(&sandbox, "echo through").await;
    assert_eq!(execution.stdout, "through\n");
    let sandbox = sandbox.command_wrapper(Refusing);
    let problem = sandbox
        .execute(Program::new(["true"]), LONG, None)
        .await
        .unwrap_err();
    assert_eq!(problem.message(), "not today");
}
