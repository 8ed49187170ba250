//! What a model reads about a file operation that failed. Only the path that it wrote itself is named.

use rustix::io::Errno;

use crate::error::Error;

/// A failure that concerns `path`.
pub(super) fn failed(path: &str, problem: &str) -> Error {
    Error::tool(format!("{path:?} {problem}."))
}

/// A failure of the system.
pub(super) fn system(path: &str, problem: Errno) -> Error {
    let known = match problem {
        Errno::NOENT => "does not exist",
        Errno::LOOP | Errno::XDEV => LINK,
        Errno::NOTDIR => "is not a directory, or leads through something that is none",
        Errno::ISDIR => "is a directory",
        Errno::ACCESS | Errno::PERM | Errno::ROFS => "cannot be opened: permission denied",
        Errno::NAMETOOLONG => "is too long",
        Errno::NXIO | Errno::NODEV => "is not a regular file",
        Errno::NOSPC | Errno::DQUOT => "cannot be written: no space is left",
        _ => {
            return failed(path, &format!("cannot be used ({problem})"));
        }
    };
    failed(path, known)
}

/// As [`system`], for an error of the standard library.
pub(super) fn io(path: &str, problem: &std::io::Error) -> Error {
    match Errno::from_io_error(problem) {
        Some(problem) => system(path, problem),
        None => failed(path, &format!("cannot be used ({})", problem.kind())),
    }
}

pub(super) const LINK: &str = "leads through a symbolic link, which is not followed";
