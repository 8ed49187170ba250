//! Names of paths, and paths without detours.

use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ErrorKind, HostException, Result};

pub(super) fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("workspace: {problem}"))
}

/// The error for a name that no path has.
pub(crate) fn unknown(name: &str) -> Error {
    let class = "KeyError".to_owned();
    Error::host(
        HostException { id: 0, class },
        format!("the workspace has no path named {name:?}"),
    )
}

/// Fails for a name that cannot stand in a reference.
pub(super) fn check(name: &str) -> Result<()> {
    let problem = if name == "root" {
        "is the workspace's root already"
    } else if name.is_empty() || name == "." || name == ".." {
        "does not name a path"
    } else if name.contains(['/', '\\']) || name.contains(char::is_control) {
        "must be without slashes and control characters"
    } else {
        return Ok(());
    };
    Err(invalid(format!("the name {name:?} {problem}")))
}

/// The environment variable that holds the path of that name.
pub(super) fn variable(name: &str) -> String {
    let upper = name.to_uppercase();
    let kept = upper.chars().map(|character| {
        if character.is_ascii_alphanumeric() {
            character
        } else {
            '_'
        }
    });
    "LITTLE_GHOST_WORKSPACE_".chars().chain(kept).collect()
}

/// The path against the current directory, without `.` and `..`; links are not looked at.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(invalid("a path is empty".into()));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(invalid("a path contains NUL".into()));
    }
    let whole = std::path::absolute(path)
        .map_err(|problem| invalid(format!("the current directory is unknown ({problem})")))?;
    let mut clean = PathBuf::new();
    for component in whole.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    Ok(clean)
}
