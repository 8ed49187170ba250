//! Connections that a host hands over complete, with the credentials it resolved.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ModelResolver, ProviderKey, find};
use crate::error::{Error, ErrorKind, Result};
use crate::provider::config::ProviderConfig;
use crate::provider::policy;
use crate::provider::profile::Profile;
use crate::provider::resolved::ResolvedModel;
use crate::provider::target::Target;

impl ModelResolver {
    /// Builds a model from `{connection, model, adapter, options, role, settings, request, details}`.
    ///
    /// With an adapter nothing of the configured connections is used; without one the options go over
    /// those of the configured connection. A provider is shared for as long as its options
    /// stay the same, and only the newest one of a model is kept: credentials may be short-lived.
    pub(super) fn build_resolved(
        &self,
        resolved: &Map<String, Value>,
    ) -> Result<Arc<ResolvedModel>> {
        let text = |key: &str| {
            resolved
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let target = Target::new(text("connection"), text("model"))?;
        let configured = match text("adapter") {
            "" => Some(
                find(&self.connections, &target.connection)
                    .ok_or_else(|| self.unknown_connection(&target))?,
            ),
            _ => None,
        };
        let name = configured.map_or_else(|| text("adapter"), ProviderConfig::adapter);
        let adapter = self
            .adapter(&target.connection, name)?
            .ok_or_else(|| self.host_only(&target.connection, name))?;
        let empty = Map::new();
        let options = match resolved.get("options") {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(options)) => options,
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "options of connection {:?} must be a mapping",
                        target.connection
                    ),
                ));
            }
        };
        let role = resolved.get("role").and_then(Value::as_str);
        let profile = Profile::from_value(
            role.unwrap_or(&target.connection),
            &Value::Object(
                resolved
                    .iter()
                    .filter(|(key, _)| matches!(key.as_str(), "settings" | "request" | "details"))
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            ),
        )?;
        let details = self.details_of(&target, name, role, &profile)?;
        let options = match configured {
            Some(config) => {
                let mut all = config.options().clone();
                all.extend(options.clone());
                all
            }
            None => options.clone(),
        };
        let merged = policy::apply(&options, &profile.request, adapter.request_options());
        let merged = self.with_environment_key(name, merged);
        let provider = self.built(
            ProviderKey::new(&target, "resolved".into()),
            Some(&merged),
            |request| adapter.build(request),
            &target,
            || merged.clone(),
        )?;
        let role = role.map(str::to_owned);
        let model = ResolvedModel::new(&target, role, provider, profile.settings, details);
        Ok(Arc::new(model))
    }
}
