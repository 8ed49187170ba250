//! Opens what a path names, step by step or in one step of the kernel, and never through a link.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
use rustix::io::Errno;

use super::failure::{LINK, failed, system};
use super::opened::Opened;
use super::target::Target;
use crate::error::Result;
use crate::workspace::replaced;

/// Flags of a directory on the way.
#[cfg(target_os = "linux")]
const WAY: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const WAY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Flags of everything that is used. Nothing that is opened may block, become a terminal, or be a link.
const USE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

impl Target<'_> {
    /// The directory that decides about the path, if it is still the one that it was.
    fn start(&self) -> Result<OwnedFd> {
        let directory =
            open(&self.grant.path, WAY, Mode::empty()).map_err(|_| replaced(&self.grant.name))?;
        let status = fstat(&directory).map_err(|problem| system(self.path, problem))?;
        if identity(&status) != (self.grant.device, self.grant.inode) {
            return Err(replaced(&self.grant.name));
        }
        Ok(directory)
    }

    /// Opens a directory.
    pub(super) fn open_directory(&self) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.components.split_last() {
            None => {
                reopen(&self.start()?, flags | USE).map_err(|problem| system(self.path, problem))
            }
            Some((last, way)) => {
                let directory = self.walk(self.start()?, way)?;
                self.last(directory.as_fd(), last, flags, Mode::empty())
            }
        }
    }

    /// Opens a file, and gives the directory that it is in as well.
    pub(super) fn open_file(&self, flags: OFlags, mode: Mode) -> Result<Opened<'_>> {
        let Some((name, way)) = self.components.split_last() else {
            return Err(failed(self.path, "is a directory"));
        };
        let directory = self.walk(self.start()?, way)?;
        let file = self.last(directory.as_fd(), name, flags, mode)?;
        Ok(Opened {
            file,
            directory,
            name,
        })
    }

    fn last(
        &self,
        directory: BorrowedFd<'_>,
        name: &str,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd> {
        step(directory, name, flags | USE, mode)
            .map_err(|problem| self.explain(directory, name, problem))
    }

    /// The directory at the end of `way`.
    fn walk(&self, start: OwnedFd, way: &[String]) -> Result<OwnedFd> {
        if way.is_empty() {
            return Ok(start);
        }
        // With rules inside, every directory has to be looked at on the way. What does not open at once is
        // tried step by step too, to tell what is wrong.
        if !self.has_nested_grants()
            && let Some(Ok(reached)) = at_once(start.as_fd(), way)
        {
            return Ok(reached);
        }
        let mut directory = start;
        for component in way {
            let next =
                step(directory.as_fd(), component, WAY, Mode::empty()).map_err(|problem| {
                    match problem {
                        Errno::NOENT => failed(self.path, MISSING),
                        other => self.explain(directory.as_fd(), component, other),
                    }
                })?;
            let status = fstat(&next).map_err(|problem| system(self.path, problem))?;
            let (device, inode) = identity(&status);
            self.permit_directory(device, inode)?;
            directory = next;
        }
        Ok(directory)
    }

    /// The error for `name`, which systems tell in different ways when it is a link.
    fn explain(&self, directory: BorrowedFd<'_>, name: &str, problem: Errno) -> crate::Error {
        let is_link = matches!(problem, Errno::LOOP | Errno::NOTDIR | Errno::MLINK)
            && statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Symlink);
        if is_link {
            failed(self.path, LINK)
        } else {
            system(self.path, problem)
        }
    }
}

const MISSING: &str = "does not exist: a directory on the way is missing, and none is created";

/// Device and inode.
#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "systems have different types for them"
)]
pub(super) fn identity(status: &Stat) -> (u64, u64) {
    (status.st_dev as u64, status.st_ino)
}

/// Opens `name` in `directory`. It is one component, so that nothing can lead away but a link.
fn step(
    directory: BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = beneath::open(directory, name, flags, mode) {
        return opened;
    }
    openat(directory, name, flags, mode)
}

/// Opens the whole way in one step, where the kernel can.
fn at_once(start: BorrowedFd<'_>, way: &[String]) -> Option<rustix::io::Result<OwnedFd>> {
    #[cfg(target_os = "linux")]
    return beneath::open(start, &way.join("/"), WAY, Mode::empty());
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (start, way);
        None
    }
}

/// A second handle of an open directory.
fn reopen(directory: &OwnedFd, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    openat(directory, ".", flags, Mode::empty())
}

#[cfg(target_os = "linux")]
mod beneath {
    use std::os::fd::{BorrowedFd, OwnedFd};
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    static MISSING: AtomicBool = AtomicBool::new(false);

    /// Opens `path` below `directory` without a link on the way; `None` where the kernel, or a filter around
    /// this process, does not know how.
    pub(super) fn open(
        directory: BorrowedFd<'_>,
        path: &str,
        flags: OFlags,
        mode: Mode,
    ) -> Option<rustix::io::Result<OwnedFd>> {
        if MISSING.load(Ordering::Relaxed) {
            return None;
        }
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            return match openat2(directory, path, flags, mode, rules) {
                // Something was renamed meanwhile, and the kernel is not sure.
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(Errno::NOSYS) => {
                    MISSING.store(true, Ordering::Relaxed);
                    None
                }
                // Also the answer of filters that do not know the call; the other way tells which it is.
                Err(Errno::PERM) => None,
                result => Some(result),
            };
        }
    }

    /// Has this process do without the call.
    #[cfg(test)]
    pub(in super::super) fn pretend_missing(missing: bool) {
        MISSING.store(missing, Ordering::Relaxed);
    }
}

/// Has this process open everything step by step.
#[cfg(test)]
pub(super) fn pretend_missing(missing: bool) {
    #[cfg(target_os = "linux")]
    beneath::pretend_missing(missing);
    #[cfg(not(target_os = "linux"))]
    let _ = missing;
}
