//! Files that exist for one program only, where no namespace can hold them.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::policy::{Policy, ROOT};
use super::process_trait::Process;
use super::program::Program;
pub(crate) use super::scratch::Scratch;
use crate::error::{Error, ErrorKind, Result};

/// Where the files of a program are.
#[derive(Default)]
pub(super) struct Placed {
    /// Descriptors that the program has to inherit.
    pub(super) descriptors: Vec<OwnedFd>,
    /// The folder to keep while the program runs.
    pub(super) folder: Option<Scratch>,
}

/// Puts the files of `program` somewhere, and names that place in its command.
pub(super) fn place(program: &mut Program) -> Result<Placed> {
    let mut placed = Placed::default();
    rename(program, |bytes| put(&mut placed, bytes))?;
    Ok(placed)
}

/// The same in a new folder below the workspace's root, for a sandbox that shows nothing but what `policy` grants. It
/// lasts as long as the folder is kept.
///
/// # Errors
/// [`Capability`](ErrorKind::Capability) when the root is not granted, or the folder cannot be made.
pub(crate) fn place_in_workspace(
    program: &mut Program,
    root: &Path,
    policy: &Policy,
) -> Result<Option<Scratch>> {
    if program.data.is_empty() {
        return Ok(None);
    }
    if !policy.files.iter().any(|(name, _)| name == ROOT) {
        return Err(Error::new(
            ErrorKind::Capability,
            "the program has a file of its own, which this sandbox can only show in the workspace's root; \
             grant files.root to the sandbox, or choose the engine ruby or python for code mode",
        ));
    }
    let folder = Scratch::inside(root).map_err(|problem| {
        Error::new(
            ErrorKind::Capability,
            format!(
                "the workspace's root cannot hold a file for the program ({}); it must be a directory of this user",
                problem.kind()
            ),
        )
    })?;
    rename(program, |bytes| {
        let path = folder.write_program(bytes)?;
        Ok(path.to_string_lossy().into_owned())
    })?;
    Ok(Some(folder))
}

/// Puts each file where `put` says, and has the command name that place.
fn rename(
    program: &mut Program,
    mut put: impl FnMut(&[u8]) -> std::io::Result<String>,
) -> Result<()> {
    for (inside, bytes) in std::mem::take(&mut program.data) {
        let path = put(&bytes).map_err(|problem| {
            Error::new(
                ErrorKind::Error,
                format!("cannot keep a file for the program ({})", problem.kind()),
            )
        })?;
        for word in program.command.iter_mut().filter(|word| **word == inside) {
            word.clone_from(&path);
        }
    }
    Ok(())
}

/// In memory: nothing stays behind, however this process ends.
#[cfg(target_os = "linux")]
fn put(placed: &mut Placed, bytes: &[u8]) -> std::io::Result<String> {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("little-ghost", flags)?);
    file.write_all(bytes)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    placed.descriptors.push(file.into());
    Ok(path)
}

#[cfg(not(target_os = "linux"))]
fn put(placed: &mut Placed, bytes: &[u8]) -> std::io::Result<String> {
    let folder = match placed.folder.take() {
        Some(folder) => folder,
        None => Scratch::new()?,
    };
    let path = folder.write_program(bytes);
    placed.folder = Some(folder);
    Ok(path?.to_string_lossy().into_owned())
}

/// The process, which keeps `folder` until it is dropped.
pub(crate) fn keep(process: Box<dyn Process>, folder: Option<Scratch>) -> Box<dyn Process> {
    match folder {
        None => process,
        Some(folder) => Box::new(Keeping {
            process,
            _folder: folder,
        }),
    }
}

struct Keeping {
    process: Box<dyn Process>,
    _folder: Scratch,
}

mod keeping {
    use std::time::Duration;

    use async_trait::async_trait;

    use super::Keeping;
    use crate::error::Result;
    use crate::sandbox::{ExitStatus, Output, Process};

    #[async_trait]
    impl Process for Keeping {
        fn pid(&self) -> u32 {
            self.process.pid()
        }
        async fn read(&self, timeout: Duration) -> Result<Output> {
            self.process.read(timeout).await
        }
        async fn write(&self, bytes: &[u8]) -> Result<()> {
            self.process.write(bytes).await
        }
        async fn close_write(&self) -> Result<()> {
            self.process.close_write().await
        }
        async fn is_alive(&self) -> Result<bool> {
            self.process.is_alive().await
        }
        async fn wait(&self, timeout: Option<Duration>, terminate: bool) -> Result<ExitStatus> {
            self.process.wait(timeout, terminate).await
        }
        async fn terminate(&self) -> Result<Option<ExitStatus>> {
            self.process.terminate().await
        }
        async fn close(&self) -> Result<()> {
            self.process.close().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::tests::folder::Folder;

    fn program() -> Program {
        let mut program = Program::new(["/inside/own", "/inside/other"]);
        program.data = vec![("/inside/own".to_owned(), b"#!/bin/sh\n".as_slice().into())];
        program
    }

    #[test]
    fn files_lie_in_the_workspace_as_long_as_their_folder_is_kept() {
        let folder = Folder::new();
        let mut program = program();
        let kept = place_in_workspace(&mut program, folder.path(), &Policy::default()).unwrap();
        assert_eq!(program.command[1], "/inside/other");
        assert!(program.data.is_empty());
        let path = Path::new(&program.command[0]);
        assert!(path.starts_with(folder.path()));
        assert_eq!(std::fs::read(path).unwrap(), b"#!/bin/sh\n");
        drop(kept);
        assert!(!path.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn they_need_the_root_of_the_workspace() {
        let folder = Folder::new();
        let hidden = Policy {
            files: Vec::new(),
            ..Policy::default()
        };
        let gone = folder.path().join("gone");
        for (root, policy, word) in [
            (folder.path(), hidden, "files.root"),
            (gone.as_path(), Policy::default(), "directory"),
        ] {
            let problem = place_in_workspace(&mut program(), root, &policy).unwrap_err();
            assert_eq!(problem.kind(), ErrorKind::Capability);
            assert!(problem.message().contains(word), "{problem}");
        }
        let mut without = Program::new(["true"]);
        let none = place_in_workspace(&mut without, &gone, &Policy::default()).unwrap();
        assert!(none.is_none());
    }
}
