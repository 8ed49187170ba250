//! The private directory, and what may be read and written in it.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::document::invalid;
use super::lock::FileLock;
use crate::error::{Error, ErrorKind, Result};

/// A private directory.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
}

impl Root {
    /// The directory at `path`, made when it is missing.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(unsuitable(path, "is empty"));
        }
        let path = std::path::absolute(path)
            .map_err(|problem| unsuitable(path, &format!("cannot be used ({problem})")))?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(|problem| unsuitable(&path, &format!("cannot be made ({problem})")))?;
        let root = Self { path };
        match root.directory() {
            Ok(_) => Ok(root),
            Err(problem) => Err(unsuitable(&root.path, &problem)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The open directory, after a look at what is there now; or what is wrong with it.
    fn directory(&self) -> Result<OwnedFd, String> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A slash at the end would have a symbolic link followed.
        let path: PathBuf = self.path.components().collect();
        let directory = rustix::fs::open(&path, flags, Mode::empty()).map_err(|problem| {
            if matches!(problem, Errno::LOOP | Errno::NOTDIR) {
                "must be a directory, and no symbolic link".to_owned()
            } else {
                format!("cannot be opened ({problem})")
            }
        })?;
        let file = File::from(directory);
        let mode = file
            .metadata()
            .map_err(|problem| problem.to_string())?
            .mode();
        if mode & 0o077 != 0 {
            return Err(format!(
                "is open to others (mode {:04o}); use a directory with mode 0700",
                mode & 0o7777
            ));
        }
        Ok(file.into())
    }

    fn checked(&self) -> Result<OwnedFd> {
        self.directory()
            .map_err(|problem| invalid(&format!("its directory {problem}")))
    }

    /// The content of a file, or `None` when there is none.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let directory = self.checked()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = match openat(&directory, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(problem) => return Err(unreadable(&problem.into())),
        };
        check_private(&file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|problem| unreadable(&problem))?;
        Ok(Some(bytes))
    }

    /// Puts a new file in the place of `name`. It is on the disk when this returns.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let directory = self.checked()?;
        let temporary = format!("{name}.{}.{:016x}.tmp", process::id(), fastrand::u64(..));
        let written = write_beside(&directory, name, &temporary, bytes);
        if written.is_err() {
            let _ = unlinkat(&directory, &temporary, AtFlags::empty());
        }
        written.map_err(|problem| invalid(&format!("its file cannot be written ({problem})")))?;
        // Best effort: not every file system can.
        let _ = rustix::fs::fsync(&directory);
        Ok(())
    }

    /// The open file of a lock, made when it is missing.
    pub(super) fn lock_file(&self, name: &str) -> Result<File> {
        let directory = self.checked()?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|problem| unreadable(&problem.into()))?;
        let file = File::from(file);
        check_private(&file)?;
        Ok(file)
    }

    /// Removes what processes left that died while they wrote. A file whose conversation is
    /// locked is one that is being written.
    pub(super) fn remove_leftovers(&self) {
        let (Ok(directory), Ok(entries)) = (self.checked(), self.path.read_dir()) else {
            return;
        };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let Some(name) = file
                .to_str()
                .filter(|name| name.ends_with(".tmp"))
                .and_then(|name| name.split_once(".json."))
                .map(|(name, _)| name)
            else {
                continue;
            };
            if let Ok(Some(_lock)) = FileLock::try_acquire(self, &format!("{name}.lock")) {
                let _ = unlinkat(&directory, &file, AtFlags::empty());
            }
        }
    }
}

fn write_beside(directory: &OwnedFd, name: &str, temporary: &str, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(directory, temporary, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.sync_all()?;
    renameat(directory, temporary, directory, name)?;
    Ok(())
}

fn check_private(file: &File) -> Result<()> {
    let metadata = file.metadata().map_err(|problem| unreadable(&problem))?;
    if metadata.is_file() && metadata.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(invalid(
        "its file is open to others or no regular file; only files with mode 0600 are used",
    ))
}

fn unreadable(problem: &io::Error) -> Error {
    if problem.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
        return invalid("its file is a symbolic link");
    }
    invalid(&format!("its file cannot be opened ({problem})"))
}

fn unsuitable(path: &Path, problem: &str) -> Error {
    Error::new(
        ErrorKind::Argument,
        format!("the session root {:?} {problem}", path.display()),
    )
}
