//! From names to models.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::adapter::{Adapter, AdapterRequest};
use super::config::ProviderConfig;
use super::credentials::{Environment, conventional_names};
use super::profile::{Profile, prefixes};
use super::resolved::ResolvedModel;
use super::target::Target;
use super::{Provider, policy};
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::model::Model;

/// The role of agents that do not choose a model.
const DEFAULT_ROLE: &str = "default";

/// What the default role stands for when no models are configured, by adapter.
const CONVENTIONAL_MODELS: &[(&str, &str)] = &[
    ("openrouter", "openai/gpt-5.6-luna"),
    ("openai", "gpt-5.6-luna"),
];

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
    environment: Environment,
    providers: Mutex<HashMap<ProviderKey, Arc<dyn Provider>>>,
}

#[derive(PartialEq, Eq, Hash)]
struct ProviderKey {
    connection: String,
    model: String,
    policy: String,
}

/// A selection brought down to what a model is built from.
struct Selection {
    target: Target,
    role: Option<String>,
    profile: Profile,
}

impl ModelResolver {
    /// Starts a resolver. Without connections it takes keys from the environment of the process.
    #[must_use]
    pub fn builder() -> ModelResolverBuilder {
        ModelResolverBuilder {
            connections: Vec::new(),
            profiles: Vec::new(),
            default_model: None,
            adapters: Vec::new(),
            environment: Environment::process(),
        }
    }

    /// Reads `{"providers": {name: {"adapter": ...}}, "models": {role: {...}},
    /// "default_model": "role"}`; every key may be absent or null.
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
        let mut builder = Self::builder().environment(environment);
        for (name, config) in section("providers")? {
            builder = builder.provider(name, ProviderConfig::from_value(name, config)?);
        }
        for (role, profile) in section("models")? {
            builder = builder.model(role, Profile::from_value(role, profile)?);
        }
        match map.get("default_model") {
            None | Some(Value::Null) => {}
            Some(Value::String(name)) => builder = builder.default_model(name),
            Some(other) => return Err(shape("default_model", "a role or a target", other)),
        }
        builder.build()
    }

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
        self.build(self.select_name(name, &Map::new())?)
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
        let selection = match selection {
            Value::Null => self.select_name(&self.default_model, profiles)?,
            Value::String(name) => self.select_name(name, profiles)?,
            Value::Object(inline) => Self::select_inline(inline)?,
            other => {
                return Err(shape(
                    "a model",
                    "a role, a target or a mapping with provider and model",
                    other,
                ));
            }
        };
        Ok(self.build(selection)?)
    }

    fn select_name(&self, name: &str, overlay: &Map<String, Value>) -> Result<Selection> {
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

    fn select_inline(inline: &Map<String, Value>) -> Result<Selection> {
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
    fn expand(&self, role: &str) -> Result<Profile> {
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
                "no model provider is configured and no key is set: set one of {}, or configure \
                 providers (in Ruby applications also config/little_ghost/providers.yml)",
                conventional_names()
            ),
        ))
    }

    fn build(&self, selection: Selection) -> Result<Arc<ResolvedModel>> {
        let Selection {
            target,
            role,
            profile,
        } = selection;
        let mut details = profile.details.unwrap_or_default();
        if let Some(stated) = details.shift_remove("target")
            && stated.as_str() != Some(&target.canonical())
        {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "details of model {:?} describe another target than {}",
                    role.unwrap_or_default(),
                    target.canonical()
                ),
            ));
        }
        let provider = self.provider(&target, &profile.request)?;
        let model = ResolvedModel::new(&target, role, provider, profile.settings, details);
        Ok(Arc::new(model))
    }

    fn provider(&self, target: &Target, request: &Map<String, Value>) -> Result<Arc<dyn Provider>> {
        let config = find(&self.connections, &target.connection)
            .ok_or_else(|| self.unknown_connection(target))?;
        let adapter = find(&self.adapters, config.adapter())
            .cloned()
            .or_else(|| Adapter::built_in(config.adapter()))
            .ok_or_else(|| self.unknown_adapter(&target.connection, config.adapter()))?;
        let key = ProviderKey {
            connection: target.connection.clone(),
            model: target.model.clone(),
            policy: Value::Object(request.clone()).to_string(),
        };
        // Never waited for: in a forked child the lock may have lost its holder, and building a
        // provider once more costs little.
        if let Some(known) = self
            .providers
            .try_lock()
            .and_then(|all| all.get(&key).cloned())
        {
            return Ok(known);
        }
        let mut options = policy::apply(config.options(), request, adapter.request_options());
        // A key of the environment goes to the service it is for, never to another address.
        if !options.contains_key("api_key")
            && !options.contains_key("base_url")
            && let Some(key) = self.environment.key_for(config.adapter())
        {
            options.insert("api_key".into(), Value::String(key));
        }
        let provider = adapter.build(&AdapterRequest {
            connection: &target.connection,
            model: &target.model,
            options: &options,
        })?;
        if let Some(mut all) = self.providers.try_lock() {
            return Ok(Arc::clone(all.entry(key).or_insert(provider)));
        }
        Ok(provider)
    }

    fn connection_names(&self) -> String {
        names(&self.connections)
    }

    fn unknown_role(&self, role: &str) -> Error {
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

    fn unknown_connection(&self, target: &Target) -> Error {
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

    fn unknown_adapter(&self, connection: &str, adapter: &str) -> Error {
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
                super::adapter::names()
            ),
        )
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

/// Collects the parts of a [`ModelResolver`].
#[derive(Clone)]
pub struct ModelResolverBuilder {
    connections: Vec<(String, ProviderConfig)>,
    profiles: Vec<(String, Profile)>,
    default_model: Option<String>,
    adapters: Vec<(String, Adapter)>,
    environment: Environment,
}

impl ModelResolverBuilder {
    /// Adds a connection; a later one of the same name replaces it.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>, config: ProviderConfig) -> Self {
        put(&mut self.connections, name.into(), config);
        self
    }

    /// Adds a role; a later one of the same name replaces it.
    #[must_use]
    pub fn model(mut self, role: impl Into<String>, profile: Profile) -> Self {
        put(&mut self.profiles, role.into(), profile);
        self
    }

    /// Names the role or target of agents that do not choose one. The default is `"default"`.
    #[must_use]
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default_model = Some(name.into());
        self
    }

    /// Adds an adapter of the application, or replaces a built-in one.
    #[must_use]
    pub fn adapter(mut self, name: impl Into<String>, adapter: Adapter) -> Self {
        put(&mut self.adapters, name.into(), adapter);
        self
    }

    /// Replaces the environment in which keys are looked up.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Builds the resolver. Connections are checked when they are first used.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unusable name or request policy.
    pub fn build(self) -> Result<ModelResolver> {
        let mut profiles = self.profiles;
        for (role, profile) in &mut profiles {
            check_name("model role", role)?;
            profile.request = policy::normalize(role, &profile.request)?;
        }
        for (name, _) in &self.connections {
            check_name("connection", name)?;
        }
        let configured = !self.connections.is_empty();
        Ok(ModelResolver {
            connections: if configured {
                self.connections
            } else {
                self.environment.connections()
            },
            configured,
            profiles,
            default_model: self.default_model.unwrap_or_else(|| DEFAULT_ROLE.into()),
            adapters: self.adapters,
            environment: self.environment,
            providers: Mutex::default(),
        })
    }
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if !name.trim().is_empty() && !name.contains(':') {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Configuration,
        format!("{what} {name:?} is not usable: a name must not be blank or contain \":\""),
    ))
}

fn find<'a, T>(list: &'a [(String, T)], name: &str) -> Option<&'a T> {
    list.iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}

fn put<T>(list: &mut Vec<(String, T)>, name: String, value: T) {
    match list.iter_mut().find(|(candidate, _)| *candidate == name) {
        Some((_, slot)) => *slot = value,
        None => list.push((name, value)),
    }
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
