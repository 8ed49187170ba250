//! A gateway that the application runs.

use std::fs;
use std::future::Future;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::gateway::{Gateway, GatewayMount};
use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught;
use crate::run::Run;
use crate::sandbox::NetworkPolicy;
use crate::workspace::Workspace;

type Check = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<()>> + Send>> + Send + Sync>;

/// Shows a proxy of the application to child processes.
///
/// The application owns its policy, credentials, readiness, logs and cleanup; nothing here attests that it enforces anything. What is
/// checked before each child is that its directories are still the ones that were there at [`open`](Gateway::open), and
/// whatever [`validate_with`](Self::validate_with) asks.
pub struct ExternalGateway {
    policy: NetworkPolicy,
    workspace: Arc<Workspace>,
    runtime_paths: Vec<String>,
    proxy_mount_path: PathBuf,
    environment: Vec<(String, String)>,
    check: Option<Check>,
    pinned: Mutex<Option<Vec<Pinned>>>,
}

/// A directory as it was when the gateway was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pinned {
    name: String,
    path: PathBuf,
    real: PathBuf,
    device: u64,
    inode: u64,
}

impl Pinned {
    fn is_still_there(&self) -> bool {
        let same = |real: PathBuf| {
            let found = fs::symlink_metadata(&real)?;
            let same = (found.dev(), found.ino()) == (self.device, self.inode);
            std::io::Result::Ok(same && real == self.real)
        };
        fs::canonicalize(&self.path).and_then(same).unwrap_or(false)
    }
}

impl ExternalGateway {
    /// A gateway whose proxy listens on the Unix socket `proxy_mount_path`, in a directory that `runtime_paths` names. Those are
    /// paths of the workspace that child processes see and tools do not; they are the same inside and outside.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`] for a policy that is no allowlist, no path or an unknown one, or a socket that is no absolute path.
    pub fn new<T: Into<String>>(
        policy: NetworkPolicy,
        workspace: Arc<Workspace>,
        runtime_paths: impl IntoIterator<Item = T>,
        proxy_mount_path: impl Into<PathBuf>,
    ) -> Result<Self> {
        let runtime_paths: Vec<String> = runtime_paths.into_iter().map(Into::into).collect();
        let proxy_mount_path = proxy_mount_path.into();
        if !policy.is_allowlist() {
            return Err(invalid(
                "a network gateway enforces an allowlist: give it a policy with that mode".into(),
            ));
        }
        if runtime_paths.is_empty() {
            return Err(invalid(
                "an external gateway needs the workspace path that its socket is in".into(),
            ));
        }
        if let Some(name) = runtime_paths
            .iter()
            .find(|name| workspace.path(name).is_err())
        {
            return Err(invalid(format!(
                "the workspace has no path {name:?} for the external gateway"
            )));
        }
        let plain = proxy_mount_path
            .components()
            .all(|part| !matches!(part, std::path::Component::ParentDir));
        if !proxy_mount_path.is_absolute() || !plain {
            return Err(invalid(format!(
                "the external gateway's socket {} must be an absolute path without \"..\"",
                proxy_mount_path.display()
            )));
        }
        Ok(Self {
            policy,
            workspace,
            runtime_paths,
            proxy_mount_path,
            environment: Vec::new(),
            check: None,
            pinned: Mutex::new(None),
        })
    }

    /// Gives children these variables, which win over those that name the proxy's port.
    #[must_use]
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.environment = variables.into_iter().collect();
        self
    }

    /// Asks `check` before each child; a failure keeps the child from starting.
    #[must_use]
    pub fn validate_with<F>(mut self, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.check = Some(Arc::new(move || Box::pin(check())));
        self
    }

    /// The policy that the application's proxy is said to enforce.
    #[must_use]
    pub fn policy(&self) -> &NetworkPolicy {
        &self.policy
    }

    /// Names of the workspace paths that it uses.
    #[must_use]
    pub fn runtime_paths(&self) -> &[String] {
        &self.runtime_paths
    }

    fn pin(&self) -> Result<Vec<Pinned>> {
        self.workspace.validate()?;
        let identities = self.workspace.identities()?;
        let pinned: Vec<Pinned> = self
            .runtime_paths
            .iter()
            .filter_map(|name| identities.get(name))
            .map(|identity| Pinned {
                name: identity.name.clone(),
                path: identity.path.clone(),
                real: identity.real.clone(),
                device: identity.device,
                inode: identity.inode,
            })
            .collect();
        if !contains(&pinned, &self.proxy_mount_path) {
            return Err(invalid(format!(
                "the external gateway's socket {} is in none of its workspace paths; give the path without symbolic links",
                self.proxy_mount_path.display()
            )));
        }
        Ok(pinned)
    }
}

fn contains(pinned: &[Pinned], socket: &Path) -> bool {
    pinned
        .iter()
        .any(|pinned| socket != pinned.real && socket.starts_with(&pinned.real))
}

#[async_trait]
impl Gateway for ExternalGateway {
    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        let mut pinned = self.pinned.lock();
        if pinned.is_none() {
            *pinned = Some(self.pin()?);
        }
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        *self.pinned.lock() = None;
        Ok(())
    }

    async fn validate(&self) -> Result<()> {
        let pinned = self.pinned.lock().clone().ok_or_else(|| {
            Error::new(
                ErrorKind::Dependency,
                "the external gateway is not open: open its sandbox first",
            )
        })?;
        if let Some(replaced) = pinned.iter().find(|pinned| !pinned.is_still_there()) {
            return Err(Error::new(
                ErrorKind::Dependency,
                format!(
                    "the directory of the external gateway's path {:?} was replaced after the gateway was opened",
                    replaced.name
                ),
            ));
        }
        match &self.check {
            Some(check) => caught("the validation of an external gateway", check()).await,
            None => Ok(()),
        }
    }

    fn mounts(&self) -> Vec<GatewayMount> {
        let pinned = self.pinned.lock();
        pinned
            .iter()
            .flatten()
            .map(|pinned| GatewayMount {
                source: pinned.real.clone(),
                target: pinned.real.clone(),
            })
            .collect()
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.environment.clone()
    }

    fn proxy_mount_path(&self) -> Option<PathBuf> {
        Some(self.proxy_mount_path.clone())
    }
}

/// Values of variables may be secrets.
impl std::fmt::Debug for ExternalGateway {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ExternalGateway")
            .field("policy", &self.policy)
            .field("runtime_paths", &self.runtime_paths)
            .field("proxy_mount_path", &self.proxy_mount_path)
            .finish_non_exhaustive()
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::Policy, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    async fn opened(root: &Path) -> (Arc<Workspace>, NetworkPolicy) {
        let workspace = Workspace::builder(root)
            .path("proxy", "proxy")
            .build()
            .unwrap();
        workspace.open(None).await.unwrap();
        (
            workspace,
            NetworkPolicy::allowlist(["a.example:443"]).unwrap(),
        )
    }

    fn scratch() -> super::super::directory::PrivateDirectory {
        super::super::directory::PrivateDirectory::new(&std::env::temp_dir()).unwrap()
    }

    #[tokio::test]
    async fn a_replaced_directory_keeps_children_from_starting() {
        let scratch = scratch();
        let (workspace, policy) = opened(scratch.path()).await;
        let directory = scratch.path().join("proxy");
        let gateway =
            ExternalGateway::new(policy, workspace, ["proxy"], directory.join("p.sock")).unwrap();
        assert_eq!(
            gateway.validate().await.unwrap_err().kind(),
            ErrorKind::Dependency
        );
        gateway.open(None).await.unwrap();
        gateway.validate().await.unwrap();
        let mount = GatewayMount {
            source: directory.clone(),
            target: directory.clone(),
        };
        assert_eq!(gateway.mounts(), [mount]);

        fs::rename(&directory, scratch.path().join("moved")).unwrap();
        symlink(scratch.path().join("moved"), &directory).unwrap();
        let error = gateway.validate().await.unwrap_err();
        assert!(error.message().contains("replaced"), "{error}");
        gateway.close().await.unwrap();
        assert_eq!(gateway.mounts(), []);
    }

    #[tokio::test]
    async fn the_application_is_asked_each_time() {
        let scratch = scratch();
        let (workspace, policy) = opened(scratch.path()).await;
        let socket = scratch.path().join("proxy/p.sock");
        let gateway = ExternalGateway::new(policy, workspace, ["proxy"], socket)
            .unwrap()
            .validate_with(|| async { Err(Error::tool("the proxy is down")) });
        gateway.open(None).await.unwrap();
        assert_eq!(
            gateway.validate().await.unwrap_err().message(),
            "the proxy is down"
        );
    }

    #[tokio::test]
    async fn what_does_not_fit_together_is_refused() {
        let scratch = scratch();
        let (workspace, policy) = opened(scratch.path()).await;
        let make = |policy: &NetworkPolicy, names: &[&str], socket: &str| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            ExternalGateway::new(policy.clone(), Arc::clone(&workspace), names, socket)
        };
        for refused in [
            make(&NetworkPolicy::none(), &["proxy"], "/a"),
            make(&policy, &[], "/a"),
            make(&policy, &["other"], "/a"),
            make(&policy, &["proxy"], "a"),
            make(&policy, &["proxy"], "/a/../b"),
        ] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Policy);
        }
        let elsewhere = make(&policy, &["proxy"], "/run/other.sock").unwrap();
        assert_eq!(
            elsewhere.open(None).await.unwrap_err().kind(),
            ErrorKind::Policy
        );
    }
}
