use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::json;

use super::folder::Folder;
use crate::sandbox::*;
use crate::{Error, ErrorKind};

/// A sandbox that keeps the programs that it is asked to start.
struct Recorder {
    workspace: Arc<Workspace>,
    options: SandboxOptions,
    capabilities: Capabilities,
    started: Mutex<Vec<Program>>,
}

#[async_trait]
impl Sandbox for Recorder {
    fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }
    fn policy(&self) -> &Policy {
        &self.options.policy
    }
    fn effective_policy(&self) -> Policy {
        self.options.policy.clone()
    }
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }
    fn limits(&self) -> &Limits {
        &self.options.limits
    }
    fn profile(&self, name: &str) -> Result<ScopeOptions> {
        self.options.profile(name)
    }
    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        Ok(())
    }
    async fn close(&self) -> Result<()> {
        Err(Error::tool("a scope closed its sandbox"))
    }
    async fn start(&self, program: Program) -> Result<Box<dyn Process>> {
        self.started.lock().push(program);
        Err(Error::tool("started"))
    }
}

async fn recorder(folder: &Folder, policy: serde_json::Value) -> Arc<Recorder> {
    let workspace = folder
        .workspace()
        .path("source", "source")
        .path("home", "home")
        .build()
        .unwrap();
    workspace.open(None).await.unwrap();
    Arc::new(Recorder {
        workspace,
        options: SandboxOptions::from(Policy::from_value(&policy).unwrap()),
        capabilities: Capabilities::new(Feature::ALL, NetworkMode::ALL, "namespace"),
        started: Mutex::default(),
    })
}

fn options(value: serde_json::Value) -> ScopeOptions {
    ScopeOptions::from_value(&value).unwrap()
}

fn refused(sandbox: &Arc<dyn Sandbox>, value: serde_json::Value) -> Error {
    let error = Scope::new(sandbox, options(value)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Capability, "{error}");
    error
}

fn wide() -> serde_json::Value {
    json!({
        "files": {"root": "read_write", "source": "read_only"}, "runtime_paths": {"home": "read_write"},
        "network": "inherit",
    })
}

#[tokio::test]
async fn a_scope_only_narrows() {
    let folder = Folder::new();
    let sandbox: Arc<dyn Sandbox> = recorder(&folder, wide()).await;
    for wider in [
        json!({"files": {"source": "read_write"}}),
        json!({"files": ["home"]}),
        json!({"files": ["elsewhere"]}),
        json!({"runtime_paths": ["source"]}),
        json!({"network": {"mode": "allowlist", "allow": ["a:1"]}}),
    ] {
        refused(&sandbox, wider);
    }
    let scope = Scope::new(
        &sandbox,
        options(json!({"files": {"root": "read_only"}, "network": false})),
    )
    .unwrap();
    let narrowing = scope.narrowing().unwrap();
    assert_eq!(narrowing.files, vec![("root".to_owned(), Access::ReadOnly)]);
    // The other group of paths stays.
    assert_eq!(
        narrowing.runtime_paths,
        vec![("home".to_owned(), Access::ReadWrite)]
    );
    assert_eq!(narrowing.network, Some(NetworkPolicy::none()));
    assert!(!scope.is_writable() && sandbox.is_writable());
    let scope: Arc<dyn Sandbox> = Arc::new(scope);
    refused(&scope, json!({"files": {"root": "read_write"}}));
    refused(&scope, json!({"files": ["source"]}));
    refused(&scope, json!({"network": "inherit"}));
    let same = Scope::new(&scope, options(json!({"network": true}))).unwrap();
    assert_eq!(same.narrowing(), scope.narrowing());
}

#[tokio::test]
async fn a_scope_needs_a_capability_for_what_it_does() {
    let folder = Folder::new();
    let sandbox: Arc<dyn Sandbox> = recorder(&folder, wide()).await;
    let scope = Scope::new(
        &sandbox,
        options(json!({"capabilities": ["filesystem_read", "list"]})),
    )
    .unwrap();
    sandbox.write("notes.md", b"hello").await.unwrap();
    assert_eq!(scope.read("notes.md").await.unwrap(), "hello");
    assert_eq!(scope.list(".").await.unwrap(), "notes.md\nsource/");
    for (problem, feature) in [
        (
            scope.write("notes.md", b"").await.unwrap_err(),
            "filesystem_write",
        ),
        (
            scope.replace("notes.md", "h", "j").await.unwrap_err(),
            "filesystem_replace",
        ),
        (
            scope.start(Program::new(["true"])).await.err().unwrap(),
            "process_execute",
        ),
    ] {
        assert_eq!(problem.kind(), ErrorKind::Tool);
        assert!(problem.message().contains(feature), "{problem}");
    }
    assert!(scope.allows(Feature::FilesystemRead, Some("notes.md")));
    assert!(!scope.allows(Feature::FilesystemWrite, Some("notes.md")));
    assert!(!scope.allows(Feature::FilesystemRead, Some("/etc/passwd")));
    let reading = Scope::new(&sandbox, options(json!({"files": {"root": "read_only"}}))).unwrap();
    assert!(!reading.allows(Feature::FilesystemWrite, None));
    assert!(sandbox.allows(Feature::FilesystemWrite, None));
    assert_eq!(sandbox.read("notes.md").await.unwrap(), "hello");
    // Nothing of the sandbox is closed.
    scope.close().await.unwrap();
}

#[tokio::test]
async fn programs_of_a_scope_carry_it() {
    let folder = Folder::new();
    let recorder = recorder(&folder, wide()).await;
    let sandbox: Arc<dyn Sandbox> = Arc::clone(&recorder) as Arc<dyn Sandbox>;
    let wide = Arc::clone(
        Scope::new(&sandbox, ScopeOptions::default())
            .unwrap()
            .narrowing()
            .unwrap(),
    );
    let options = options(json!({
        "files": {"source": "read_only"}, "runtime_paths": [], "network": false, "capabilities": ["process_execute"],
    }));
    let scope = Scope::new(&sandbox, options).unwrap();
    let _ = scope.start(Program::new(["true"])).await;
    let started = recorder.started.lock().pop().unwrap();
    assert_eq!(started.allow_subprocesses, Some(false));
    let left = sandbox.effective_policy().within(started.scope.as_deref());
    assert_eq!(left.files, vec![("source".to_owned(), Access::ReadOnly)]);
    assert!(left.runtime_paths.is_empty());
    assert_eq!(left.network, Some(NetworkPolicy::none()));
    let widened = Program {
        scope: Some(wide),
        ..Program::new(["true"])
    };
    assert_eq!(
        scope.start(widened).await.err().unwrap().kind(),
        ErrorKind::Capability
    );
    let spawning = Program {
        allow_subprocesses: Some(true),
        ..Program::new(["true"])
    };
    assert_eq!(
        scope.start(spawning).await.err().unwrap().kind(),
        ErrorKind::Tool
    );
    assert!(recorder.started.lock().is_empty());
}

#[tokio::test]
async fn an_allowlist_is_kept_or_taken_away() {
    let folder = Folder::new();
    let policy = json!({"network": {"mode": "allowlist", "allow": ["a:1", "b:1"]}});
    let sandbox: Arc<dyn Sandbox> = recorder(&folder, policy).await;
    let same = json!({"network": {"mode": "allowlist", "allow": ["B:1", "a:1"]}});
    assert!(Scope::new(&sandbox, options(same)).is_ok());
    assert!(Scope::new(&sandbox, options(json!({"network": "none"}))).is_ok());
    refused(
        &sandbox,
        json!({"network": {"mode": "allowlist", "allow": ["a:1"]}}),
    );
    refused(&sandbox, json!({"network": "inherit"}));
}

#[tokio::test]
async fn profiles_are_named_scopes() {
    let folder = Folder::new();
    let mut recorder = Arc::try_unwrap(recorder(&folder, wide()).await)
        .ok()
        .unwrap();
    recorder.options.profiles.insert(
        "review".into(),
        options(json!({"files": {"root": "read_only"}})),
    );
    let sandbox: Arc<dyn Sandbox> = Arc::new(recorder);
    assert!(!Scope::of_profile(&sandbox, "review").unwrap().is_writable());
    assert_eq!(
        Scope::of_profile(&sandbox, "other").unwrap_err().kind(),
        ErrorKind::Policy
    );
}

#[test]
fn options_of_a_scope_are_checked() {
    for value in [
        json!([]),
        json!({"environment": {}}),
        json!({"files": "root"}),
        json!({"files": [1]}),
        json!({"network": 1}),
    ] {
        assert_eq!(
            ScopeOptions::from_value(&value).unwrap_err().kind(),
            ErrorKind::Policy
        );
    }
    let unknown = ScopeOptions::from_value(&json!({"capabilities": ["fly"]})).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Argument);
    assert!(unknown.message().contains("filesystem_read"));
}
