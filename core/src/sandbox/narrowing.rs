//! What is left of a sandbox's authority.

use super::capabilities::Capabilities;
use super::network_policy::NetworkPolicy;
use super::policy::PathAccess;

/// What a [`Scope`](super::Scope) left of a sandbox's authority.
#[derive(Clone, Debug, PartialEq)]
pub struct Narrowing {
    /// Paths for tools and child processes.
    pub files: PathAccess,
    /// Paths for child processes only.
    pub runtime_paths: PathAccess,
    /// Operations.
    pub capabilities: Capabilities,
    /// Where child processes may connect to; `None` is the sandbox's own choice.
    pub network: Option<NetworkPolicy>,
}
