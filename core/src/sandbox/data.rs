//! Files that exist for one program only, where no namespace can hold them.

use std::os::fd::OwnedFd;

use super::process_trait::Process;
use super::program::Program;
use super::scratch::Scratch;
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
    for (inside, bytes) in std::mem::take(&mut program.data) {
        let path = put(&mut placed, &bytes).map_err(|problem| {
            Error::new(
                ErrorKind::Error,
                format!("cannot keep a file for the program ({})", problem.kind()),
            )
        })?;
        for word in program.command.iter_mut().filter(|word| **word == inside) {
            word.clone_from(&path);
        }
    }
    Ok(placed)
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
pub(super) fn keep(process: Box<dyn Process>, folder: Option<Scratch>) -> Box<dyn Process> {
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
