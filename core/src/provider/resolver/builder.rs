//! Putting a resolver together.

use std::sync::Arc;

use parking_lot::Mutex;

use super::named::Named;
use super::{DEFAULT_ROLE, ModelResolver};
use crate::catalog::{Catalog, CatalogSource};
use crate::error::{Error, ErrorKind, Result};
use crate::provider::adapter::Adapter;
use crate::provider::config::ProviderConfig;
use crate::provider::credentials::Environment;
use crate::provider::policy;
use crate::provider::profile::Profile;

/// Collects the parts of a [`ModelResolver`].
#[derive(Clone)]
pub struct ModelResolverBuilder {
    connections: Vec<(String, ProviderConfig)>,
    profiles: Vec<(String, Profile)>,
    default_model: Option<String>,
    adapters: Vec<(String, Adapter)>,
    host_adapters: Vec<String>,
    environment: Environment,
    catalog: Option<Arc<Catalog>>,
    sources: Vec<Arc<dyn CatalogSource>>,
}

impl ModelResolverBuilder {
    pub(super) fn new() -> Self {
        Self {
            connections: Vec::new(),
            profiles: Vec::new(),
            default_model: None,
            adapters: Vec::new(),
            host_adapters: Vec::new(),
            environment: Environment::process(),
            catalog: None,
            sources: Vec::new(),
        }
    }

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

    /// Names an adapter of a host language. Connections with it may be described but not
    /// built here.
    #[must_use]
    pub(crate) fn host_adapter(mut self, name: impl Into<String>) -> Self {
        self.host_adapters.push(name.into());
        self
    }

    /// Replaces the facts about models, which by default are those that are compiled in.
    #[must_use]
    pub fn catalog(mut self, catalog: Arc<Catalog>) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// Adds a source for [`ModelResolver::refresh`]. The first one replaces the usual sources.
    #[must_use]
    pub fn catalog_source(mut self, source: Arc<dyn CatalogSource>) -> Self {
        self.sources.push(source);
        self
    }

    /// Builds the resolver. Connections are checked here, but for their credentials, which are asked
    /// for when a connection is first used.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unusable name, an unknown or invalid option, and a profile
    /// whose parents are not all there; [`ErrorKind::AdapterLoad`] for an unknown adapter.
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
        let resolver = ModelResolver {
            connections: if configured {
                self.connections
            } else {
                self.environment.connections()
            },
            configured,
            profiles,
            default_model: self.default_model.unwrap_or_else(|| DEFAULT_ROLE.into()),
            adapters: self.adapters,
            host_adapters: self.host_adapters,
            environment: self.environment,
            catalog: self.catalog.unwrap_or_default(),
            sources: self.sources,
            mentioned: Mutex::default(),
            providers: Mutex::default(),
            named: Named::default(),
        };
        for (name, config) in &resolver.connections {
            if let Some(adapter) = resolver.adapter(name, config.adapter())? {
                adapter.check(name, config.options())?;
            }
        }
        for (role, _) in &resolver.profiles {
            resolver.expand(role)?;
        }
        Ok(resolver)
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

fn put<T>(list: &mut Vec<(String, T)>, name: String, value: T) {
    match list.iter_mut().find(|(candidate, _)| *candidate == name) {
        Some((_, slot)) => *slot = value,
        None => list.push((name, value)),
    }
}
