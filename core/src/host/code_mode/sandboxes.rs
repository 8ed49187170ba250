//! Sandboxes of programs that the application makes.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::code_mode::{CodeMode, SandboxChoice, SandboxFactory};
use crate::error::Result;
use crate::host::channel::HostCallKind;
use crate::host::door::Door;
use crate::host::sandbox::{lend_workspace, sandbox_of};
use crate::sandbox::Sandbox;
use crate::workspace::Workspace;

/// Whether `declaration` says that the host makes the sandboxes: `{host: true}`.
pub(super) fn are_of_host(declaration: &Value) -> bool {
    declaration.get("host") == Some(&Value::Bool(true))
}

/// `mode` with the sandboxes of the host in it, if it declares them.
pub(super) fn with_sandboxes(mode: CodeMode, door: &Door) -> CodeMode {
    let own =
        matches!(&mode.sandbox, SandboxChoice::Declared(declaration) if are_of_host(declaration));
    if own {
        mode.sandboxes(HostSandboxes(door.clone()))
    } else {
        mode
    }
}

/// Asks the host: `{op: "sandbox", workspace, runtime_paths}`. It answers as an entrypoint does about its sandbox.
pub(super) struct HostSandboxes(pub(super) Door);

#[async_trait]
impl SandboxFactory for HostSandboxes {
    async fn create(
        &self,
        workspace: &Arc<Workspace>,
        runtime_paths: &[String],
    ) -> Result<Arc<dyn Sandbox>> {
        let lent = lend_workspace(workspace)?;
        let asked =
            json!({"op": "sandbox", "workspace": lent.id(), "runtime_paths": runtime_paths});
        let made = self.0.call(HostCallKind::CodeMode, asked).await?;
        sandbox_of(&self.0, &made)
    }
}
