//! From what a caller names to what a model is built from.

use serde_json::{Map, Value};

use super::{DEFAULT_ROLE, ModelResolver, find};
use crate::error::{Error, ErrorKind, Result};
use crate::provider::credentials::conventional_names;
use crate::provider::profile::{Profile, prefixes};
use crate::provider::target::Target;

/// What the default role stands for when no models are configured, by adapter.
const CONVENTIONAL_MODELS: &[(&str, &str)] = &[
    ("openrouter", "openai/gpt-5.6-luna"),
    ("openai", "gpt-5.6-luna"),
];

/// A selection brought down to what a model is built from.
pub(super) struct Selection {
    pub(super) target: Target,
    pub(super) role: Option<String>,
    pub(super) profile: Profile,
}

impl ModelResolver {
    pub(super) fn select_name(
        &self,
        name: &str,
        overlay: &Map<String, Value>,
    ) -> Result<Selection> {
        let name = name.trim();
        if name.contains(':') {
            return Ok(Selection {
                target: Target::parse(name)?,
                role: None,
                profile: Profile::default(),
            });
        }
        let mut profile = match prefixes(name).find(|prefix| self.profile(prefix).is_some()) {
            Some(prefix) => Some(self.expand(prefix)?),
            None if self.profiles.is_empty() && name == DEFAULT_ROLE => {
                Some(Profile::new(self.conventional_target()?))
            }
            None => None,
        };
        let mut shortest_first: Vec<&str> = prefixes(name).collect();
        shortest_first.reverse();
        for prefix in shortest_first {
            if let Some(value) = overlay.get(prefix) {
                let over = Profile::from_value(prefix, value)?;
                profile = Some(profile.unwrap_or_default().overlaid(over));
            }
        }
        let profile = profile.ok_or_else(|| self.unknown_role(name))?;
        let target = profile.target.as_deref().ok_or_else(|| {
            Error::new(
                ErrorKind::Configuration,
                format!("model {name:?} has no target: set it to \"connection:model-id\""),
            )
        })?;
        Ok(Selection {
            target: Target::parse(target)?,
            role: Some(name.to_owned()),
            profile,
        })
    }

    pub(super) fn select_inline(inline: &Map<String, Value>) -> Result<Selection> {
        let text = |key: &str| inline.get(key).and_then(Value::as_str).unwrap_or_default();
        let (connection, model) = (text("provider"), text("model"));
        if connection.is_empty() || model.is_empty() {
            return Err(Error::new(
                ErrorKind::Configuration,
                "an inline model needs provider, the name of a connection, and model, the \
                 identifier there; everything else in it is a setting",
            ));
        }
        let settings = inline
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "provider" | "model"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Ok(Selection {
            target: Target::new(connection, model)?,
            role: None,
            profile: Profile {
                settings,
                ..Profile::default()
            },
        })
    }

    fn profile(&self, role: &str) -> Option<&Profile> {
        find(&self.profiles, role)
    }

    /// The profile of `role` with everything it inherits.
    pub(super) fn expand(&self, role: &str) -> Result<Profile> {
        let mut chain: Vec<&Profile> = Vec::new();
        let mut seen = vec![role];
        let mut current = self.profile(role);
        while let Some(profile) = current {
            chain.push(profile);
            let Some(parent) = profile.inherits.as_deref() else {
                break;
            };
            if seen.contains(&parent) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "model {role:?} inherits in a circle: {} -> {parent}",
                        seen.join(" -> ")
                    ),
                ));
            }
            let found = self.profile(parent).ok_or_else(|| {
                Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "model {:?} inherits from {parent:?}, which is not configured",
                        seen.last().unwrap_or(&role)
                    ),
                )
            })?;
            seen.push(parent);
            current = Some(found);
        }
        let parents_first = chain.into_iter().rev().cloned();
        Ok(parents_first.fold(Profile::default(), Profile::overlaid))
    }

    fn conventional_target(&self) -> Result<String> {
        for (name, config) in &self.connections {
            let model = CONVENTIONAL_MODELS
                .iter()
                .find(|(adapter, _)| *adapter == config.adapter());
            if let Some((_, model)) = model {
                return Ok(format!("{name}:{model}"));
            }
        }
        if self.configured {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "no default model: the configured connections ({}) have no conventional one. \
                     Set default_model to a \"connection:model-id\" or to a role in models",
                    self.connection_names()
                ),
            ));
        }
        Err(Error::new(
            ErrorKind::Credential,
            format!(
                "no model provider is configured and no key is set: set one of {}, or \
                 configure providers",
                conventional_names()
            ),
        ))
    }
}
