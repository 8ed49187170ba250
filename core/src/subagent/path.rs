//! The places of agents in the tree of those that delegate.

use crate::error::{Error, ErrorKind, Result};

/// The path of the agent that answers a run.
pub(crate) const ROOT: &str = "/root";

/// Characters of one name.
pub(crate) const MAX_NAME_LENGTH: usize = 40;

/// Characters of a whole path.
const MAX_PATH_LENGTH: usize = 1_024;

/// Checks the name that a model chose for a task.
///
/// # Errors
/// [`ErrorKind::Argument`] for anything but 1 to 40 lower-case letters, digits and underscores, and for `root`.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let usable = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.bytes().all(usable) {
        return Err(invalid(format!(
            "the task name {name:?} is not usable: use 1 to {MAX_NAME_LENGTH} lower-case letters, digits or underscores"
        )));
    }
    if name == "root" {
        return Err(invalid(
            "the task name \"root\" is taken by the agent that answers the run".into(),
        ));
    }
    Ok(())
}

/// Checks a complete path, from `/root` downwards.
///
/// # Errors
/// [`ErrorKind::Argument`] for any other text.
pub(crate) fn check(path: &str) -> Result<()> {
    if path.len() > MAX_PATH_LENGTH {
        return Err(invalid(format!(
            "the agent path is longer than {MAX_PATH_LENGTH} characters"
        )));
    }
    let names = path
        .strip_prefix(ROOT)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let Some(names) = names else {
        return Err(invalid(format!(
            "the agent path {path:?} does not begin with {ROOT}"
        )));
    };
    names.split('/').skip(1).try_for_each(check_name)
}

/// The path of `name` below `parent`.
///
/// # Errors
/// [`ErrorKind::Argument`] when a part is not usable, or the whole too long.
pub(crate) fn join(parent: &str, name: &str) -> Result<String> {
    check(parent)?;
    check_name(name)?;
    let path = format!("{parent}/{name}");
    check(&path)?;
    Ok(path)
}

/// Whether `path` is exactly one level below `parent`.
pub(crate) fn is_immediate_child(path: &str, parent: &str) -> bool {
    let name = path
        .strip_prefix(parent)
        .and_then(|rest| rest.strip_prefix('/'));
    check(parent).is_ok() && name.is_some_and(|name| check_name(name).is_ok())
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_of_names_below_the_root() {
        assert_eq!(join(ROOT, "review_api").unwrap(), "/root/review_api");
        assert_eq!(join("/root/a", "b2").unwrap(), "/root/a/b2");
        for (parent, name) in [
            ("/root", ""),
            ("/root", "Review"),
            ("/root", "a b"),
            ("/root", "a/b"),
            ("/root", "root"),
            ("/root", "é"),
            ("/tmp", "a"),
            ("/rooted", "a"),
            ("/root/", "a"),
            ("", "a"),
        ] {
            let error = join(parent, name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{parent} {name}");
        }
        assert!(join(ROOT, &"a".repeat(MAX_NAME_LENGTH)).is_ok());
        assert!(join(ROOT, &"a".repeat(MAX_NAME_LENGTH + 1)).is_err());
    }

    #[test]
    fn paths_end_somewhere() {
        let mut path = ROOT.to_owned();
        while let Ok(longer) = join(&path, &"a".repeat(MAX_NAME_LENGTH)) {
            path = longer;
        }
        assert!(
            path.len() > MAX_PATH_LENGTH - MAX_NAME_LENGTH - 1 && path.len() <= MAX_PATH_LENGTH
        );
    }

    #[test]
    fn only_the_next_level_is_an_immediate_child() {
        assert!(is_immediate_child("/root/a", "/root"));
        assert!(is_immediate_child("/root/a/b", "/root/a"));
        for (path, parent) in [
            ("/root", "/root"),
            ("/root/a/b", "/root"),
            ("/root/a", "/root/a"),
            ("/root/ab", "/root/a"),
            ("/root/A", "/root"),
            ("/x/a", "/x"),
        ] {
            assert!(!is_immediate_child(path, parent), "{path} {parent}");
        }
    }
}
