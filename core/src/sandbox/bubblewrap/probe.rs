//! Whether `bwrap` works here.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use parking_lot::Mutex;

use super::arguments::ProcFilesystem;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{Execution, ProcessOptions, ProcessSession};

const PATIENCE: Duration = Duration::from_secs(5);

/// An executable as it was when it worked. Another one at the same path differs in something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Identity {
    /// `None` when there is nothing at `path`.
    fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            bytes: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
        })
    }
}

/// What worked in this process. Failures are not kept: they may be mended meanwhile.
static WORKED: LazyLock<Mutex<HashMap<(PathBuf, ProcFilesystem), Identity>>> =
    LazyLock::new(Mutex::default);

/// Probes, unless the same executable has worked before. If the kernel has changed its mind since then, a program that
/// is started says so.
///
/// # Errors
/// As [`probe`].
pub(super) async fn ensure(executable: &Path, platform: &str, proc: ProcFilesystem) -> Result<()> {
    let identity = Identity::of(executable);
    let key = (executable.to_owned(), proc);
    let worked = identity.is_some() && WORKED.lock().get(&key) == identity.as_ref();
    if worked && is_linux(platform) {
        return Ok(());
    }
    probe(executable, platform, proc).await?;
    if let Some(identity) = identity {
        WORKED.lock().insert(key, identity);
    }
    Ok(())
}

fn is_linux(platform: &str) -> bool {
    platform.contains("linux")
}

/// Runs a program that does nothing in the same namespaces that sandboxes use.
///
/// # Errors
/// [`UnsupportedPlatform`](ErrorKind::UnsupportedPlatform) elsewhere than on Linux;
/// [`Dependency`](ErrorKind::Dependency) when `bwrap` is missing or does not work.
pub(super) async fn probe(executable: &Path, platform: &str, proc: ProcFilesystem) -> Result<()> {
    if !is_linux(platform) {
        return Err(Error::new(
            ErrorKind::UnsupportedPlatform,
            format!("Bubblewrap belongs to Linux, and this is {platform}; use the native sandbox"),
        ));
    }
    let shown = executable.display();
    if !executable.is_file() {
        return Err(Error::new(
            ErrorKind::Dependency,
            format!("Bubblewrap needs {shown}, which is missing; install the package bubblewrap"),
        ));
    }
    let mut command = vec![executable.to_string_lossy().into_owned()];
    // `bwrap` reaps only a program that is the first process inside; of others it leaves one to the system.
    let namespaces = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try \
        --as-pid-1 --new-session --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev";
    command.extend(
        namespaces
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_owned),
    );
    if proc == ProcFilesystem::New {
        command.extend(["--proc", "/proc"].map(str::to_owned));
    }
    command.extend(["--", "/bin/true"].map(str::to_owned));
    let process = ProcessSession::start(ProcessOptions::new(command)).await?;
    let problem = match Execution::of(&process, PATIENCE, 1_000).await {
        Ok(execution) if execution.is_success() => return Ok(()),
        Ok(execution) => execution.stderr.trim().to_owned(),
        Err(_) => format!("it took longer than {} seconds", PATIENCE.as_secs()),
    };
    Err(Error::new(
        ErrorKind::Dependency,
        format!(
            "Bubblewrap cannot make a sandbox here: {problem}; the kernel must allow user namespaces"
        ),
    ))
}
