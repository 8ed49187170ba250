//! How a [`Bubblewrap`] differs from the usual one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Bubblewrap, ProcFilesystem, mount};
use crate::error::{Error, ErrorKind, Result};
use crate::network::Gateway;
use crate::sandbox::CommandWrapper;
use crate::sandbox::process::CgroupRoot;

impl Bubblewrap {
    /// Uses `executable` in place of `/usr/bin/bwrap`.
    #[must_use]
    pub fn executable(mut self, executable: impl Into<PathBuf>) -> Self {
        self.executable = executable.into();
        self
    }

    /// Takes the system for the one of that name, such as `"linux"`.
    #[must_use]
    pub fn platform(mut self, platform: impl Into<String>) -> Self {
        self.platform = platform.into();
        self
    }

    /// Sends what an allowlist permits through `gateway`. The sandbox opens and closes it.
    #[must_use]
    pub fn through(mut self, gateway: Arc<dyn Gateway>) -> Self {
        self.gateway = Some(gateway);
        self
    }

    /// Puts a command of the application in front of `bwrap`, such as words: `vec!["nice".to_owned()]`.
    #[must_use]
    pub fn command_wrapper(mut self, wrapper: impl CommandWrapper + 'static) -> Self {
        self.command_wrapper = Some(Arc::new(wrapper));
        self
    }

    /// Where processes find `/proc`.
    #[must_use]
    pub fn proc(mut self, proc: ProcFilesystem) -> Self {
        self.proc = proc;
        self
    }

    /// Empty folders that programs may write, in place of `/tmp` and `/run`. They are kept in memory, and
    /// gone with the program.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for a path that is not absolute.
    pub fn tmpfs<T: Into<String>>(mut self, paths: impl IntoIterator<Item = T>) -> Result<Self> {
        self.tmpfs = absolute("tmpfs", paths)?;
        Ok(self)
    }

    /// Folders that programs see empty and cannot write, whatever they hold on the host.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for a path that is not absolute.
    pub fn masks<T: Into<String>>(mut self, paths: impl IntoIterator<Item = T>) -> Result<Self> {
        self.masks = absolute("masks", paths)?;
        Ok(self)
    }

    /// What programs need to run at all, in place of `/usr`, where the host is isolated.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for a path that is not absolute.
    pub fn runtime_roots<T: Into<String>>(
        mut self,
        paths: impl IntoIterator<Item = T>,
    ) -> Result<Self> {
        self.runtime_roots = absolute("runtime_roots", paths)?;
        Ok(self)
    }

    /// The user that programs take themselves for.
    #[must_use]
    pub fn uid(mut self, uid: u32) -> Self {
        self.uid = Some(uid);
        self
    }

    /// The group that programs take themselves for.
    #[must_use]
    pub fn gid(mut self, gid: u32) -> Self {
        self.gid = Some(gid);
        self
    }

    /// Makes control groups below `folder`, a delegated group of version 2, in place of the one above this
    /// process.
    ///
    /// # Errors
    /// [`Capability`](ErrorKind::Capability) when groups that limit memory and tasks cannot be made there.
    pub fn cgroup(mut self, folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        self.cgroup = Some(CgroupRoot::at(folder).ok_or_else(|| {
            Error::new(
                ErrorKind::Capability,
                format!(
                    "{}: not a control group (version 2) that is delegated to this process with memory and pids",
                    folder.display()
                ),
            )
        })?);
        Ok(self)
    }
}

fn absolute<T: Into<String>>(
    what: &str,
    paths: impl IntoIterator<Item = T>,
) -> Result<Vec<String>> {
    let paths: Vec<String> = paths.into_iter().map(Into::into).collect();
    for path in &paths {
        mount::check_absolute(what, path)?;
    }
    Ok(paths)
}
