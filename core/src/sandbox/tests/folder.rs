//! Scratch directories and workspaces in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workspace::{Workspace, WorkspaceBuilder};

/// A directory that goes away with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!(
            "little-ghost-{:x}-{:x}",
            std::process::id(),
            fastrand::u64(..)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a file with its directories.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Starts a workspace whose root is `root` in here.
    pub(crate) fn workspace(&self) -> WorkspaceBuilder {
        Workspace::builder(self.0.join("root"))
    }

    /// An open workspace whose root is `root` in here.
    pub(crate) async fn opened(&self) -> Arc<Workspace> {
        let workspace = self.workspace().build().unwrap();
        workspace.open(None).await.unwrap();
        workspace
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
