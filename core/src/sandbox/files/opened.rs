//! An open file, and whether it is nobody else's.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};
use rustix::io::Errno;

use super::failure::{failed, system};
use super::walk::identity;
use crate::error::Result;

/// An open file, and where it was found.
pub(super) struct Opened<'a> {
    pub(super) file: OwnedFd,
    pub(super) directory: OwnedFd,
    pub(super) name: &'a str,
}

/// How often a file is looked at again because somebody writes to it.
const LOOKS: u32 = 32;

impl Opened<'_> {
    /// Fails unless this is a regular file and its only name is the one by which it was opened. With another
    /// name it may be a file that the sandbox does not open.
    ///
    /// The number of names alone does not say so, because the name may be gone again: a file outside that
    /// had a second name here for a moment has one name. So the name must lead to the file, too. And
    /// while the kernel removes a name, there is a moment when the number is already lower and the name
    /// still leads to the file. Hence the pause in between, which outlasts a removal, and the time of the
    /// last change, which tells of a name that was added meanwhile.
    pub(super) fn require_sole_name(&self, path: &str) -> Result<()> {
        for _ in 0..LOOKS {
            let file = fstat(&self.file).map_err(|problem| system(path, problem))?;
            check(path, &file)?;
            self.outlast_changes();
            let named = match statat(&self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(named) if identity(&named) == identity(&file) => named,
                Ok(_) | Err(Errno::NOENT) => return Err(failed(path, REPLACED)),
                Err(problem) => return Err(system(path, problem)),
            };
            check(path, &named)?;
            if changed_at(&named) == changed_at(&file) {
                return Ok(());
            }
        }
        Err(failed(path, REPLACED))
    }

    /// Waits for what changes the directory at this moment: to look for a name that nobody has asked for
    /// before, the kernel takes the lock that a change holds.
    fn outlast_changes(&self) {
        let unknown = format!(".little-ghost-{:016x}", fastrand::u64(..));
        let _ = statat(&self.directory, unknown, AtFlags::SYMLINK_NOFOLLOW);
    }
}

const REPLACED: &str = "was replaced while it was opened";

fn changed_at(status: &Stat) -> (i64, i64) {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "systems have different types for them"
    )]
    (status.st_ctime as i64, status.st_ctime_nsec as i64)
}

fn check(path: &str, status: &Stat) -> Result<()> {
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(failed(path, "is a directory")),
        _ => return Err(failed(path, "is not a regular file")),
    }
    match status.st_nlink {
        0 => Err(failed(path, REPLACED)),
        1 => Ok(()),
        _ => Err(failed(
            path,
            "has more than one hard link, so that it may belong to somebody else",
        )),
    }
}
