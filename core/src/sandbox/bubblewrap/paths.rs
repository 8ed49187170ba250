//! Which paths of the host one program gets.

use super::Bubblewrap;
use super::mount::{self, Mount, check_absolute, in_order, is_inside};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{NetworkMode, Policy, Program, RootFilesystem};

impl Bubblewrap {
    /// What appears inside, in the order to make it.
    pub(super) fn mounts(&self, policy: &Policy, network: NetworkMode) -> Result<Vec<Mount>> {
        let grants = policy.process_grants(&self.workspace)?;
        let mut mounts = grants.iter().map(Mount::of).collect::<Result<Vec<_>>>()?;
        if network == NetworkMode::Allowlist {
            for mount in self.gateway()?.mounts() {
                mounts.push(Mount::read_only(&mount.source, &mount.target)?);
            }
        }
        Ok(in_order(mounts))
    }

    /// What appears empty: what the application says, and what the gateway keeps to itself, where it would
    /// be visible.
    pub(super) fn empty_folders(
        &self,
        mounts: &[Mount],
        policy: &Policy,
        network: NetworkMode,
    ) -> Result<Vec<String>> {
        let mut masks = self.masks.clone();
        if network != NetworkMode::Allowlist {
            return Ok(masks);
        }
        for folder in self.gateway()?.hidden() {
            let path = mount::text(&folder)?;
            let is_visible = policy.root_filesystem != RootFilesystem::Isolated
                || mounts.iter().any(|mount| is_inside(&path, &mount.target));
            if is_visible && folder.is_dir() && !masks.contains(&path) {
                masks.push(path);
            }
        }
        Ok(masks)
    }

    /// Where the program starts.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`] for a place that does not exist inside.
    pub(super) fn directory(
        &self,
        policy: &Policy,
        program: &Program,
        mounts: &[Mount],
    ) -> Result<String> {
        let identities = self.workspace.identities()?;
        let cwd = match program.cwd.as_deref() {
            None => mount::text(&identities.physical(self.workspace.root()))?,
            Some(path) if path.starts_with('/') => {
                check_absolute("the directory to start in", path)?;
                path.to_owned()
            }
            Some(path) => {
                let resolved = self
                    .workspace
                    .resolve(path)
                    .map_err(|problem| outside(problem.message()))?;
                mount::text(&identities.physical(&resolved))?
            }
        };
        let inside = |folder: &str| is_inside(&cwd, folder);
        let is_there = policy.root_filesystem != RootFilesystem::Isolated
            || mounts.iter().any(|mount| inside(&mount.target))
            || self.tmpfs.iter().any(|path| inside(path));
        if is_there {
            return Ok(cwd);
        }
        Err(outside(
            "the policy opens no path there; grant the path, or start in another one",
        ))
    }
}

fn outside(problem: &str) -> Error {
    Error::new(
        ErrorKind::Policy,
        format!("the directory to start in: {problem}"),
    )
}
