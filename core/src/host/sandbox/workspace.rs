//! A workspace in the hands of a host, which runs setup and teardown itself.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::table::WORKSPACES;
use crate::error::{Error, ErrorKind, Result};
use crate::host::HostJob;
use crate::workspace::{Identities, Opening, Workspace};

/// A workspace in the hands of a host, which runs setup and teardown itself.
pub struct WorkspaceHandle {
    id: u64,
    workspace: Arc<Workspace>,
    opening: Arc<Mutex<Option<Opening<Identities>>>>,
}

impl WorkspaceHandle {
    /// Reads `{root, paths: {name: path}}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for unusable names and paths.
    pub fn from_map(map: &Map<String, Value>) -> Result<Self> {
        let text = |value: &Value| {
            value
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| Error::new(ErrorKind::Argument, "workspace: a path must be a text"))
        };
        let root = text(map.get("root").unwrap_or(&Value::Null))?;
        let mut builder = Workspace::builder(root);
        if let Some(Value::Object(paths)) = map.get("paths") {
            for (name, path) in paths {
                builder = builder.path(name, text(path)?);
            }
        }
        Self::of(builder.build()?)
    }

    fn of(workspace: Arc<Workspace>) -> Result<Self> {
        Ok(Self {
            id: WORKSPACES.add(Arc::downgrade(&workspace))?,
            workspace,
            opening: Arc::default(),
        })
    }

    /// Another handle of the workspace that the engine says is `id`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when there is none.
    pub fn adopt(id: u64) -> Result<Self> {
        Self::of(WORKSPACES.get(Some(id))?)
    }

    /// The number by which a run finds it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The engine's workspace.
    #[must_use]
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// `{root, paths, environment}`.
    #[must_use]
    pub fn info(&self) -> Value {
        let paths = self.workspace.paths().iter();
        let paths: Map<String, Value> = paths
            .map(|(name, path)| (name.clone(), json!(path.to_string_lossy())))
            .collect();
        let environment: Map<String, Value> = self
            .workspace
            .environment()
            .into_iter()
            .map(|(name, value)| (name, json!(value)))
            .collect();
        json!({
            "root": self.workspace.root().to_string_lossy(), "paths": paths,
            "environment": environment,
        })
    }

    /// The host path of a logical one.
    ///
    /// # Errors
    /// As [`Workspace::resolve`].
    pub fn resolve(&self, reference: &str) -> Result<String> {
        let path = self.workspace.resolve(reference)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// The logical path of a host path.
    ///
    /// # Errors
    /// As [`Workspace::reference`].
    pub fn reference(&self, physical: &str) -> Result<String> {
        self.workspace.reference(Path::new(physical))
    }

    /// Fails when a directory was replaced.
    ///
    /// # Errors
    /// As [`Workspace::validate`].
    pub fn validate(&self) -> Result<()> {
        self.workspace.validate()
    }

    /// Starts to open. The answer is true when the host has to run its setup and call
    /// [`record`](Self::record) then; false when the workspace is open, after a wait for whoever opens it.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer is an error for a workspace that was closed.
    pub fn begin_opening(&self) -> Result<HostJob> {
        let (workspace, slot) = (Arc::clone(&self.workspace), Arc::clone(&self.opening));
        HostJob::start(async move {
            let opening = workspace.begin_opening().await?;
            let claimed = opening.is_some();
            if claimed {
                *slot.lock() = opening;
            }
            Ok(json!(claimed))
        })
    }

    /// Makes what is the workspace's own and looks where everything is. After an error the host runs its
    /// teardown and calls [`give_up`](Self::give_up).
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer has those of [`Workspace::open`].
    pub fn record(&self) -> Result<HostJob> {
        let (workspace, slot) = (Arc::clone(&self.workspace), Arc::clone(&self.opening));
        HostJob::start(async move {
            let identities = workspace.make().await?;
            let opening = slot.lock().take();
            if let Some(opening) = opening {
                opening.opened(identities);
            }
            Ok(Value::Null)
        })
    }

    /// Ends an opening that failed; what it had set up is torn down.
    pub fn give_up(&self) {
        let opening = self.opening.lock().take();
        if let Some(opening) = opening {
            opening.failed();
        }
    }

    /// Leaves an opening half-way: [`begin_closing`](Self::begin_closing) will ask for the teardown.
    pub fn cut_off(&self) {
        drop(self.opening.lock().take());
    }

    /// Starts to close. The answer is true when the host has to run its teardown.
    ///
    /// # Errors
    /// As [`HostJob::start`].
    pub fn begin_closing(&self) -> Result<HostJob> {
        let workspace = Arc::clone(&self.workspace);
        HostJob::start(async move { Ok(json!(workspace.begin_closing().await)) })
    }
}

/// A handle of a workspace of the engine, for a host that shall [`adopt`](WorkspaceHandle::adopt) it.
pub(in crate::host) fn lend_workspace(workspace: &Arc<Workspace>) -> Result<WorkspaceHandle> {
    WorkspaceHandle::of(Arc::clone(workspace))
}

impl Drop for WorkspaceHandle {
    fn drop(&mut self) {
        WORKSPACES.remove(self.id);
    }
}

impl fmt::Debug for WorkspaceHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.workspace.fmt(formatter)
    }
}
