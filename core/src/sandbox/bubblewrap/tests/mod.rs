//! Real programs in real namespaces.

mod files;
mod gateway;
mod probe;
mod programs;

use std::time::Duration;

use super::*;
use crate::sandbox::tests::folder::Folder;
use crate::sandbox::{Access, EnvironmentPolicy, Execution, Narrowing, RootFilesystem};

const LONG: Duration = Duration::from_secs(20);

/// Whether sandboxes can be made here. `LITTLE_GHOST_REQUIRE_SANDBOX=1` makes it an error if not.
pub(crate) async fn can_run() -> bool {
    let probe = Bubblewrap::probe(None, None).await;
    let required = std::env::var("LITTLE_GHOST_REQUIRE_SANDBOX").is_ok_and(|value| value == "1");
    if let Some(reason) = &probe.reason {
        assert!(!required, "a sandbox is required: {reason}");
        eprintln!("skipped: {reason}");
    }
    probe.available
}

async fn sandbox(folder: &Folder, policy: Policy) -> Bubblewrap {
    let sandbox = Bubblewrap::new(folder.opened().await, policy).unwrap();
    sandbox.open(None).await.unwrap();
    sandbox
}

/// A sandbox and its folder; `None` where none can be made.
async fn place(policy: Policy) -> Option<(Folder, Bubblewrap)> {
    if !can_run().await {
        return None;
    }
    let folder = Folder::new();
    let sandbox = sandbox(&folder, policy).await;
    Some((folder, sandbox))
}

async fn shell(sandbox: &Bubblewrap, line: &str) -> Execution {
    sandbox
        .execute(Program::shell(line), LONG, None)
        .await
        .unwrap()
}
