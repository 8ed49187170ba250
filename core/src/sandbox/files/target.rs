//! Which directory a logical path begins in, and what the sandbox allows there.

use super::failure::failed;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::access::Access;
use crate::sandbox::grant::{Grant, deciding};
use crate::workspace::{Reference, Workspace};

/// The longest logical path.
const MAX_PATH: usize = 4_096;

/// Where a logical path leads, as far as its text says.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// The path as the caller wrote it.
    pub(super) path: &'a str,
    /// The directory that decides about it.
    pub(super) grant: Grant,
    /// The way from there; nothing for the directory itself.
    pub(super) components: Vec<String>,
    /// What is to be done with it.
    pub(super) access: Access,
    /// All directories that are open.
    pub(super) grants: Vec<Grant>,
}

impl<'a> Target<'a> {
    /// Fails for a path that is none, or that `grants` do not open for tools with that access.
    pub(super) fn find(
        workspace: &Workspace,
        grants: Vec<Grant>,
        path: &'a str,
        access: Access,
    ) -> Result<Self> {
        if path.len() > MAX_PATH {
            return Err(Error::tool(format!(
                "The path is longer than {MAX_PATH} bytes."
            )));
        }
        let reference = Reference::parse(path).map_err(|problem| match problem.kind() {
            ErrorKind::Argument => Error::tool(sentence(problem.message())),
            _ => problem,
        })?;
        let name = reference.name.as_deref();
        if let Some(name) = name {
            workspace.path(name)?;
        }
        let identities = workspace.identities()?;
        let base = identities
            .get(name.unwrap_or("root"))
            .ok_or_else(|| failed(path, OUTSIDE))?;
        let physical = base.real.join(reference.relative());
        let grant = deciding(&grants, &physical)
            .cloned()
            .ok_or_else(|| failed(path, OUTSIDE))?;
        permit(path, &grant, access)?;
        let rest = physical
            .strip_prefix(&grant.path)
            .map_err(|_| failed(path, OUTSIDE))?;
        let components = rest
            .components()
            .map(|component| component.as_os_str().to_string_lossy().into_owned())
            .collect();
        Ok(Self {
            path,
            grant,
            components,
            access,
            grants,
        })
    }

    /// Whether other directories with rules of their own lie below the deciding one.
    pub(super) fn has_nested_grants(&self) -> bool {
        let inside = |other: &&Grant| {
            other.path != self.grant.path && other.path.starts_with(&self.grant.path)
        };
        self.grants.iter().any(|other| inside(&other))
    }

    /// Fails when the directory that was reached has rules of its own that do not allow this: it may have
    /// been reached by another spelling of its name.
    pub(super) fn permit_directory(&self, device: u64, inode: u64) -> Result<()> {
        let reached = self
            .grants
            .iter()
            .find(|grant| (grant.device, grant.inode) == (device, inode));
        match reached {
            Some(grant) => permit(self.path, grant, self.access),
            None => Ok(()),
        }
    }
}

fn permit(path: &str, grant: &Grant, access: Access) -> Result<()> {
    if !grant.for_tools {
        return Err(failed(path, OUTSIDE));
    }
    if access > grant.access {
        return Err(failed(path, "is read-only"));
    }
    Ok(())
}

fn sentence(problem: &str) -> String {
    let mut characters = problem.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

const OUTSIDE: &str = "is outside of the files that this sandbox opens";
