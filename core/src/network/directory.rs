//! A directory that nobody else may enter, gone with its owner.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::{Error, ErrorKind, Result};

/// Longest path of a socket that every system takes.
const SOCKET_BYTES: usize = 100;
const PREFIX: &str = "little-ghost-net-";
/// A file that is locked for as long as its owner lives.
const LOCK: &str = "lock";

/// A directory with mode 0700. Dropping it removes it with everything in it. When its owner is killed it stays, until the
/// next one is made in the same place.
#[derive(Debug)]
pub(super) struct PrivateDirectory {
    path: PathBuf,
    removed: bool,
    /// Held, not used.
    _lock: Option<File>,
}

impl PrivateDirectory {
    /// Makes one in `parent`, with a name that nobody can guess.
    pub(super) fn new(parent: &Path) -> Result<Self> {
        let parent = fs::canonicalize(parent).map_err(|error| unusable(parent, &error))?;
        let path = parent.join(format!("{PREFIX}{}", unguessable()));
        if path.as_os_str().len() + "/private/authorizer.sock".len() > SOCKET_BYTES {
            return Err(Error::new(
                ErrorKind::Dependency,
                format!(
                    "the temporary directory {} has too long a path for sockets in it: set TMPDIR to a shorter one",
                    parent.display()
                ),
            ));
        }
        sweep(&parent);
        let mut directory = Self {
            path,
            removed: false,
            _lock: None,
        };
        directory.make(&directory.path)?;
        directory._lock =
            Some(lock(&directory.path).map_err(|error| unusable(&directory.path, &error))?);
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory with mode 0700 in it.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        self.make(&path)?;
        Ok(path)
    }

    fn make(&self, path: &Path) -> Result<()> {
        DirBuilder::new()
            .mode(0o700)
            .create(path)
            .map_err(|error| unusable(path, &error))
    }

    /// Removes it now.
    pub(super) fn remove(&mut self) -> Result<()> {
        self.removed = true;
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::new(
                ErrorKind::Cleanup,
                format!(
                    "cannot remove {}, which belongs to a network gateway: {error}",
                    self.path.display()
                ),
            )),
            _ => Ok(()),
        }
    }
}

fn unguessable() -> String {
    let mut text = uuid::Uuid::new_v4().simple().to_string();
    text.truncate(16);
    text
}

/// Makes the lock of a directory. It gets its name when it is locked, so that nobody finds it open.
fn lock(directory: &Path) -> io::Result<File> {
    let unnamed = directory.join("lock.new");
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unnamed)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    fs::rename(&unnamed, directory.join(LOCK))?;
    Ok(file)
}

/// Removes what killed processes of this user left behind. What cannot be removed is left to the next one.
fn sweep(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry
                .metadata()
                .is_ok_and(|found| found.is_dir() && found.uid() == user);
        if !ours {
            continue;
        }
        if let Ok(file) = File::open(entry.path().join(LOCK))
            && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes a new file with mode 0600.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(content))
        .map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        ErrorKind::Dependency,
        format!("the network gateway cannot use {}: {error}", path.display()),
    )
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if !self.removed {
            // Whoever wanted to hear of a failure called `remove`.
            let _ = self.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_gets_in_and_nothing_stays() {
        let directory = PrivateDirectory::new(&std::env::temp_dir()).unwrap();
        let inner = directory.directory("inner").unwrap();
        let file = inner.join("key");
        write(&file, b"secret").unwrap();
        assert_eq!(
            (mode(directory.path()), mode(&inner), mode(&file)),
            (0o700, 0o700, 0o600)
        );
        assert!(write(&file, b"again").is_err());
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn the_next_one_removes_what_the_dead_left() {
        let parent = PrivateDirectory::new(&std::env::temp_dir()).unwrap();
        let alive = PrivateDirectory::new(parent.path()).unwrap();
        let dead = parent.directory("little-ghost-net-dead").unwrap();
        drop(lock(&dead).unwrap());
        let strange = parent.directory("little-ghost-net-strange").unwrap();
        let _next = PrivateDirectory::new(parent.path()).unwrap();
        assert!(alive.path().exists() && strange.exists() && !dead.exists());
    }

    #[test]
    fn a_path_too_long_for_sockets_is_refused() {
        let directory = PrivateDirectory::new(&std::env::temp_dir()).unwrap();
        let long = directory.directory(&"x".repeat(60)).unwrap();
        let error = PrivateDirectory::new(&long).unwrap_err();
        assert!(error.message().contains("TMPDIR"));
    }
}
