#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::*;
use crate::sandbox::tests::folder::Folder;
use crate::sandbox::{Access, Policy, Sandbox, SandboxSource, Scope, ScopeOptions, Unrestricted};
use crate::testing::{ScriptedModel, Turn};
use crate::workspace::{Workspace, WorkspaceSource};
use crate::{
    Agent, AgentBuilder, Error, ErrorKind, Outcome, Runtime, StreamEvent, ToolStatus, Workflow,
};

async fn unrestricted(folder: &Folder, policy: Policy) -> Arc<dyn Sandbox> {
    Unrestricted::new(folder.opened().await, policy).unwrap()
}

fn agent(calls: &[(&str, Value)]) -> AgentBuilder {
    let turns = calls
        .iter()
        .map(|(name, input)| Turn::tool(*name, input.clone()));
    Agent::builder("editor").model(ScriptedModel::new(turns.chain([Turn::text("Done.")])))
}

/// What the tools of a run returned.
async fn results(agent: &Agent) -> Vec<(ToolStatus, String)> {
    let mut stream = agent.stream_ask("Go").unwrap();
    let mut results = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::ToolStop { result, .. } = event {
            results.push((result.status, result.content.text()));
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed), "{:?}", run.error());
    results
}

#[tokio::test]
async fn an_agent_edits_files() {
    let folder = Folder::new();
    let sandbox = unrestricted(&folder, Policy::writable()).await;
    let agent = agent(&[
        ("write_file", json!({"path": "a.md", "content": "one two"})),
        (
            "replace_in_file",
            json!({"path": "a.md", "old_text": "two", "new_text": "three"}),
        ),
        ("read_file", json!({"path": "a.md"})),
        ("list_files", json!({})),
        ("read_file", json!({"path": "/etc/passwd"})),
        ("read_file", json!({"path": "workspace://nothing/a"})),
    ])
    .sandbox(sandbox)
    .tool_provider(Filesystem::new())
    .build()
    .unwrap();
    let expected = [
        (ToolStatus::Success, "Wrote 7 bytes to a.md."),
        (ToolStatus::Success, "Wrote 9 bytes to a.md."),
        (ToolStatus::Success, "one three"),
        (ToolStatus::Success, "a.md"),
        (
            ToolStatus::Error,
            "The path \"/etc/passwd\" is absolute; use a path relative to the workspace, or \
             workspace://name/path.",
        ),
        (
            ToolStatus::Error,
            "The tool failed unexpectedly (KeyError).",
        ),
    ];
    let expected = expected.map(|(status, text)| (status, text.to_owned()));
    assert_eq!(results(&agent).await, expected);
}

#[tokio::test]
async fn tools_follow_the_policy() {
    let folder = Folder::new();
    let names = |sandbox: &Arc<dyn Sandbox>| -> Vec<&str> {
        Filesystem::operations(&**sandbox)
            .into_iter()
            .map(Operation::name)
            .collect()
    };
    let sandbox = unrestricted(&folder, Policy::default()).await;
    assert_eq!(names(&sandbox), ["read_file", "list_files"]);
    let sandbox = unrestricted(&Folder::new(), Policy::writable()).await;
    assert_eq!(
        names(&sandbox),
        ["read_file", "list_files", "write_file", "replace_in_file"]
    );
    let scope = ScopeOptions::default().file("root", Access::ReadOnly);
    let scope: Arc<dyn Sandbox> = Arc::new(Scope::new(&sandbox, scope).unwrap());
    assert_eq!(names(&scope), ["read_file", "list_files"]);
    for operation in Operation::ALL {
        assert_eq!(Operation::from_name(operation.name()), Some(operation));
        assert_eq!(
            operation.definition().unwrap().to_value(),
            operation.to_value()
        );
    }
}

#[tokio::test]
async fn tools_without_a_sandbox_fail() {
    let without = agent(&[]).tool_provider(Filesystem::new()).build().unwrap();
    let run = without.ask("Go").await.unwrap();
    assert_eq!(run.error().unwrap().kind(), ErrorKind::Configuration);
    let alone = agent(&[("shell", json!({"command": ["true"]}))]).tool(SandboxTool::shell());
    let results = results(&alone.build().unwrap()).await;
    assert_eq!(
        results[0].1,
        "The tool failed unexpectedly (ConfigurationError)."
    );
}

#[tokio::test]
async fn a_program_is_run_without_a_shell() {
    let folder = Folder::new();
    let sandbox = unrestricted(&folder, Policy::default()).await;
    let words = |command: &[&str]| ("shell", json!({"command": command}));
    let agent = agent(&[
        words(&["printf", "%s|", "a b", "$HOME", "*"]),
        words(&["sh", "-c", "echo out; echo err >&2; exit 3"]),
        words(&["sh", "-c", "kill -9 $$"]),
        words(&["no-such-program-anywhere", "secret"]),
        words(&[]),
        words(&[
            "sh",
            "-c",
            "env | grep -v '^PWD=\\|^_=\\|^SHLVL=' | cut -d= -f1 | sort",
        ]),
    ])
    .sandbox(sandbox)
    .tool(SandboxTool::shell())
    .build()
    .unwrap();
    let results = results(&agent).await;
    let expected = [
        json!({"stdout": "a b|$HOME|*|", "stderr": "", "exit_status": 0, "success": true}),
        json!({"stdout": "out\n", "stderr": "err\n", "exit_status": 3, "success": false}),
        json!({"stdout": "", "stderr": "", "exit_status": null, "success": null}),
        json!({
            "stdout": "", "stderr": "no-such-program-anywhere: program not found\n",
            "exit_status": 127, "success": false,
        }),
    ];
    for (expected, (status, text)) in expected.iter().zip(&results) {
        assert_eq!(*status, ToolStatus::Success);
        assert_eq!(*text, expected.to_string());
    }
    assert_eq!(results[4].0, ToolStatus::Error);
    assert!(results[4].1.contains("empty"));
    let environment: Value = serde_json::from_str(&results[5].1).unwrap();
    assert_eq!(environment["stdout"], "LITTLE_GHOST_WORKSPACE_ROOT\n");
}

#[tokio::test]
async fn output_is_cut_and_time_is_bounded() {
    let folder = Folder::new();
    let sandbox = unrestricted(&folder, Policy::default()).await;
    let program = |line: &str| crate::sandbox::Program::shell(line);
    let long = Duration::from_secs(60);
    let flood = sandbox
        .execute(
            program("head -c 300000 /dev/zero; printf tail >&2"),
            long,
            Some(10),
        )
        .await
        .unwrap();
    let zeros = "\0".repeat(10);
    assert_eq!(
        flood.stdout,
        format!("{zeros}\n[output truncated at 10 bytes]\n")
    );
    assert_eq!((flood.stderr.as_str(), flood.exit_code), ("tail", Some(0)));
    let cut = sandbox
        .execute(program("printf 'aé'"), long, Some(2))
        .await
        .unwrap();
    assert_eq!(cut.stdout, "a\n[output truncated at 2 bytes]\n");
    let problem = sandbox
        .execute(program("sleep 100"), Duration::from_millis(50), None)
        .await
        .unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Tool);
    assert!(
        sandbox
            .execute(program("pwd"), long, None)
            .await
            .unwrap()
            .stdout
            .ends_with("/root\n")
    );
}

#[tokio::test]
async fn files_of_one_program_are_nowhere_else() {
    let folder = Folder::new();
    let sandbox = unrestricted(&folder, Policy::default()).await;
    let mut program = crate::sandbox::Program::new(["/bin/sh", "/inside/program.sh", "word"]);
    let script: &[u8] = b"echo \"$1\"; echo more >> \"$0\" || echo closed";
    program
        .data
        .push(("/inside/program.sh".into(), script.into()));
    let execution = sandbox
        .execute(program, Duration::from_secs(60), None)
        .await
        .unwrap();
    assert_eq!(execution.stdout, "word\nclosed\n");
}

#[tokio::test]
async fn an_unrestricted_sandbox_promises_nothing() {
    let folder = Folder::new();
    let workspace = folder.opened().await;
    let policy = |value: Value| Policy::from_value(&value).unwrap();
    for network in [
        json!("none"),
        json!({"mode": "allowlist", "allow": ["a:1"]}),
    ] {
        let problem =
            Unrestricted::new(Arc::clone(&workspace), policy(json!({"network": network})));
        assert_eq!(problem.unwrap_err().kind(), ErrorKind::Capability);
    }
    let unknown = Unrestricted::new(
        Arc::clone(&workspace),
        policy(json!({"files": {"x": "read_only"}})),
    );
    assert_eq!(unknown.unwrap_err().kind(), ErrorKind::Policy);
    let sandbox: Arc<dyn Sandbox> = Unrestricted::new(workspace, Policy::default()).unwrap();
    sandbox.open(None).await.unwrap();
    assert_eq!(
        sandbox.effective_policy().to_value()["root_filesystem"],
        "read_write"
    );
    assert_eq!(sandbox.capabilities().isolation, "none");
    let demanding = crate::sandbox::Program {
        allow_subprocesses: Some(false),
        ..crate::sandbox::Program::new(["true"])
    };
    assert_eq!(
        sandbox.start(demanding).await.err().unwrap().kind(),
        ErrorKind::Capability
    );
    let scope = Scope::new(&sandbox, ScopeOptions::default().no_network()).unwrap();
    let problem = scope
        .start(crate::sandbox::Program::new(["true"]))
        .await
        .err()
        .unwrap();
    assert_eq!(problem.kind(), ErrorKind::Capability);
}

/// A source of workspaces that tells in `log` what happens to them.
fn logged(folder: &Folder, log: &Arc<parking_lot::Mutex<Vec<String>>>) -> WorkspaceSource {
    let root = folder.path().join("runs");
    let log = Arc::clone(log);
    WorkspaceSource::each_run(move |run| {
        let (setup, teardown) = (Arc::clone(&log), Arc::clone(&log));
        let built = Workspace::builder(root.join(run.operation_id()))
            .setup(move |_, run| {
                assert!(run.is_some());
                setup.lock().push("setup".into());
                async { Ok(()) }
            })
            .teardown(move |workspace, _| {
                let removed = std::fs::remove_dir_all(workspace.root());
                teardown
                    .lock()
                    .push(format!("teardown {}", removed.is_ok()));
                async { Ok(()) }
            })
            .build();
        async move { built }
    })
}

fn sandboxes(log: &Arc<parking_lot::Mutex<Vec<String>>>, fail: bool) -> SandboxSource {
    let log = Arc::clone(log);
    SandboxSource::each_run(move |_, workspace| {
        log.lock()
            .push(format!("sandbox {}", workspace.root().is_dir()));
        let made = Unrestricted::new(workspace, Policy::writable());
        async move {
            match fail {
                true => Err(Error::tool("no sandbox today")),
                false => made.map(|made| made as Arc<dyn Sandbox>),
            }
        }
    })
}

#[tokio::test]
async fn a_run_closes_what_was_made_for_it() {
    let folder = Folder::new();
    let log = Arc::default();
    let write = ("write_file", json!({"path": "a", "content": "a"}));
    let built = |fail: bool| {
        agent(std::slice::from_ref(&write))
            .workspace(logged(&folder, &log))
            .sandbox(sandboxes(&log, fail))
            .tool(SandboxTool::write_file())
            .build()
            .unwrap()
    };
    results(&built(false)).await;
    assert_eq!(
        std::mem::take(&mut *log.lock()),
        ["setup", "sandbox true", "teardown true"]
    );
    let run = built(true).ask("Go").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    assert_eq!(run.error().unwrap().message(), "no sandbox today");
    assert_eq!(
        std::mem::take(&mut *log.lock()),
        ["setup", "sandbox true", "teardown true"]
    );
}

#[tokio::test]
async fn a_cancelled_run_closes_what_was_made_for_it() {
    let folder = Folder::new();
    let log: Arc<parking_lot::Mutex<Vec<String>>> = Arc::default();
    let agent = agent(&[("shell", json!({"command": ["sleep", "1000"]}))])
        .workspace(logged(&folder, &log))
        .sandbox(sandboxes(&log, false))
        .tool(SandboxTool::shell())
        .build()
        .unwrap();
    let mut stream = agent.stream_ask("Go").unwrap();
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::ToolStart { .. }) {
            stream.run().cancel();
        }
    }
    assert_eq!(stream.run().outcome(), Some(Outcome::Cancelled));
    assert_eq!(
        std::mem::take(&mut *log.lock()),
        ["setup", "sandbox true", "teardown true"]
    );
}

#[tokio::test]
async fn what_a_caller_supplies_stays_the_callers() {
    let folder = Folder::new();
    let torn_down = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&torn_down);
    let workspace = folder
        .workspace()
        .teardown(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok(()) }
        })
        .build()
        .unwrap();
    let sandbox = Unrestricted::new(Arc::clone(&workspace), Policy::writable()).unwrap();
    let model = ScriptedModel::new([Turn::tool(
        "write_file",
        json!({"path": "a", "content": "x"}),
    )]);
    let runtime = Runtime::builder()
        .model_override(model)
        .sandbox(sandbox)
        .build()
        .unwrap();
    let agent = Agent::builder("editor")
        .runtime(runtime)
        .tool_provider(Filesystem::exclusive())
        .build()
        .unwrap();
    // The script ends after the call; the file is there all the same.
    let run = agent.ask("Go").await.unwrap();
    assert_eq!(run.sandbox().unwrap().read("a").await.unwrap(), "x");
    assert_eq!(torn_down.load(Ordering::SeqCst), 0);
    workspace.close(None).await.unwrap();
    assert_eq!(torn_down.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn participants_work_in_the_sandbox_of_the_run_or_in_their_own() {
    let (shared, own) = (Folder::new(), Folder::new());
    let around = unrestricted(&shared, Policy::writable()).await;
    let write = ("write_file", json!({"path": "a", "content": "x"}));
    let first = agent(std::slice::from_ref(&write))
        .tool(SandboxTool::write_file())
        .build()
        .unwrap();
    let second = agent(&[write])
        .sandbox(unrestricted(&own, Policy::writable()).await)
        .tool(SandboxTool::write_file())
        .build()
        .unwrap();
    let runtime = Runtime::builder().sandbox(around).build().unwrap();
    let workflow = Workflow::new("both", move |workflow| {
        let (first, second) = (first.clone(), second.clone());
        async move {
            workflow.invoke(&first).text().await?;
            Ok(workflow.invoke(&second))
        }
    });
    let run = workflow.with_runtime(runtime).ask("Go").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed), "{:?}", run.error());
    for folder in [shared, own] {
        assert_eq!(
            std::fs::read_to_string(folder.path().join("root/a")).unwrap(),
            "x"
        );
    }
}
