//! Whether `bwrap` works here.

use std::path::Path;
use std::time::Duration;

use super::arguments::ProcFilesystem;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{Execution, ProcessOptions, ProcessSession};

const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a program that does nothing in the same namespaces that sandboxes use.
///
/// # Errors
/// [`UnsupportedPlatform`](ErrorKind::UnsupportedPlatform) elsewhere than on Linux;
/// [`Dependency`](ErrorKind::Dependency) when `bwrap` is missing or does not work.
pub(super) async fn probe(executable: &Path, platform: &str, proc: ProcFilesystem) -> Result<()> {
    if !platform.contains("linux") {
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
    let namespaces = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try \
        --new-session --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev";
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
