//! Where a program runs: opened step by step, closed in reverse order.

use std::sync::Arc;

use super::Plan;
use crate::code_mode::sandboxes::subprocesses;
use crate::code_mode::scratch::Scratch;
use crate::error::Result;
use crate::sandbox::{Process, Sandbox};
use crate::workspace::Workspace;

/// What is open so far.
#[derive(Default)]
pub(super) struct Place {
    scratch: Option<Scratch>,
    workspace: Option<Arc<Workspace>>,
    sandbox: Option<Arc<dyn Sandbox>>,
    process: Option<Arc<dyn Process>>,
}

impl Place {
    /// Makes the place of a program and starts its process in it.
    pub(super) async fn open(&mut self, plan: &Plan) -> Result<Arc<dyn Process>> {
        let interpreter = plan.language.interpreter().await?;
        let scratch = self.scratch.insert(Scratch::create().await?);
        let mut builder = Workspace::builder(scratch.root());
        let mut names = Vec::new();
        let folders = interpreter.iter().flat_map(|found| &found.folders);
        for (position, folder) in folders.enumerate() {
            let name = format!("{}_{position}", plan.language.name());
            builder = builder.path(&name, folder);
            names.push(name);
        }
        let temporary = scratch.root().to_string_lossy().into_owned();
        let workspace = self.workspace.insert(builder.build()?);
        workspace.open(None).await?;
        let sandbox = plan.sandboxes.create(workspace, &names).await?;
        let sandbox = self.sandbox.insert(sandbox);
        sandbox.open(None).await?;
        let limits = &plan.limits;
        let mut program = plan
            .language
            .process(interpreter.as_ref(), limits)?
            .variable("TMPDIR", temporary);
        program.allow_subprocesses = Some(subprocesses(&**sandbox)?);
        program.memory_bytes = Some(limits.memory_bytes);
        program.cpu_seconds = Some(limits.cpu_seconds);
        program.file_bytes = Some(limits.file_bytes);
        // Frames are bounded one by one, and what is shown of them is counted.
        program.output_bytes = Some(u64::MAX);
        let process: Arc<dyn Process> = sandbox.start(program).await?.into();
        Ok(Arc::clone(self.process.insert(process)))
    }

    /// Closes everything. All of it is tried; the first failure is returned.
    pub(super) async fn close(&mut self) -> Result<()> {
        let mut closed = Ok(());
        if let Some(process) = self.process.take() {
            closed = closed.and(process.close().await);
        }
        if let Some(sandbox) = self.sandbox.take() {
            closed = closed.and(sandbox.close().await);
        }
        if let Some(workspace) = self.workspace.take() {
            closed = closed.and(workspace.close(None).await);
        }
        if let Some(scratch) = self.scratch.take() {
            closed = closed.and(scratch.remove().await);
        }
        closed
    }
}
