//! How Envoy is run: as a process, or in a container.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::container::{Container, docker_command};
use crate::error::{Error, ErrorKind, Result};

/// Who runs Envoy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnvoyRuntime {
    /// A process where the executable is there, else a container.
    #[default]
    Auto,
    /// A process.
    Native,
    /// A container of Docker.
    Docker,
}

impl EnvoyRuntime {
    /// The name in declarations: `"auto"`, `"native"` or `"docker"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            EnvoyRuntime::Auto => "auto",
            EnvoyRuntime::Native => "native",
            EnvoyRuntime::Docker => "docker",
        }
    }

    /// The runtime of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Auto, Self::Native, Self::Docker]
            .into_iter()
            .find(|runtime| runtime.as_str() == name)
    }
}

/// When the image of a container is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pull {
    /// When it is not there yet.
    #[default]
    IfMissing,
    /// Each time.
    Always,
    /// Never.
    Never,
}

impl Pull {
    /// The name in declarations: `"if_missing"`, `"always"` or `"never"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Pull::IfMissing => "if_missing",
            Pull::Always => "always",
            Pull::Never => "never",
        }
    }

    /// The policy of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::IfMissing, Self::Always, Self::Never]
            .into_iter()
            .find(|pull| pull.as_str() == name)
    }

    const fn of_docker(self) -> &'static str {
        match self {
            Pull::IfMissing => "missing",
            Pull::Always => "always",
            Pull::Never => "never",
        }
    }
}

/// Where Envoy and Docker are, and which image to run.
#[derive(Clone, Debug)]
pub(super) struct Executables {
    pub(super) runtime: EnvoyRuntime,
    pub(super) envoy: String,
    pub(super) docker: String,
    pub(super) image: Option<String>,
    pub(super) pull: Pull,
}

/// A decided way to run Envoy.
#[derive(Debug)]
pub(super) enum Run {
    Native(PathBuf),
    Docker {
        docker: PathBuf,
        image: String,
        pull: Pull,
    },
}

impl Executables {
    /// Decides how to run Envoy on this machine.
    pub(super) fn choose(&self) -> Result<Run> {
        match self.runtime {
            EnvoyRuntime::Native => self.native(),
            EnvoyRuntime::Docker => self.container(),
            EnvoyRuntime::Auto => self.native().or_else(|missing| {
                // Without an image nobody meant containers, so the missing executable is the news.
                if self.image.is_some() {
                    self.container()
                } else {
                    Err(missing)
                }
            }),
        }
    }

    fn native(&self) -> Result<Run> {
        find(&self.envoy).map(Run::Native).ok_or_else(|| {
            dependency(format!(
                "the network gateway needs Envoy, and there is no executable {:?}: install it, or give its path as envoy",
                self.envoy
            ))
        })
    }

    fn container(&self) -> Result<Run> {
        let image = self.image.clone().ok_or_else(|| {
            dependency(
                "the network gateway needs an image to run Envoy in Docker: give one pinned by digest as image".into(),
            )
        })?;
        if !is_pinned(&image) {
            return Err(dependency(format!(
                "the image {image:?} may change: pin it by digest, as in \"envoyproxy/envoy@sha256:...\""
            )));
        }
        let docker = find(&self.docker).ok_or_else(|| {
            dependency(format!(
                "the network gateway is to run in Docker, and there is no executable {:?}",
                self.docker
            ))
        })?;
        let pull = self.pull;
        Ok(Run::Docker {
            docker,
            image,
            pull,
        })
    }
}

impl Run {
    /// The command that runs Envoy with its configuration, which lies in `directory`.
    pub(super) fn command(&self, directory: &Path, bootstrap: &Path, name: &str) -> Command {
        match self {
            Run::Native(envoy) => {
                let mut command = Command::new(envoy);
                command.env_clear().current_dir(directory);
                command.envs(env::var_os("PATH").map(|path| ("PATH", path)));
                command.args(arguments(bootstrap));
                command
            }
            Run::Docker {
                docker,
                image,
                pull,
            } => {
                let mut command = docker_command(docker);
                let mount = format!("type=bind,source={0},target={0}", directory.display());
                let user = format!(
                    "{}:{}",
                    rustix::process::geteuid().as_raw(),
                    rustix::process::getegid().as_raw()
                );
                command
                    .args(["run", "--rm", "--name", name, "--pull", pull.of_docker()])
                    .args([
                        "--label",
                        &format!("little-ghost.pid={}", std::process::id()),
                    ])
                    .args(["--user", &user, "--read-only", "--cap-drop", "ALL"])
                    .args(["--security-opt", "no-new-privileges"])
                    .args(["--pids-limit", "256", "--memory", "512m"])
                    .args(["--mount", &mount, "--entrypoint", "envoy", image])
                    .args(arguments(bootstrap));
                command
            }
        }
    }

    /// The container to remove after the end, if it runs in one.
    pub(super) fn container(&self, name: &str) -> Option<Container> {
        match self {
            Run::Native(_) => None,
            Run::Docker { docker, .. } => Some(Container::new(docker, name)),
        }
    }
}

fn arguments(bootstrap: &Path) -> Vec<String> {
    let bootstrap = bootstrap.to_string_lossy();
    [
        "--config-path",
        &bootstrap,
        "--disable-hot-restart",
        "--concurrency",
        "1",
        "--log-level",
        "error",
    ]
    .map(str::to_owned)
    .into()
}

fn is_pinned(image: &str) -> bool {
    let Some((name, digest)) = image.split_once("@sha256:") else {
        return false;
    };
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    // A name that starts like an option would be one.
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !name.contains(char::is_whitespace)
        && digest.len() == 64
        && digest.bytes().all(hex)
}

/// The executable at a path, or of a name on `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return fs::canonicalize(name).ok().filter(runs);
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(runs)
}

fn dependency(message: String) -> Error {
    Error::new(ErrorKind::Dependency, message)
}

#[cfg(test)]
mod tests {
    use super::super::container::DOCKER_VARIABLES;
    use super::*;

    const IMAGE: &str =
        "envoyproxy/envoy@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn executables(runtime: EnvoyRuntime, image: Option<&str>) -> Executables {
        Executables {
            runtime,
            envoy: "/nowhere/envoy".into(),
            docker: "/bin/sh".into(),
            image: image.map(str::to_owned),
            pull: Pull::Never,
        }
    }

    #[test]
    fn a_container_gets_nothing_but_its_directory() {
        let run = executables(EnvoyRuntime::Auto, Some(IMAGE))
            .choose()
            .unwrap();
        let command = run.command(
            Path::new("/tmp/g"),
            Path::new("/tmp/g/b.json"),
            "little-ghost-x",
        );
        let arguments: Vec<String> = command
            .get_args()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let line = arguments.join(" ");
        for part in [
            "run --rm --name little-ghost-x --pull never",
            "--read-only --cap-drop ALL --security-opt no-new-privileges",
            "--mount type=bind,source=/tmp/g,target=/tmp/g --entrypoint envoy envoyproxy/envoy@sha256:",
            "--config-path /tmp/g/b.json --disable-hot-restart",
        ] {
            assert!(line.contains(part), "{line}");
        }
        let inherited: Vec<String> = command
            .get_envs()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        assert!(
            inherited
                .iter()
                .all(|name| DOCKER_VARIABLES.contains(&name.as_str()))
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let message = |runtime, image: Option<&str>| {
            let error = executables(runtime, image).choose().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Dependency);
            error.message().to_owned()
        };
        assert!(message(EnvoyRuntime::Native, None).contains("/nowhere/envoy"));
        assert!(message(EnvoyRuntime::Auto, None).contains("/nowhere/envoy"));
        assert!(message(EnvoyRuntime::Docker, None).contains("pinned by digest"));
        for image in [
            "envoyproxy/envoy:v1.40",
            "envoyproxy/envoy@sha256:12",
            &format!("--privileged {IMAGE}"),
        ] {
            assert!(
                message(EnvoyRuntime::Docker, Some(image)).contains("pin it"),
                "{image}"
            );
        }
    }
}
