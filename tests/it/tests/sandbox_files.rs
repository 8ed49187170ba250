//! The cases of `tests/conformance/sandbox/files.json`, as calls of a model in a run.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt;
use little_ghost::sandbox::{SandboxOptions, Unrestricted};
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::tools::{Operation, SandboxTool};
use little_ghost::{Agent, Sandbox, StreamEvent, ToolStatus, Workspace};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    paths: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    hard_links: BTreeMap<String, String>,
    policy: Map<String, Value>,
    limits: Option<Value>,
    calls: Vec<Call>,
    #[serde(default)]
    after: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    input: Value,
    text: Option<String>,
    error: Option<String>,
}

/// A directory that goes away with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

async fn sandbox(case: &Case, folder: &Path) -> Arc<dyn Sandbox> {
    fs::create_dir_all(folder.join("root")).unwrap();
    for (path, content) in &case.files {
        write(&folder.join(path), content);
    }
    for (path, content) in &case.links {
        symlink(content, folder.join(path)).unwrap();
    }
    for (path, other) in &case.hard_links {
        fs::hard_link(folder.join(other), folder.join(path)).unwrap();
    }
    let mut workspace = Workspace::builder(folder.join("root"));
    for (name, path) in &case.paths {
        workspace = match path.strip_prefix("../") {
            Some(outside) => workspace.path(name, folder.join(outside)),
            None => workspace.path(name, path),
        };
    }
    let workspace = workspace.build().unwrap();
    workspace.open(None).await.unwrap();
    let mut options = case.policy.clone();
    options.insert("limits".into(), json!(case.limits));
    let (options, rest) = SandboxOptions::from_map(&options).unwrap();
    assert!(rest.is_empty(), "{rest:?}");
    Unrestricted::new(workspace, options).unwrap()
}

/// What differs from what the case expects.
async fn differences(case: &Case) -> Vec<String> {
    let name = format!(
        "little-ghost-files-{}-{}",
        std::process::id(),
        case.name.replace(' ', "-")
    );
    let folder = Folder(std::env::temp_dir().join(name));
    let turns = case
        .calls
        .iter()
        .map(|call| Turn::tool(&call.tool, call.input.clone()));
    let mut agent = Agent::builder("editor")
        .model(ScriptedModel::new(turns.chain([Turn::text("Done.")])))
        .sandbox(sandbox(case, &folder.0).await);
    for operation in Operation::ALL {
        agent = agent.tool(SandboxTool::new(operation));
    }
    let mut stream = agent.build().unwrap().stream_ask("Go").unwrap();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::ToolStop { result, .. } = event {
            seen.push((result.status == ToolStatus::Success, result.content.text()));
        }
    }
    let expected: Vec<(bool, String)> = case
        .calls
        .iter()
        .map(|call| match (&call.text, &call.error) {
            (Some(text), None) => (true, text.clone()),
            (None, Some(error)) => (false, error.clone()),
            _ => panic!("{}: a call has either text or error", case.name),
        })
        .collect();
    let mut found = Vec::new();
    if seen != expected {
        found.push(format!("expected {expected:#?}\n     got {seen:#?}"));
    }
    for (path, content) in &case.after {
        let left = fs::read_to_string(folder.0.join(path));
        if left.as_ref().ok() != Some(content) {
            found.push(format!("{path} is {left:?}"));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/sandbox/files.json");
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let only = std::env::var("CASE").unwrap_or_default();
    let mut failures = Vec::new();
    for case in cases.iter().filter(|case| case.name.contains(&only)) {
        for difference in differences(case).await {
            failures.push(format!("{}: {difference}", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(cases.len() >= 30);
}
