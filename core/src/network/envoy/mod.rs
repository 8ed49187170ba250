//! A gateway that runs Envoy.

mod authorization;
mod bootstrap;
mod builder;
mod container;
mod inspection;
mod instance;
mod probe;
mod process;
mod runtime;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;

pub use builder::EnvoyGatewayBuilder;
pub use runtime::{EnvoyRuntime, Pull};

use super::authorizer::Guard;
use super::environment::{proxy_environment, trust_environment};
use super::gateway::{Gateway, GatewayMount};
use super::{Authorizer, Endpoint};
use crate::error::{Error, ErrorKind, Result};
use crate::run::Run;
use crate::sandbox::{Inspection, NetworkPolicy};
use instance::Instance;
use runtime::Executables;

/// Where children see the socket and what they should trust.
const MOUNT: &str = "/run/little-ghost/network";
/// How long the proxy may take to deny what it must deny, before a child is started.
const PROBE: Duration = Duration::from_secs(2);

/// A gateway that runs one Envoy, as a process or in a container, for as long as it is open.
///
/// Without inspection it sees where connections go, not what goes through them. With
/// [`Inspection::Http`] it ends TLS with certificates of an authority that is made for this gateway and vouches for the
/// allowed hosts only, has the [`Authorizer`] decide about each request, and opens TLS again to the server, which must prove who
/// it is. Children are told to trust the authority by variables; programs that pin certificates or have a store of their
/// own may not work.
///
/// ```no_run
/// use little_ghost::network::EnvoyGateway;
/// use little_ghost::sandbox::NetworkPolicy;
///
/// # fn example() -> little_ghost::Result<()> {
/// let policy = NetworkPolicy::allowlist(["api.example.com:443", "docs.example.com:443"])?;
/// let gateway = EnvoyGateway::builder(policy).build()?;
/// # Ok(())
/// # }
/// ```
pub struct EnvoyGateway {
    policy: NetworkPolicy,
    allow: Vec<Endpoint>,
    executables: Executables,
    dns: Vec<SocketAddr>,
    addresses: Vec<(Endpoint, SocketAddr)>,
    /// Authorities of upstream servers as PEM, in place of the system's.
    roots: Option<String>,
    authorizer: Option<Arc<dyn Authorizer>>,
    patience: Duration,
    /// Only one opening or closing at a time.
    changing: tokio::sync::Mutex<()>,
    instance: Mutex<Option<Arc<Instance>>>,
}

impl EnvoyGateway {
    /// Starts a gateway for an allowlist.
    pub fn builder(policy: NetworkPolicy) -> EnvoyGatewayBuilder {
        EnvoyGatewayBuilder::new(policy)
    }

    /// The policy that it enforces.
    #[must_use]
    pub fn policy(&self) -> &NetworkPolicy {
        &self.policy
    }

    /// Who was asked to run Envoy.
    #[must_use]
    pub fn runtime(&self) -> EnvoyRuntime {
        self.executables.runtime
    }

    fn inspects(&self) -> bool {
        self.policy.inspection == Inspection::Http
    }

    fn instance(&self) -> Option<Arc<Instance>> {
        self.instance.lock().clone()
    }

    /// The limits of the policy around the authorizer; `None` without inspection.
    fn guard(&self) -> Option<Guard> {
        let mutation_headers: BTreeSet<String> =
            self.policy.mutation_headers.iter().cloned().collect();
        self.authorizer
            .clone()
            .filter(|_| self.inspects())
            .map(|authorizer| Guard::new(authorizer, mutation_headers, self.patience))
    }
}

#[async_trait]
impl Gateway for EnvoyGateway {
    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        let _changing = self.changing.lock().await;
        if self.instance().is_none() {
            let started = Instance::start(self).await?;
            *self.instance.lock() = Some(Arc::new(started));
        }
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let _changing = self.changing.lock().await;
        let instance = self.instance.lock().take();
        match instance {
            Some(instance) => instance.stop().await,
            None => Ok(()),
        }
    }

    async fn validate(&self) -> Result<()> {
        let instance = self.instance().ok_or_else(|| {
            Error::new(
                ErrorKind::Dependency,
                "the network gateway is not open: open its sandbox first",
            )
        })?;
        instance.validate(PROBE).await
    }

    fn mounts(&self) -> Vec<GatewayMount> {
        self.instance()
            .map(|instance| GatewayMount {
                source: instance.client().to_owned(),
                target: MOUNT.into(),
            })
            .into_iter()
            .collect()
    }

    fn environment(&self) -> Vec<(String, String)> {
        let mut variables = proxy_environment();
        if self.inspects() {
            variables.extend(trust_environment(&format!(
                "{MOUNT}/{}",
                instance::AUTHORITY
            )));
        }
        variables
    }

    fn proxy_socket(&self) -> Option<PathBuf> {
        self.instance()
            .map(|instance| instance.client().join(instance::SOCKET))
    }

    fn proxy_mount_path(&self) -> Option<PathBuf> {
        Some(PathBuf::from(MOUNT).join(instance::SOCKET))
    }

    fn hidden(&self) -> Vec<PathBuf> {
        self.instance()
            .map(|instance| instance.directory().to_owned())
            .into_iter()
            .collect()
    }
}

impl std::fmt::Debug for EnvoyGateway {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EnvoyGateway")
            .field("policy", &self.policy)
            .field("runtime", &self.executables.runtime)
            .field("open", &self.instance().is_some())
            .finish_non_exhaustive()
    }
}
