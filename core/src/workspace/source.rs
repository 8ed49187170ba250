//! Where a run gets its workspace from.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Workspace, WorkspaceBuilder};
use crate::error::Result;
use crate::run::Run;

/// Makes a workspace for each run, which opens and closes it.
#[async_trait]
pub trait WorkspaceProvider: Send + Sync {
    /// The workspace of `run`; not open yet.
    ///
    /// # Errors
    /// Any; the run then fails before its agent begins.
    async fn workspace(&self, run: &Run) -> Result<Arc<Workspace>>;
}

/// Where a run gets its workspace from.
#[derive(Clone)]
pub struct WorkspaceSource(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    /// The caller's: opened if necessary, never closed.
    Supplied(Arc<Workspace>),
    /// Made for each run.
    Made(Arc<dyn WorkspaceProvider>),
}

impl WorkspaceSource {
    /// A workspace that `make` gives each run.
    pub fn each_run<F>(make: impl Fn(Run) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Arc<Workspace>>> + Send + 'static,
    {
        Self(Kind::Made(Arc::new(Closure(Box::new(move |run| {
            Box::pin(make(run))
        })))))
    }

    /// The directory at `root`, for each run anew; `name` its paths with [`WorkspaceBuilder::path`].
    pub fn directory(
        root: impl Into<PathBuf>,
        name: impl Fn(WorkspaceBuilder) -> WorkspaceBuilder + Send + Sync + 'static,
    ) -> Self {
        let root = root.into();
        let name = Arc::new(name);
        Self::each_run(move |_| {
            let built = name(Workspace::builder(&root)).build();
            async move { built }
        })
    }

    /// Whatever `provider` makes.
    pub fn provided(provider: impl WorkspaceProvider + 'static) -> Self {
        Self(Kind::Made(Arc::new(provider)))
    }
}

impl From<Arc<Workspace>> for WorkspaceSource {
    fn from(workspace: Arc<Workspace>) -> Self {
        Self(Kind::Supplied(workspace))
    }
}

impl std::fmt::Debug for WorkspaceSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match &self.0 {
            Kind::Supplied(_) => "supplied",
            Kind::Made(_) => "made for each run",
        };
        write!(formatter, "WorkspaceSource({what})")
    }
}

type Pending = std::pin::Pin<Box<dyn Future<Output = Result<Arc<Workspace>>> + Send>>;

struct Closure(Box<dyn Fn(Run) -> Pending + Send + Sync>);

#[async_trait]
impl WorkspaceProvider for Closure {
    async fn workspace(&self, run: &Run) -> Result<Arc<Workspace>> {
        (self.0)(run.clone()).await
    }
}
