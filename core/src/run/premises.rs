//! The workspace and the sandbox of a run.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Resource, Run, RunCore};
use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught;
use crate::sandbox::{self, Sandbox, SandboxSource};
use crate::workspace::{self, Workspace, WorkspaceSource};

/// What an agent or a runtime says about the workspace and the sandbox of its runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    pub(crate) workspace: Option<WorkspaceSource>,
    pub(crate) sandbox: Option<SandboxSource>,
}

impl Declared {
    pub(crate) fn is_empty(&self) -> bool {
        self.workspace.is_none() && self.sandbox.is_none()
    }

    /// This, and of what it leaves open what `other` says.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            workspace: self.workspace.clone().or_else(|| other.workspace.clone()),
            sandbox: self.sandbox.clone().or_else(|| other.sandbox.clone()),
        }
    }
}

/// The workspace and the sandbox of a run, open.
#[derive(Clone, Default)]
pub(crate) struct Premises {
    pub(crate) workspace: Option<Arc<Workspace>>,
    pub(crate) sandbox: Option<Arc<dyn Sandbox>>,
}

impl RunCore {
    /// Opens what is `declared`: the workspace, then the sandbox over it. What was made for this run is
    /// closed with it, in the other order, even when opening it fails or is cut off.
    pub(crate) async fn open_premises(self: &Arc<Self>, declared: &Declared) -> Result<()> {
        if declared.is_empty() {
            return Ok(());
        }
        let run = Run::new(Arc::clone(self));
        let mut premises = self.premises();
        if let Some(source) = &declared.workspace {
            let workspace = match &source.0 {
                workspace::SourceKind::Supplied(workspace) => Arc::clone(workspace),
                workspace::SourceKind::Made(provider) => {
                    let made = caught("a workspace provider", provider.workspace(&run)).await?;
                    self.resources.register(Box::new(OwnWorkspace {
                        workspace: Arc::clone(&made),
                        run: Arc::downgrade(self),
                    }))?;
                    made
                }
            };
            workspace.open(Some(&run)).await?;
            premises.workspace = Some(workspace);
            self.use_premises(premises.clone());
        }
        if let Some(source) = &declared.sandbox {
            let sandbox = self.open_sandbox(source, &premises, &run).await?;
            premises.workspace = Some(Arc::clone(sandbox.workspace()));
            premises.sandbox = Some(sandbox);
            self.use_premises(premises);
        }
        Ok(())
    }

    async fn open_sandbox(
        &self,
        source: &SandboxSource,
        premises: &Premises,
        run: &Run,
    ) -> Result<Arc<dyn Sandbox>> {
        let sandbox = match &source.0 {
            sandbox::SourceKind::Supplied(sandbox) => {
                sandbox.workspace().open(Some(run)).await?;
                Arc::clone(sandbox)
            }
            sandbox::SourceKind::Made(provider) => {
                let workspace = premises.workspace.as_ref().ok_or_else(|| {
                    Error::new(
                        ErrorKind::Configuration,
                        "a sandbox needs a workspace; declare one for the agent or the runtime",
                    )
                })?;
                let made = provider.sandbox(run, workspace);
                let made = caught("a sandbox provider", made).await?;
                let own = OwnSandbox(Arc::clone(&made));
                self.resources.register(Box::new(own))?;
                made
            }
        };
        caught("a sandbox", sandbox.open(Some(run))).await?;
        Ok(sandbox)
    }

    /// Has tools of this part work in `premises` from now on.
    pub(crate) fn use_premises(&self, premises: Premises) {
        *self.premises.lock() = premises;
    }

    pub(crate) fn premises(&self) -> Premises {
        self.premises.lock().clone()
    }
}

/// A workspace that was made for a run.
struct OwnWorkspace {
    workspace: Arc<Workspace>,
    run: std::sync::Weak<RunCore>,
}

#[async_trait]
impl Resource for OwnWorkspace {
    async fn close(&self) -> Result<()> {
        let run = self.run.upgrade().map(Run::new);
        self.workspace.close(run.as_ref()).await
    }
}

/// A sandbox that was made for a run.
struct OwnSandbox(Arc<dyn Sandbox>);

#[async_trait]
impl Resource for OwnSandbox {
    async fn close(&self) -> Result<()> {
        self.0.close().await
    }
}
