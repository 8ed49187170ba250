//! Lists.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, FileType, fstat, statat};
use rustix::io::Errno;

use super::failure::{failed, system};
use super::target::Target;
use super::walk::identity;
use crate::error::Result;

/// The entries of a directory of at most `limit`.
pub(super) fn entries(target: &Target<'_>, limit: u64) -> Result<String> {
    let directory = target.open_directory()?;
    let status = fstat(&directory).map_err(|problem| system(target.path, problem))?;
    let (device, inode) = identity(&status);
    target.permit_directory(device, inode)?;
    let failing = |problem: Errno| system(target.path, problem);
    let mut names = Vec::new();
    let mut read = 0_u64;
    for entry in Dir::read_from(&directory).map_err(failing)? {
        let entry = entry.map_err(failing)?;
        let name = entry.file_name();
        if [b".".as_slice(), b".."].contains(&name.to_bytes()) {
            continue;
        }
        read += 1;
        if read > limit {
            return Err(failed(
                target.path,
                &format!("has more than the limit of {limit} entries"),
            ));
        }
        if target.hides(name) {
            continue;
        }
        let is_directory = match entry.file_type() {
            FileType::Unknown => statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Directory),
            known => known == FileType::Directory,
        };
        names.push(shown(&name.to_string_lossy(), is_directory));
    }
    names.sort();
    Ok(names.join("\n"))
}

/// The name on a line of its own.
fn shown(name: &str, is_directory: bool) -> String {
    let slash = if is_directory { "/" } else { "" };
    if name.contains(char::is_control) {
        format!("{}{slash}", name.escape_debug())
    } else {
        format!("{name}{slash}")
    }
}
