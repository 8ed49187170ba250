//! Code of the application that provisions a workspace.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::Workspace;
use crate::error::Result;
use crate::run::Run;

type Pending = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// The setup or the teardown of a workspace.
pub(super) struct Hook(Box<dyn Fn(Arc<Workspace>, Option<Run>) -> Pending + Send + Sync>);

impl Hook {
    pub(super) fn new<F>(
        code: impl Fn(Arc<Workspace>, Option<Run>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        Self(Box::new(move |workspace, run| {
            Box::pin(code(workspace, run))
        }))
    }

    pub(super) async fn call(&self, workspace: Arc<Workspace>, run: Option<Run>) -> Result<()> {
        (self.0)(workspace, run).await
    }
}
