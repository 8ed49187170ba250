//! What every sandbox refuses and bounds, by the one that contains nothing.

use std::time::Duration;

use super::folder::Folder;
use crate::ErrorKind;
use crate::sandbox::*;

#[tokio::test]
async fn options_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    let workspace = folder.opened().await;
    let none = SandboxOptions {
        limits: Limits {
            read_bytes: 0,
            ..Limits::default()
        },
        ..SandboxOptions::default()
    };
    let error = Unrestricted::new(workspace.clone(), none).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let twice = Policy::granting([("root", Access::ReadOnly), ("root", Access::ReadWrite)]);
    let error = Unrestricted::new(workspace, twice).unwrap_err();
    assert!(error.message().contains("named twice"), "{error}");
}

#[tokio::test]
async fn a_program_may_have_all_the_time_there_is_but_not_nothing_at_all() {
    let folder = Folder::new();
    let sandbox = Unrestricted::new(folder.opened().await, Policy::writable()).unwrap();
    let done = sandbox.execute(Program::shell("echo hi"), Duration::MAX, None);
    assert_eq!(done.await.unwrap().stdout, "hi\n");
    for (program, limit) in [
        (Program::shell("true").memory_bytes(0), "memory_bytes"),
        (Program::shell("true").cpu_seconds(0), "cpu_seconds"),
        (
            Program {
                tasks: Some(0),
                ..Program::shell("true")
            },
            "tasks",
        ),
    ] {
        let refused = sandbox.execute(program, Duration::from_secs(5), None).await;
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().starts_with(limit), "{error}");
    }
}
