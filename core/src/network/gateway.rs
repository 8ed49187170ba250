//! What a sandbox's backend needs of a gateway.

use std::path::PathBuf;

use async_trait::async_trait;

use crate::error::Result;
use crate::run::Run;

/// A directory or file of the host that child processes see, read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayMount {
    /// Where it is.
    pub source: PathBuf,
    /// Where children see it.
    pub target: PathBuf,
}

/// A proxy that lets only the destinations of an allowlist through.
///
/// The sandbox that uses it must keep its children from every other way out. It opens the gateway with itself, asks
/// [`validate`](Self::validate) before each child, and closes the gateway with itself.
#[async_trait]
pub trait Gateway: Send + Sync {
    /// Starts what the gateway owns, for `run` if it is for one. Opening an open gateway does nothing.
    ///
    /// # Errors
    /// Whatever failed. Nothing is left behind then.
    async fn open(&self, run: Option<&Run>) -> Result<()>;

    /// Stops what the gateway owns. Closing a closed gateway does nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Cleanup`](crate::ErrorKind::Cleanup) for what could not be removed.
    async fn close(&self) -> Result<()>;

    /// Fails unless the gateway is ready to enforce its policy for one more child.
    ///
    /// # Errors
    /// Whatever keeps it from that; the child is not started then.
    async fn validate(&self) -> Result<()>;

    /// What must be visible to children, above all the proxy's socket. Empty before [`open`](Self::open).
    fn mounts(&self) -> Vec<GatewayMount>;

    /// Variables for children: proxies, and what they should trust.
    fn environment(&self) -> Vec<(String, String)>;

    /// The proxy's socket on the host, once there is one.
    fn proxy_socket(&self) -> Option<PathBuf> {
        None
    }

    /// The proxy's socket as children see it. The backend relays
    /// [`PROXY_PORT`](super::PROXY_PORT) of the child's own loopback address to it.
    fn proxy_mount_path(&self) -> Option<PathBuf>;

    /// A container network that only clients of the sandbox are on, for gateways that use one.
    fn client_network(&self) -> Option<String> {
        None
    }

    /// Directories of the host that children must not see, wherever else the policy would show them.
    fn hidden(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
