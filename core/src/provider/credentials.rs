//! Credentials from the environment.

use std::fmt;
use std::sync::Arc;

use super::config::ProviderConfig;

/// Where OpenRouter's key may be, in order of preference.
pub(super) const OPENROUTER_VARIABLES: &[&str] =
    &["LITTLEGHOST_OPENROUTER_API_KEY", "OPENROUTER_API_KEY"];

/// Where OpenAI's key may be, in order of preference.
pub(super) const OPENAI_VARIABLES: &[&str] = &["LITTLEGHOST_OPENAI_API_KEY", "OPENAI_API_KEY"];

/// Where a key of Bedrock itself may be; without one, requests are signed.
pub(super) const BEDROCK_VARIABLES: &[&str] = &["AWS_BEARER_TOKEN_BEDROCK"];

/// Variables that make a connection when none is configured, in order of preference.
const CONVENTIONAL: &[(&str, &str)] = &[
    ("LITTLEGHOST_OPENROUTER_API_KEY", "openrouter"),
    ("LITTLEGHOST_OPENAI_API_KEY", "openai"),
    ("OPENROUTER_API_KEY", "openrouter"),
    ("OPENAI_API_KEY", "openai"),
];

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Reads environment variables: the process's own, or a stand-in.
#[derive(Clone)]
pub struct Environment(Arc<Lookup>);

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// No variables at all.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(|_| None)
    }

    /// An environment of the application's choice.
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// A variable that is set and not blank.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// The key of the service behind `adapter`, if the environment has it.
    pub(super) fn key_for(&self, adapter: &str) -> Option<String> {
        let variables = match adapter {
            "openai" => OPENAI_VARIABLES,
            "openrouter" => OPENROUTER_VARIABLES,
            "bedrock" => BEDROCK_VARIABLES,
            _ => &[],
        };
        variables.iter().find_map(|name| self.get(name))
    }

    /// Connections for the keys that are set, named like their adapters.
    pub(super) fn connections(&self) -> Vec<(String, ProviderConfig)> {
        let mut connections: Vec<(String, ProviderConfig)> = Vec::new();
        for (variable, adapter) in CONVENTIONAL {
            let known = connections.iter().any(|(name, _)| name == adapter);
            if !known && let Some(key) = self.get(variable) {
                let config = ProviderConfig::new(*adapter).api_key(key);
                connections.push(((*adapter).to_owned(), config));
            }
        }
        connections
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Environment")
    }
}

/// The conventional variables, for messages.
pub(super) fn conventional_names() -> String {
    let names: Vec<&str> = CONVENTIONAL.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
