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

impl Narrowing {
    /// Whether this is no more than `parent`.
    #[must_use]
    pub fn is_within(&self, parent: &Self) -> bool {
        let network = match (&self.network, &parent.network) {
            (own, parent) if own == parent => true,
            (Some(own), Some(parent)) => own.is_within(parent),
            (Some(own), None) => *own == NetworkPolicy::none(),
            (None, _) => false,
        };
        network
            && contains(&parent.files, &self.files)
            && contains(&parent.runtime_paths, &self.runtime_paths)
            && self.capabilities == self.capabilities.intersect(&parent.capabilities)
    }
}

fn contains(parent: &PathAccess, own: &PathAccess) -> bool {
    own.iter().all(|(name, access)| {
        let granted = parent.iter().find(|(known, _)| known == name);
        granted.is_some_and(|(_, granted)| access <= granted)
    })
}
