//! One folder to search.

use std::path::{Component, Path, PathBuf};

/// A folder to search, and the wall that it must stay behind once symbolic links are resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    path: PathBuf,
    boundary: Option<PathBuf>,
}

impl Root {
    /// The folder at `path`; a relative one counts from the current directory. Symbolic links
    /// are left alone, and the folder need not exist.
    #[must_use]
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: expand(path.as_ref()),
            boundary: None,
        }
    }

    /// Refuses the folder when its real path is outside `boundary`.
    #[must_use]
    pub fn within(mut self, boundary: impl AsRef<Path>) -> Self {
        self.boundary = Some(expand(boundary.as_ref()));
        self
    }

    /// The absolute path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path of the wall, when there is one.
    #[must_use]
    pub fn boundary(&self) -> Option<&Path> {
        self.boundary.as_deref()
    }

    /// The real path of the folder; `None` when it does not exist.
    pub(crate) fn real_path(&self) -> Option<PathBuf> {
        self.path.canonicalize().ok()
    }

    /// Whether `real`, a real path of this folder, lies beyond the wall.
    pub(crate) fn is_beyond_boundary(&self, real: &Path) -> bool {
        self.boundary.as_ref().is_some_and(|boundary| {
            let wall = boundary.canonicalize();
            !real.starts_with(wall.as_deref().unwrap_or(boundary))
        })
    }
}

impl<T: AsRef<Path>> From<T> for Root {
    fn from(path: T) -> Self {
        Self::new(path)
    }
}

/// An absolute path without `.` and `..`, by text alone.
fn expand(path: &Path) -> PathBuf {
    let mut expanded = if path.is_absolute() {
        PathBuf::new()
    } else {
        std::env::current_dir().unwrap_or_default()
    };
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                expanded.pop();
            }
            other => expanded.push(other),
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_paths_by_text() {
        let root = Root::new("/srv/app/./prompts/../views").within("/srv/app/");
        assert_eq!(root.path(), Path::new("/srv/app/views"));
        assert_eq!(root.boundary(), Some(Path::new("/srv/app")));
        assert!(Root::new("prompts").path().is_absolute());
    }
}
