#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::sandbox::tests::folder::Folder;
use serde_json::json;

/// The answer of a job, once its descriptor says that it is there.
fn answer(job: Result<HostJob>) -> Result<Value> {
    let job = job?;
    // SAFETY: the job owns the descriptor and outlives the borrow.
    #[allow(unsafe_code)]
    let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(job.fd()) };
    let mut wait = [rustix::event::PollFd::new(
        &descriptor,
        rustix::event::PollFlags::IN,
    )];
    rustix::event::poll(&mut wait, None).unwrap();
    job.take().unwrap()
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn workspace(folder: &Folder) -> WorkspaceHandle {
    let root = folder.path().join("root");
    let described = json!({"root": root.to_str().unwrap(), "paths": {"skills": "skills"}});
    WorkspaceHandle::from_map(&map(described)).unwrap()
}

#[test]
fn a_host_opens_a_workspace_around_its_own_setup() {
    let folder = Folder::new();
    let handle = workspace(&folder);
    assert_eq!(answer(handle.begin_opening()).unwrap(), true);
    // Somebody else waits until the setup is over.
    let other = handle.begin_opening().unwrap();
    assert!(other.take().is_none());
    answer(handle.record()).unwrap();
    assert_eq!(answer(Ok(other)).unwrap(), false);
    handle.validate().unwrap();
    assert!(
        handle.info()["paths"]["skills"]
            .as_str()
            .unwrap()
            .ends_with("/root/skills")
    );
    assert_eq!(answer(handle.begin_closing()).unwrap(), true);
    assert_eq!(answer(handle.begin_closing()).unwrap(), false);
    let failed = workspace(&Folder::new());
    assert_eq!(answer(failed.begin_opening()).unwrap(), true);
    failed.give_up();
    assert_eq!(answer(failed.begin_closing()).unwrap(), false);
    let interrupted = workspace(&Folder::new());
    assert_eq!(answer(interrupted.begin_opening()).unwrap(), true);
    interrupted.cut_off();
    assert_eq!(answer(interrupted.begin_closing()).unwrap(), true);
}

#[test]
fn a_host_works_in_a_sandbox() {
    let folder = Folder::new();
    let paths = workspace(&folder);
    answer(paths.begin_opening()).unwrap();
    answer(paths.record()).unwrap();
    let options = map(
        json!({"files": {"root": "read_write"}, "profiles": {"look": {"files": {"root": "read_only"}}}}),
    );
    let sandbox = SandboxHandle::build("unrestricted", &paths, &options).unwrap();
    let perform = |operation: Value| answer(sandbox.perform(&map(operation)));
    perform(json!({"op": "open"})).unwrap();
    perform(json!({"op": "write", "path": "a", "content_base64": "/w=="})).unwrap();
    assert!(
        perform(json!({"op": "read", "path": "a"}))
            .unwrap_err()
            .message()
            .contains("UTF-8")
    );
    perform(json!({"op": "write", "path": "a", "content": "one"})).unwrap();
    perform(json!({"op": "replace", "path": "a", "old_text": "one", "new_text": "two"})).unwrap();
    assert_eq!(
        perform(json!({"op": "tool", "name": "read_file", "input": {"path": "a"}})).unwrap(),
        "two"
    );
    assert_eq!(
        perform(json!({"op": "list", "path": "."})).unwrap(),
        "a\nskills/"
    );
    let execution = perform(
        json!({"op": "execute", "command": "cat; echo $A", "timeout": 60, "environment": {"A": "b"}}),
    );
    assert_eq!(
        execution.unwrap(),
        json!({"stdout": "b\n", "stderr": "", "exit_code": 0, "error": null})
    );
    let look = sandbox.scope(&map(json!({"profile": "look"}))).unwrap();
    assert!(!look.allows("write", Some("a")) && look.allows("read", Some("a")));
    assert_eq!(
        look.info()["narrowing"]["files"],
        json!({"root": "read_only"})
    );
    assert_eq!(look.info()["writable"], false);
    assert!(
        sandbox
            .scope(&map(json!({"profile": "look", "network": false})))
            .is_err()
    );
    for operation in [
        json!({"op": "fly"}),
        json!({}),
        json!({"op": "execute", "command": ["true"]}),
        json!({"op": "start", "command": [1]}),
    ] {
        assert_eq!(
            sandbox.perform(&map(operation)).unwrap_err().kind(),
            ErrorKind::Argument
        );
    }
}

#[test]
fn a_host_talks_to_a_process() {
    let folder = Folder::new();
    let paths = workspace(&folder);
    answer(paths.begin_opening()).unwrap();
    answer(paths.record()).unwrap();
    let sandbox = SandboxHandle::build("unrestricted", &paths, &Map::new()).unwrap();
    let started =
        answer(sandbox.perform(&map(json!({"op": "start", "command": ["cat"]})))).unwrap();
    let process = sandbox
        .process(started["process"].as_u64().unwrap())
        .unwrap();
    assert!(
        sandbox
            .process(started["process"].as_u64().unwrap())
            .is_none()
    );
    assert_eq!(started["pid"], process.pid());
    let perform = |operation: Value| answer(process.perform(&map(operation)));
    assert_eq!(perform(json!({"op": "alive"})).unwrap(), true);
    perform(json!({"op": "write", "data": "hello"})).unwrap();
    let read = perform(json!({"op": "read", "timeout": 60})).unwrap();
    assert_eq!(read["stdout_base64"], "aGVsbG8=");
    perform(json!({"op": "close_write"})).unwrap();
    assert_eq!(
        perform(json!({"op": "wait", "timeout": 60})).unwrap()["code"],
        0
    );
    perform(json!({"op": "close"})).unwrap();
    assert!(process.perform(&map(json!({"op": "fly"}))).is_err());
}

#[test]
fn values_have_one_form() {
    let policy = normalize_sandbox_value("policy", &json!({"network": "none"})).unwrap();
    assert_eq!(policy["files"], json!({"root": "read_only"}));
    assert_eq!(policy["network"], json!({"mode": "none"}));
    assert_eq!(
        normalize_sandbox_value("limits", &json!({})).unwrap()["read_bytes"],
        1_000_000
    );
    assert!(normalize_sandbox_value("scope", &json!({"files": 1})).is_err());
    assert!(normalize_sandbox_value("weather", &json!({})).is_err());
    assert_eq!(sandbox_feature("read"), Some("filesystem_read"));
    let probe = answer(probe_sandbox("unrestricted", &Map::new())).unwrap();
    assert_eq!(probe["available"], true);
    let unknown = answer(probe_sandbox("nothing", &Map::new())).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Dependency);
    assert_eq!(sandbox_tools().as_array().unwrap().len(), 5);
}
