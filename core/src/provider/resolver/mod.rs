//! From names to models.

mod builder;
mod description;
mod handed;
mod named;
mod refresh;
mod selection;
mod unknown;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::catalog::{Catalog, CatalogSource};
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::model::Model;
use crate::provider::adapter::{Adapter, AdapterRequest};
use crate::provider::config::ProviderConfig;
use crate::provider::credentials::Environment;
use crate::provider::profile::Profile;
use crate::provider::resolved::ResolvedModel;
use crate::provider::target::Target;
use crate::provider::{Provider, policy};

pub use builder::ModelResolverBuilder;
pub use description::ModelDescription;
use named::Named;
use selection::Selection;

/// The role of agents that do not choose a model.
const DEFAULT_ROLE: &str = "default";

/// Turns roles, targets and inline selections into executable models.
///
/// Providers are built once for each connection, model and request policy, and shared.
///
/// ```
/// use little_ghost::Model;
/// use little_ghost::provider::{ModelResolver, Profile, ProviderConfig};
///
/// # fn main() -> little_ghost::Result<()> {
/// let resolver = ModelResolver::builder()
///     .provider("primary", ProviderConfig::openrouter("sk-or-..."))
///     .model("support", Profile::new("primary:openai/gpt-5.6-luna"))
///     .default_model("support")
///     .build()?;
/// let model = resolver.resolve_name("support")?;
/// assert_eq!(model.target(), "primary:openai/gpt-5.6-luna");
/// # Ok(())
/// # }
/// ```
pub struct ModelResolver {
    connections: Vec<(String, ProviderConfig)>,
    /// Whether the connections are the application's rather than the environment's.
    configured: bool,
    profiles: Vec<(String, Profile)>,
    default_model: String,
    adapters: Vec<(String, Adapter)>,
    /// Adapters that only the host can build, by name.
    host_adapters: Vec<String>,
    environment: Environment,
    catalog: Arc<Catalog>,
    sources: Vec<Arc<dyn CatalogSource>>,
    mentioned: Mutex<HashSet<String>>,
    providers: Mutex<HashMap<ProviderKey, Built>>,
    named: Named,
}

/// A provider, and the options that a host resolved for it.
struct Built {
    options: Option<Map<String, Value>>,
    provider: Arc<dyn Provider>,
}

#[derive(PartialEq, Eq, Hash)]
struct ProviderKey {
    connection: String,
    model: String,
    policy: String,
}

impl ModelResolver {
    /// Starts a resolver. Without connections it takes keys from the environment of the process.
    #[must_use]
    pub fn builder() -> ModelResolverBuilder {
        ModelResolverBuilder::new()
    }

    /// Reads `{"providers": {name: {"adapter": ...}}, "models": {role: {...}},
    /// "default_model": "role"}`; every key may be absent or null.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a wrong shape.
    pub fn from_value(value: &Value, environment: Environment) -> Result<Self> {
        ModelResolverBuilder::from_value(value, environment)?.build()
    }
}

impl ModelResolverBuilder {
    /// Reads what [`ModelResolver::from_value`] reads, so that more can be added.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a wrong shape.
    pub fn from_value(value: &Value, environment: Environment) -> Result<Self> {
        let empty = Map::new();
        let map = match value {
            Value::Null => &empty,
            Value::Object(map) => map,
            other => return Err(shape("the model configuration", "a mapping", other)),
        };
        let section = |name: &str| match map.get(name) {
            None | Some(Value::Null) => Ok(&empty),
            Some(Value::Object(section)) => Ok(section),
            Some(other) => Err(shape(name, "a mapping of names", other)),
        };
        let mut builder = Self::new().environment(environment);
        for (name, config) in section("providers")? {
            builder = builder.provider(name, ProviderConfig::from_value(name, config)?);
        }
        for (role, profile) in section("models")? {
            builder = builder.model(role, Profile::from_value(role, profile)?);
        }
        match map.get("host_adapters") {
            None | Some(Value::Null) => {}
            Some(Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str) {
                    builder = builder.host_adapter(name);
                }
            }
            Some(other) => return Err(shape("host_adapters", "an array of names", other)),
        }
        match map.get("default_model") {
            None | Some(Value::Null) => {}
            Some(Value::String(name)) => builder = builder.default_model(name),
            Some(other) => return Err(shape("default_model", "a role or a target", other)),
        }
        Ok(builder)
    }
}

impl ModelResolver {
    /// The role or target of agents that do not choose one.
    #[must_use]
    pub fn default_model(&self) -> &str {
        &self.default_model
    }

    /// Resolves a role (`"support"`) or a target (`"connection:model-id"`).
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn resolve_name(&self, name: &str) -> Result<Arc<ResolvedModel>> {
        self.named(name)
    }

    /// Resolves a selection: null for the default, a role, a target, or a mapping of `provider`
    /// (a connection), `model` and settings.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown role or connection or an invalid option,
    /// [`ErrorKind::Credential`] when there is no key, [`ErrorKind::AdapterLoad`] for an unknown
    /// adapter.
    pub fn resolve(&self, selection: &Value) -> Result<Arc<dyn Model>> {
        self.resolve_with(selection, &Map::new())
    }

    /// As [`resolve`](Self::resolve), with profiles that go over the configured ones. They apply
    /// to roles only: for each dotted prefix of the role, shortest first.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn resolve_with(
        &self,
        selection: &Value,
        profiles: &Map<String, Value>,
    ) -> Result<Arc<dyn Model>> {
        if let Some(Value::Object(resolved)) = selection.get("resolved") {
            return Ok(self.build_resolved(resolved)?);
        }
        let name = match selection {
            Value::Null => Some(self.default_model.as_str()),
            Value::String(name) => Some(name.as_str()),
            _ => None,
        };
        match name {
            Some(name) if profiles.is_empty() => Ok(self.named(name)?),
            _ => Ok(self.build(self.select(selection, profiles)?)?),
        }
    }

    fn build(&self, selection: Selection) -> Result<Arc<ResolvedModel>> {
        let Selection {
            target,
            role,
            profile,
        } = selection;
        let config = find(&self.connections, &target.connection)
            .ok_or_else(|| self.unknown_connection(&target))?;
        let details = self.details_of(&target, config.adapter(), role.as_deref(), &profile)?;
        let provider = self.provider(&target, config, &profile.request)?;
        let model = ResolvedModel::new(&target, role, provider, profile.settings, details);
        Ok(Arc::new(model))
    }

    fn provider(
        &self,
        target: &Target,
        config: &ProviderConfig,
        request: &Map<String, Value>,
    ) -> Result<Arc<dyn Provider>> {
        let adapter = self
            .adapter(&target.connection, config.adapter())?
            .ok_or_else(|| self.host_only(&target.connection, config.adapter()))?;
        let key = ProviderKey::new(target, Value::Object(request.clone()).to_string());
        let options = || {
            let options = policy::apply(config.options(), request, adapter.request_options());
            self.with_environment_key(config.adapter(), options)
        };
        let build =
            |request: &AdapterRequest<'_>| adapter.build(request).map(|built| config.carry(built));
        self.built(key, None, build, target, options)
    }

    /// The options with the environment's key, which goes to the service it is for, never to another
    /// address.
    fn with_environment_key(
        &self,
        adapter: &str,
        mut options: Map<String, Value>,
    ) -> Map<String, Value> {
        let own = [
            "api_key",
            "base_url",
            "endpoint",
            "credentials",
            "credential_resolver",
        ];
        if !own.iter().any(|name| options.contains_key(*name))
            && let Some(key) = self.environment.key_for(adapter)
        {
            options.insert("api_key".into(), Value::String(key));
        }
        options
    }

    /// The known provider for `key`, or a new one.
    fn built(
        &self,
        key: ProviderKey,
        resolved: Option<&Map<String, Value>>,
        build: impl FnOnce(&AdapterRequest<'_>) -> Result<Arc<dyn Provider>>,
        target: &Target,
        options: impl FnOnce() -> Map<String, Value>,
    ) -> Result<Arc<dyn Provider>> {
        // Never waited for: in a forked child the lock may have lost its holder, and building a
        // provider once more costs little.
        let known = self.providers.try_lock().and_then(|all| {
            let built = all.get(&key)?;
            (built.options.as_ref() == resolved).then(|| Arc::clone(&built.provider))
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let provider = build(&AdapterRequest {
            connection: &target.connection,
            model: &target.model,
            options: &options(),
        })?;
        if let Some(mut all) = self.providers.try_lock() {
            let built = Built {
                options: resolved.cloned(),
                provider: Arc::clone(&provider),
            };
            all.insert(key, built);
        }
        Ok(provider)
    }
}

impl ProviderKey {
    fn new(target: &Target, policy: String) -> Self {
        Self {
            connection: target.connection.clone(),
            model: target.model.clone(),
            policy,
        }
    }
}

impl fmt::Debug for ModelResolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelResolver")
            .field("connections", &self.connections)
            .field("profiles", &self.profiles)
            .field("default_model", &self.default_model)
            .finish_non_exhaustive()
    }
}

fn find<'a, T>(list: &'a [(String, T)], name: &str) -> Option<&'a T> {
    list.iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}

fn names<T>(list: &[(String, T)]) -> String {
    let names: Vec<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

fn shape(what: &str, expected: &str, got: &Value) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("{what} must be {expected}, not {}", kind_of(got)),
    )
}
