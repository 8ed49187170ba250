//! Containers that Envoy runs in.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::error::{Error, ErrorKind, Result};

/// What Docker's client may know of this process.
pub(super) const DOCKER_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
];

/// A container by name. Dropping it has it removed.
#[derive(Debug)]
pub(super) struct Container {
    docker: PathBuf,
    name: String,
    removed: bool,
}

impl Container {
    pub(super) fn new(docker: &Path, name: &str) -> Self {
        Self {
            docker: docker.to_owned(),
            name: name.to_owned(),
            removed: false,
        }
    }

    /// Removes it, whatever it does. It may be gone already.
    pub(super) fn remove(&mut self) -> Result<()> {
        self.removed = true;
        let mut command = docker_command(&self.docker);
        command
            .args(["rm", "--force", &self.name])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let failed = |why: &str| {
            Error::new(
                ErrorKind::Cleanup,
                format!(
                    "cannot remove the container {} of the network gateway: {why}",
                    self.name
                ),
            )
        };
        let output = command
            .output()
            .map_err(|error| failed(&error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || said.contains("No such container") {
            Ok(())
        } else {
            Err(failed(said.trim()))
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if !self.removed {
            let mut container = Self {
                docker: self.docker.clone(),
                name: self.name.clone(),
                removed: true,
            };
            // Docker may take seconds, and whoever drops must not wait.
            let _ = thread::Builder::new()
                .name("little-ghost-container".into())
                .spawn(move || container.remove());
        }
    }
}

/// The client, which knows of this process only that.
pub(super) fn docker_command(docker: &Path) -> Command {
    let mut command = Command::new(docker);
    command.env_clear();
    for name in DOCKER_VARIABLES {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    command
}
