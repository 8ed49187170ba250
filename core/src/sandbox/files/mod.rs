//! Operations on files that a model names.
//!
//! Nothing here trusts a path twice: every directory on the way is opened relative to the one before,
//! without following links, and what was opened is looked at before it is used.

mod directory;
mod failure;
mod handle;
mod list;
mod opened;
mod read;
mod replace;
mod target;
#[cfg(test)]
mod tests;
mod walk;
mod write;

use std::sync::Arc;

use super::access::Access;
use super::grant::Grant;
use super::limits::Limits;
use super::policy::Policy;
use crate::error::Result;
use crate::executor;
use crate::workspace::Workspace;
use target::Target;

/// The files that tools reach in a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    workspace: Arc<Workspace>,
    policy: Policy,
    limits: Limits,
}

impl Files {
    /// The files that `policy` opens.
    pub(crate) fn new(workspace: Arc<Workspace>, policy: Policy, limits: Limits) -> Self {
        Self {
            workspace,
            policy,
            limits,
        }
    }

    /// The text of a file.
    pub(crate) async fn read(self, path: &str) -> Result<String> {
        let path = path.to_owned();
        executor::blocking(move || {
            let target = self.target(&path, Access::ReadOnly)?;
            read::text(&target, self.limits.read_bytes)
        })
        .await
    }

    /// The entries of a directory, one a line, sorted; directories end in `/`.
    pub(crate) async fn list(self, path: &str) -> Result<String> {
        let path = path.to_owned();
        executor::blocking(move || {
            let target = self.target(&path, Access::ReadOnly)?;
            list::entries(&target, self.limits.list_entries)
        })
        .await
    }

    /// Writes a whole file and says so.
    pub(crate) async fn write(self, path: &str, content: &[u8]) -> Result<String> {
        let (path, content) = (path.to_owned(), content.to_vec());
        executor::blocking(move || {
            let target = self.target(&path, Access::ReadWrite)?;
            write::whole(&target, &content, self.limits.write_bytes)
        })
        .await
    }

    /// Replaces the one occurrence of `old_text` and says so.
    pub(crate) async fn replace(
        self,
        path: &str,
        old_text: &str,
        new_text: &str,
    ) -> Result<String> {
        let path = path.to_owned();
        let (old_text, new_text) = (old_text.to_owned(), new_text.to_owned());
        executor::blocking(move || {
            let target = self.target(&path, Access::ReadWrite)?;
            replace::once(&target, &old_text, &new_text, &self.limits)
        })
        .await
    }

    /// Whether `path` may be used with that access; nothing is opened.
    pub(crate) fn allows(&self, path: &str, access: Access) -> bool {
        self.target(path, access).is_ok()
    }

    fn target<'a>(&self, path: &'a str, access: Access) -> Result<Target<'a>> {
        let grants: Vec<Grant> = self.policy.process_grants(&self.workspace)?;
        Target::find(&self.workspace, grants, path, access)
    }
}
