//! A workspace, piece by piece.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use super::hook::Hook;
use super::phase::Phases;
use super::{Workspace, name};
use crate::error::Result;
use crate::run::Run;

/// Collects what a [`Workspace`] is made of.
#[must_use = "a builder does nothing until it is built"]
pub struct WorkspaceBuilder {
    root: PathBuf,
    paths: Vec<(String, PathBuf)>,
    setup: Option<Hook>,
    teardown: Option<Hook>,
}

impl WorkspaceBuilder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            paths: Vec::new(),
            setup: None,
            teardown: None,
        }
    }

    /// Names a path. A relative one is below the root and made when the workspace opens; an absolute one
    /// must exist by then.
    pub fn path(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        self.paths.push((name.into(), path.into()));
        self
    }

    /// Runs `setup` once, before the root is made.
    pub fn setup<F>(
        mut self,
        setup: impl Fn(Arc<Workspace>, Option<Run>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.setup = Some(Hook::new(setup));
        self
    }

    /// Runs `teardown` once, when the workspace closes, or when opening it failed.
    pub fn teardown<F>(
        mut self,
        teardown: impl Fn(Arc<Workspace>, Option<Run>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.teardown = Some(Hook::new(teardown));
        self
    }

    /// Checks and builds the workspace. Nothing is created yet.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for unusable and repeated names, and relative paths that
    /// lead out of the root.
    pub fn build(self) -> Result<Arc<Workspace>> {
        let root = name::absolute(&self.root)?;
        let mut paths = Vec::with_capacity(self.paths.len());
        let mut own = Vec::with_capacity(self.paths.len());
        let mut variables = BTreeMap::from([(name::variable("root"), "root".to_owned())]);
        for (name, path) in self.paths {
            name::check(&name)?;
            if let Some(other) = variables.insert(name::variable(&name), name.clone()) {
                return Err(name::invalid(format!(
                    "{name:?} and {other:?} have one environment variable; rename one of them"
                )));
            }
            if path.as_os_str().is_empty() {
                return Err(name::invalid(format!("the path of {name:?} is empty")));
            }
            let relative = path.is_relative();
            let absolute = if relative {
                let inside = name::absolute(&root.join(&path))?;
                if !inside.starts_with(&root) {
                    return Err(name::invalid(format!(
                        "{name:?} leads out of the root; use an absolute path for a directory elsewhere"
                    )));
                }
                inside
            } else {
                name::absolute(&path)?
            };
            paths.push((name, absolute));
            own.push(relative);
        }
        Ok(Arc::new(Workspace {
            root,
            paths,
            own,
            setup: self.setup,
            teardown: self.teardown,
            phases: Phases::new(),
        }))
    }
}

impl std::fmt::Debug for WorkspaceBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WorkspaceBuilder")
            .field("root", &self.root)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}
