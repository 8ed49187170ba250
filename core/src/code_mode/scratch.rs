//! The folder of one program, which is gone when the program is.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::{Error, ErrorKind, Result};
use crate::executor;

/// The folder of one program. Dropping it removes it as well, if it can.
#[derive(Debug)]
pub(super) struct Scratch {
    root: PathBuf,
    is_there: bool,
}

impl Scratch {
    /// A new folder that only this user can enter.
    pub(super) async fn create() -> Result<Self> {
        executor::blocking(|| {
            let root =
                std::env::temp_dir().join(format!("little-ghost-program-{}", Uuid::new_v4()));
            fs::DirBuilder::new()
                .mode(0o700)
                .create(&root)
                .map_err(|problem| {
                    Error::new(
                        ErrorKind::Error,
                        format!("the folder of a program cannot be made: {problem}"),
                    )
                })?;
            Ok(Self {
                root,
                is_there: true,
            })
        })
        .await
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Removes the folder and what is in it.
    pub(super) async fn remove(mut self) -> Result<()> {
        self.is_there = false;
        let root = std::mem::take(&mut self.root);
        executor::blocking(move || {
            remove(&root).map_err(|problem| {
                Error::new(
                    ErrorKind::Cleanup,
                    format!("the folder of a program cannot be removed: {problem}"),
                )
            })
        })
        .await
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.is_there {
            let _ = remove(&self.root);
        }
    }
}

fn remove(root: &Path) -> io::Result<()> {
    match fs::remove_dir_all(root) {
        Err(problem) if problem.kind() == io::ErrorKind::PermissionDenied => {
            unlock(root);
            fs::remove_dir_all(root)
        }
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Gives this user back the folders that a program closed. Nothing that it left is followed.
fn unlock(folder: &Path) {
    let Ok(found) = fs::symlink_metadata(folder) else {
        return;
    };
    if !found.is_dir() {
        return;
    }
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        unlock(&entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_folder_goes_with_its_program() {
        let scratch = Scratch::create().await.unwrap();
        let root = scratch.root().to_owned();
        assert_eq!(
            fs::metadata(&root).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let closed = root.join("a/b");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("c"), "x").unwrap();
        std::os::unix::fs::symlink("/", closed.join("root")).unwrap();
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o0)).unwrap();
        scratch.remove().await.unwrap();
        assert!(!root.exists());

        let dropped = Scratch::create().await.unwrap();
        let root = dropped.root().to_owned();
        drop(dropped);
        assert!(!root.exists());
    }
}
