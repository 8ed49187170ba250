//! What a selection stands for, told without building a provider.

use serde_json::{Map, Value, json};

use super::{ModelResolver, Selection, find, shape};
use crate::catalog::ModelDetails;
use crate::error::{Error, ErrorKind, Result};
use crate::model::ModelCapabilities;
use crate::provider::adapter::Adapter;
use crate::provider::profile::Profile;
use crate::provider::resolved::clamp;
use crate::provider::target::Target;

/// What a selection stands for. It holds no credential and needs none.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct ModelDescription {
    /// Canonical `connection:model-id`.
    pub target: String,
    /// The role that was asked for, when it was one.
    pub role: Option<String>,
    /// Settings that every request starts from, `max_tokens` within the model's limit.
    pub settings: Map<String, Value>,
    /// Transport bounds of the profile that the adapter understands.
    pub request: Map<String, Value>,
    /// What is known about the model.
    pub details: ModelDetails,
    /// What the model can do, as far as is known without its provider.
    pub capabilities: ModelCapabilities,
    /// The adapter of the connection.
    pub adapter: String,
}

impl ModelDescription {
    /// `{target, connection, model_id, role, settings, request, details, known, capabilities,
    /// adapter}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let (connection, model) = self.target.split_once(':').unwrap_or_default();
        json!({
            "target": self.target,
            "connection": connection,
            "model_id": model,
            "role": self.role,
            "settings": self.settings,
            "request": self.request,
            "details": self.details.to_value(),
            "known": self.details.is_known(),
            "capabilities": self.capabilities.to_value(),
            "adapter": self.adapter,
        })
    }
}

impl ModelResolver {
    /// Tells what a selection stands for, without a provider or its credentials.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown role, connection or adapter.
    pub fn describe(
        &self,
        selection: &Value,
        profiles: &Map<String, Value>,
    ) -> Result<ModelDescription> {
        let Selection {
            target,
            role,
            profile,
        } = self.select(selection, profiles)?;
        let config = find(&self.connections, &target.connection)
            .ok_or_else(|| self.unknown_connection(&target))?;
        let adapter = self.adapter(&target.connection, config.adapter())?;
        let details = self.details_of(&target, config.adapter(), role.as_deref(), &profile)?;
        let mut settings = profile.settings;
        clamp(&mut settings, &details);
        let mut request = profile.request;
        if let Some(adapter) = &adapter {
            request.retain(|key, _| adapter.request_options().contains(&key.as_str()));
        }
        Ok(ModelDescription {
            target: target.canonical(),
            role,
            settings,
            request,
            capabilities: adapter.map_or_else(ModelCapabilities::unknown, |adapter| {
                adapter.capabilities(details.attributes())
            }),
            details,
            adapter: config.adapter().to_owned(),
        })
    }

    /// What is known about a target, without building its provider. Nothing is known about a
    /// connection that does not exist, unless its name is that of an adapter.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for something else than `connection:model-id`.
    pub fn details(&self, target: &str) -> Result<ModelDetails> {
        let target = Target::parse(target.trim())?;
        let adapter = find(&self.connections, &target.connection).map(|config| config.adapter());
        Ok(self.catalog.details(&target.canonical(), adapter))
    }

    /// The connections, with the names of their adapters.
    pub fn connections(&self) -> impl Iterator<Item = (&str, &str)> {
        self.connections
            .iter()
            .map(|(name, config)| (name.as_str(), config.adapter()))
    }

    /// Whether there is a connection of that name.
    #[must_use]
    pub fn has_connection(&self, name: &str) -> bool {
        find(&self.connections, name).is_some()
    }

    /// True the first time that it is asked about a target: whoever warns about a model that nothing
    /// is known of warns once.
    #[must_use]
    pub fn first_mention(&self, target: &str) -> bool {
        // Not waited for, as in `provider`: a repeated warning does no harm.
        self.mentioned
            .try_lock()
            .is_none_or(|mut mentioned| mentioned.insert(target.to_owned()))
    }

    pub(super) fn select(
        &self,
        selection: &Value,
        profiles: &Map<String, Value>,
    ) -> Result<Selection> {
        match selection {
            Value::Null => self.select_name(&self.default_model, profiles),
            Value::String(name) => self.select_name(name, profiles),
            Value::Object(inline) => Self::select_inline(inline),
            other => Err(shape(
                "a model",
                "a role, a target or a mapping with provider and model",
                other,
            )),
        }
    }

    /// The adapter of a connection; `None` for one of the host's own.
    pub(super) fn adapter(&self, connection: &str, name: &str) -> Result<Option<Adapter>> {
        if self.host_adapters.iter().any(|known| known == name) {
            return Ok(None);
        }
        find(&self.adapters, name)
            .cloned()
            .or_else(|| Adapter::built_in(name))
            .map(Some)
            .ok_or_else(|| self.unknown_adapter(connection, name))
    }

    /// What the profile states, or else what the catalog has.
    pub(super) fn details_of(
        &self,
        target: &Target,
        adapter: &str,
        role: Option<&str>,
        profile: &Profile,
    ) -> Result<ModelDetails> {
        let canonical = target.canonical();
        let Some(stated) = &profile.details else {
            return Ok(self.catalog.details(&canonical, Some(adapter)));
        };
        match stated.get("target").and_then(Value::as_str) {
            Some(other) if other != canonical => Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "details of model {:?} describe another target than {canonical}",
                    role.unwrap_or_default()
                ),
            )),
            _ => Ok(ModelDetails::stated(canonical, stated.clone())),
        }
    }
}
