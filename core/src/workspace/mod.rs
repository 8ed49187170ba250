//! Workspaces: the host paths of a run, by stable names.

mod builder;
mod hook;
mod identity;
mod name;
mod phase;
mod reference;
mod source;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use builder::WorkspaceBuilder;
use hook::Hook;
pub(crate) use identity::Identities;
pub(crate) use identity::replaced;
pub(crate) use phase::Opening;
use phase::Phases;
pub(crate) use reference::Reference;
pub(crate) use source::Kind as SourceKind;
pub use source::{WorkspaceProvider, WorkspaceSource};

use crate::error::{Error, Result};
use crate::panics::caught;
use crate::run::Run;

/// The host paths of a run: a root, and named paths in it or elsewhere.
///
/// ```no_run
/// use little_ghost::Workspace;
///
/// # async fn example() -> little_ghost::Result<()> {
/// let workspace = Workspace::builder("/var/lib/support/run-481")
///     .path("source", "/srv/support/source")
///     .path("skills", "skills")
///     .build()?;
/// workspace.open(None).await?;
/// assert_eq!(workspace.resolve("workspace://skills/refunds.md")?.file_name().unwrap(), "refunds.md");
/// # Ok(())
/// # }
/// ```
pub struct Workspace {
    root: PathBuf,
    paths: Vec<(String, PathBuf)>,
    /// Whether the path is below the root and made by [`Workspace::open`].
    own: Vec<bool>,
    setup: Option<Hook>,
    teardown: Option<Hook>,
    phases: Phases<Identities>,
}

impl Workspace {
    /// Starts a workspace. `root` is made absolute against the current directory; it is created by
    /// [`Workspace::open`].
    pub fn builder(root: impl Into<PathBuf>) -> WorkspaceBuilder {
        WorkspaceBuilder::new(root.into())
    }

    /// The root, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The named paths, absolute, in order.
    #[must_use]
    pub fn paths(&self) -> &[(String, PathBuf)] {
        &self.paths
    }

    /// The path of that name.
    ///
    /// # Errors
    /// A `KeyError` when there is none.
    pub fn path(&self, name: &str) -> Result<&Path> {
        let found = self.paths.iter().find(|(known, _)| known == name);
        found
            .map(|(_, path)| path.as_path())
            .ok_or_else(|| name::unknown(name))
    }

    /// Runs the setup, makes the root and its relative paths, and records which directories they all are.
    /// Only the first call does; others wait for it. `run` is what the setup is told.
    ///
    /// # Errors
    /// What the setup fails with; [`Argument`](crate::ErrorKind::Argument) for an absolute path that does
    /// not exist and for two names of one directory. The teardown has run then.
    pub async fn open(self: &Arc<Self>, run: Option<&Run>) -> Result<()> {
        let Some(opening) = self.begin_opening().await? else {
            return Ok(());
        };
        match self.set_up(run).await {
            Ok(identities) => {
                opening.opened(identities);
                Ok(())
            }
            Err(problem) => {
                // What was set up in part is torn down; the first failure is the one to tell.
                let _ = self.tear_down(run).await;
                opening.failed();
                Err(problem)
            }
        }
    }

    async fn set_up(self: &Arc<Self>, run: Option<&Run>) -> Result<Identities> {
        if let Some(setup) = &self.setup {
            let work = setup.call(Arc::clone(self), run.cloned());
            caught("the setup of a workspace", work).await?;
        }
        self.make().await
    }

    /// Makes the root and the relative paths, and looks where everything is.
    pub(crate) async fn make(&self) -> Result<Identities> {
        let own = self.own.clone();
        let (root, paths) = (self.root.clone(), self.paths.clone());
        crate::executor::blocking(move || Identities::record(&root, &paths, &own)).await
    }

    /// Has the caller open it, and settle the opening; `None` when it is open.
    pub(crate) async fn begin_opening(&self) -> Result<Option<Opening<Identities>>> {
        self.phases.begin_opening().await
    }

    /// Closes it. Whether the caller has to tear down what was set up.
    pub(crate) async fn begin_closing(&self) -> bool {
        self.phases.begin_closing().await
    }

    /// Runs the teardown, once, also after an opening that was cut off. Files stay unless the teardown
    /// removes them.
    ///
    /// # Errors
    /// What the teardown fails with.
    pub async fn close(self: &Arc<Self>, run: Option<&Run>) -> Result<()> {
        if self.begin_closing().await {
            self.tear_down(run).await?;
        }
        Ok(())
    }

    async fn tear_down(self: &Arc<Self>, run: Option<&Run>) -> Result<()> {
        match &self.teardown {
            Some(teardown) => {
                let work = teardown.call(Arc::clone(self), run.cloned());
                caught("the teardown of a workspace", work).await
            }
            None => Ok(()),
        }
    }

    /// The host path of a logical one: relative to the root, or `workspace://name/path`. It only looks at
    /// the text; what a model chose is opened by the operations of a [`Sandbox`](crate::Sandbox).
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for an empty or absolute path, `..`, or no name; a `KeyError` for an
    /// unknown name.
    pub fn resolve(&self, reference: &str) -> Result<PathBuf> {
        let reference = Reference::parse(reference)?;
        let base = match &reference.name {
            Some(name) => self.path(name)?,
            None => &self.root,
        };
        // Joining nothing would leave a slash at the end.
        Ok(base.join(reference.relative()).components().collect())
    }

    /// The logical path of a host path, by the longest path that contains it; `"."` for the root.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for a path outside.
    pub fn reference(&self, physical: &Path) -> Result<String> {
        let physical = name::absolute(physical)?;
        let named = self
            .paths
            .iter()
            .map(|(name, path)| (Some(name.as_str()), path));
        let bases = named.chain([(None, &self.root)]);
        let within = bases.filter_map(|(name, base)| {
            let rest = physical.strip_prefix(base).ok()?;
            Some((base.as_os_str().len(), name, rest))
        });
        // The first of equals: names come before the root.
        match within.rev().max_by_key(|(length, _, _)| *length) {
            Some((_, name, rest)) => Ok(reference::write(name, rest)),
            None => Err(Error::new(
                crate::ErrorKind::Argument,
                "the path is outside of the workspace; use one below its root or a named path",
            )),
        }
    }

    /// Environment variables that tell programs where the root and the named paths are:
    /// `LITTLE_GHOST_WORKSPACE_ROOT` and `LITTLE_GHOST_WORKSPACE_<NAME>`. Once it is open, these are the real
    /// paths, behind all links: a sandbox has no others.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let opened = self.phases.opened();
        let named = self
            .paths
            .iter()
            .map(|(name, path)| (name.as_str(), path.as_path()));
        [("root", self.root.as_path())]
            .into_iter()
            .chain(named)
            .map(|(name, path)| {
                let real = opened.as_ref().map(|identities| identities.physical(path));
                let path = real.as_deref().unwrap_or(path);
                (name::variable(name), path.to_string_lossy().into_owned())
            })
            .collect()
    }

    /// Checks that every configured directory is the one it was at [`Workspace::open`].
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) when one was replaced, or the workspace is not open.
    pub fn validate(&self) -> Result<()> {
        self.identities()?.validate()
    }

    /// The directories that were there when it was opened.
    pub(crate) fn identities(&self) -> Result<Arc<Identities>> {
        self.phases
            .opened()
            .ok_or_else(|| Error::tool("The workspace is not open."))
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Workspace")
            .field("root", &self.root)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}
