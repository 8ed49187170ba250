//! The directories that a policy opens.

use std::path::{Path, PathBuf};

use super::access::{Access, invalid};
use super::policy::Policy;
use crate::error::Result;
use crate::workspace::Workspace;

/// A directory that a policy opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The name of the path; `"root"` for the root.
    pub name: String,
    /// Where the directory really is.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
    /// Whether tools get there too, or only child processes.
    pub for_tools: bool,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Policy {
    /// The directories that child processes get, those of tools first. A path inside of another follows its
    /// own access.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) for a name that `workspace` does not have,
    /// [`Tool`](crate::ErrorKind::Tool) when it is not open or a directory was replaced.
    pub fn process_grants(&self, workspace: &Workspace) -> Result<Vec<Grant>> {
        workspace.validate()?;
        let identities = workspace.identities()?;
        let files = self.files.iter().map(|path| (path, true));
        let runtime = self.runtime_paths.iter().map(|path| (path, false));
        files
            .chain(runtime)
            .map(|((name, access), for_tools)| {
                let identity = identities.get(name).ok_or_else(|| unknown(name))?;
                Ok(Grant {
                    name: name.clone(),
                    path: identity.real.clone(),
                    access: *access,
                    for_tools,
                    device: identity.device,
                    inode: identity.inode,
                })
            })
            .collect()
    }

    /// Fails when a path is named that `workspace` does not have.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy).
    pub fn check_names(&self, workspace: &Workspace) -> Result<()> {
        let mut names = self.files.iter().chain(&self.runtime_paths);
        match names.find(|(name, _)| name != super::policy::ROOT && workspace.path(name).is_err()) {
            Some((name, _)) => Err(unknown(name)),
            None => Ok(()),
        }
    }
}

/// The grant that decides about a path: the one whose directory contains it most closely.
pub(crate) fn deciding<'a>(grants: &'a [Grant], physical: &Path) -> Option<&'a Grant> {
    grants
        .iter()
        .filter(|grant| physical.starts_with(&grant.path))
        .max_by_key(|grant| grant.path.as_os_str().len())
}

fn unknown(name: &str) -> crate::error::Error {
    invalid(format!(
        "the workspace has no path named {name:?}; name it there, or leave it out of files and runtime_paths"
    ))
}
