//! What is said when a name means nothing.

use super::{ModelResolver, names};
use crate::error::{Error, ErrorKind};
use crate::provider::adapter;
use crate::provider::target::Target;

impl ModelResolver {
    pub(super) fn connection_names(&self) -> String {
        names(&self.connections)
    }

    pub(super) fn unknown_role(&self, role: &str) -> Error {
        let known = if self.profiles.is_empty() {
            "no models are configured".to_owned()
        } else {
            format!("configured are {}", names(&self.profiles))
        };
        Error::new(
            ErrorKind::Configuration,
            format!(
                "unknown model role {role:?}: {known}. Add it to models with a target, or name a \
                 target directly, such as \"openrouter:openai/gpt-5.6-luna\""
            ),
        )
    }

    pub(super) fn unknown_connection(&self, target: &Target) -> Error {
        let name = &target.connection;
        let known = if self.connections.is_empty() {
            "no connections are configured".to_owned()
        } else {
            format!("configured are {}", self.connection_names())
        };
        let advice = match name.as_str() {
            "openrouter" if !self.configured => "Set OPENROUTER_API_KEY, or add it",
            "openai" if !self.configured => "Set OPENAI_API_KEY, or add it",
            _ => "Add it",
        };
        Error::new(
            ErrorKind::Configuration,
            format!(
                "unknown model provider {name:?} in {:?}: {known}. {advice} to providers with an \
                 adapter and its options",
                target.canonical()
            ),
        )
    }

    pub(super) fn host_only(&self, connection: &str, adapter: &str) -> Error {
        Error::new(
            ErrorKind::AdapterLoad,
            format!(
                "connection {connection:?} uses the application's own adapter {adapter:?}, which \
                 only its own language can build"
            ),
        )
    }

    pub(super) fn unknown_adapter(&self, connection: &str, adapter: &str) -> Error {
        let own = if self.adapters.is_empty() {
            String::new()
        } else {
            format!(", {}", names(&self.adapters))
        };
        Error::new(
            ErrorKind::AdapterLoad,
            format!(
                "connection {connection:?} uses the unknown adapter {adapter:?}; available are \
                 {}{own}",
                adapter::names()
            ),
        )
    }
}
