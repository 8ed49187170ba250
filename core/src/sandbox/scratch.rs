//! A private folder that goes away.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder of this process only, removed with everything in it when it is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        let base = std::env::temp_dir().canonicalize()?;
        Self::make(base.join(format!("little-ghost-{:016x}", fastrand::u64(..))))
    }

    /// One in the folder `base`, which others do not see among what is in there.
    pub(crate) fn inside(base: &Path) -> io::Result<Self> {
        Self::make(base.join(format!(".little-ghost-{:016x}", fastrand::u64(..))))
    }

    fn make(path: PathBuf) -> io::Result<Self> {
        // An existing one is somebody else's.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A file that can be read and run.
    pub(crate) fn write_program(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.0.join(format!("{:016x}", fastrand::u64(..)));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o500)
            .open(&path)?;
        file.write_all(bytes)?;
        Ok(path)
    }

    /// Removes it now.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.0) {
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}
