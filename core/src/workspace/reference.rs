//! Logical paths: `notes/today.md`, `workspace://skills/refunds.md`.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

const SCHEME: &str = "workspace://";

/// A logical path, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The named path it starts at; `None` is the root.
    pub(crate) name: Option<String>,
    /// What comes below; nothing for the named path itself.
    pub(crate) components: Vec<String>,
}

impl Reference {
    /// Reads what a model or an application wrote.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(unusable(text, "is empty; \".\" is the root"));
        }
        if text.contains('\0') {
            return Err(unusable("", "contains a NUL byte"));
        }
        let (name, rest) = match text.strip_prefix(SCHEME) {
            Some(rest) => {
                let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
                if name.is_empty() {
                    return Err(unusable(text, "names no path; write workspace://name/path"));
                }
                (Some(name), rest)
            }
            None if text.starts_with('/') || Path::new(text).is_absolute() => {
                return Err(unusable(
                    text,
                    "is absolute; use a path relative to the workspace, or workspace://name/path",
                ));
            }
            None => (None, text),
        };
        let mut components = Vec::new();
        for component in rest.split('/') {
            match component {
                "" | "." => {}
                ".." => return Err(unusable(text, "must not contain \"..\"")),
                other => components.push(other.to_owned()),
            }
        }
        // The root has a name of its own in policies.
        let name = name.filter(|name| *name != "root").map(str::to_owned);
        Ok(Self { name, components })
    }

    pub(crate) fn relative(&self) -> PathBuf {
        self.components.iter().collect()
    }
}

/// The logical path of `rest` below the path of that name.
pub(super) fn write(name: Option<&str>, rest: &Path) -> String {
    let rest = rest.to_string_lossy();
    match name {
        None if rest.is_empty() => ".".to_owned(),
        None => rest.into_owned(),
        Some(name) if rest.is_empty() => format!("{SCHEME}{name}"),
        Some(name) => format!("{SCHEME}{name}/{rest}"),
    }
}

fn unusable(text: &str, problem: &str) -> Error {
    let path = if text.is_empty() {
        "the path".to_owned()
    } else {
        format!("the path {text:?}")
    };
    Error::new(ErrorKind::Argument, format!("{path} {problem}"))
}
