//! Services that runs share: above all, which model answers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::error::Result;
use crate::http::{Transport, Transports};
#[cfg(feature = "prompts")]
use crate::lookup::{PathSet, Root};
use crate::model::Model;
#[cfg(feature = "prompts")]
use crate::prompt::PromptResolver;
use crate::provider::{Environment, ModelResolver, ModelResolverBuilder};
use crate::run::Declared;
use crate::sandbox::SandboxSource;
use crate::session::{MemoryStore, SessionStore};
use crate::support::ContentCapture;
use crate::telemetry::{Subscriber, Telemetry, TelemetrySettings};
use crate::workspace::WorkspaceSource;

/// Services that runs share. Immutable once built; any number of runs may use it at once.
pub struct Runtime {
    resolver: Arc<ModelResolver>,
    model_override: Option<Arc<dyn Model>>,
    transports: Transports,
    session_store: Arc<dyn SessionStore>,
    telemetry: Telemetry,
    premises: Declared,
    #[cfg(feature = "prompts")]
    prompts: PromptResolver,
}

static SHARED: OnceLock<Arc<Runtime>> = OnceLock::new();

impl Runtime {
    /// A runtime with the given model resolution.
    #[must_use]
    pub fn new(resolver: ModelResolver) -> Arc<Self> {
        Arc::new(Self {
            resolver: Arc::new(resolver),
            model_override: None,
            transports: Transports::default(),
            session_store: Arc::new(MemoryStore::new()),
            telemetry: Telemetry::default(),
            premises: Declared::default(),
            #[cfg(feature = "prompts")]
            prompts: usual_prompts(),
        })
    }

    /// Reads `{providers, models, default_model}`, all optional; environment keys stand in for
    /// missing providers.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) and its kinds for what cannot work.
    pub fn from_value(value: &Value) -> Result<Arc<Self>> {
        ModelResolver::from_value(value, Environment::process()).map(Self::new)
    }

    /// As [`Runtime::from_value`], with facts about models from `catalog`.
    ///
    /// # Errors
    /// As [`Runtime::from_value`].
    pub fn with_catalog(value: &Value, catalog: Arc<Catalog>) -> Result<Arc<Self>> {
        ModelResolverBuilder::from_value(value, Environment::process())?
            .catalog(catalog)
            .build()
            .map(Self::new)
    }

    /// The runtime of the process: built from the environment on first use, unless
    /// [`Runtime::share`] came first.
    ///
    /// # Errors
    /// As [`Runtime::from_value`].
    pub fn shared() -> Result<Arc<Self>> {
        if let Some(runtime) = SHARED.get() {
            return Ok(Arc::clone(runtime));
        }
        let built = Self::from_value(&json!({}))?;
        Ok(Arc::clone(SHARED.get_or_init(|| built)))
    }

    /// Makes `runtime` the runtime of the process. False when there is one already.
    pub fn share(runtime: Arc<Self>) -> bool {
        SHARED.set(runtime).is_ok()
    }

    /// What turns a role or a target into a model.
    #[must_use]
    pub fn resolver(&self) -> &ModelResolver {
        &self.resolver
    }

    /// The model that answers for every agent, whatever that agent selects.
    #[must_use]
    pub fn model_override(&self) -> Option<&Arc<dyn Model>> {
        self.model_override.as_ref()
    }

    /// Where runs keep their conversations.
    #[must_use]
    pub fn session_store(&self) -> &Arc<dyn SessionStore> {
        &self.session_store
    }

    /// Tells the subscribers what happens.
    #[must_use]
    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Finds and renders the prompt templates of the application.
    #[cfg(feature = "prompts")]
    #[must_use]
    pub fn prompts(&self) -> &PromptResolver {
        &self.prompts
    }

    /// The workspace and the sandbox of its runs.
    pub(crate) fn premises(&self) -> &Declared {
        &self.premises
    }

    /// What carries requests in place of the network.
    pub(crate) fn transports(&self) -> &Transports {
        &self.transports
    }

    /// A builder for a runtime with the same model resolution, connections included, and the same
    /// session store.
    pub fn to_builder(&self) -> RuntimeBuilder {
        RuntimeBuilder {
            resolver: Some(Arc::clone(&self.resolver)),
            model_override: self.model_override.clone(),
            transports: self.transports.to_vec(),
            session_store: Some(Arc::clone(&self.session_store)),
            telemetry: self.telemetry.settings(),
            premises: self.premises.clone(),
            #[cfg(feature = "prompts")]
            prompts: Some(self.prompts.clone()),
        }
    }

    /// Starts a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }
}

/// The usual folder, which must not lead out of the application through a link.
#[cfg(feature = "prompts")]
fn usual_prompts() -> PromptResolver {
    PromptResolver::new([Root::new("app/prompts").within(".")])
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Runtime")
            .field("resolver", &self.resolver)
            .field(
                "model_override",
                &self.model_override.as_ref().map(|model| model.target()),
            )
            .finish_non_exhaustive()
    }
}

/// Collects the parts of a [`Runtime`].
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct RuntimeBuilder {
    resolver: Option<Arc<ModelResolver>>,
    model_override: Option<Arc<dyn Model>>,
    transports: Vec<Arc<dyn Transport>>,
    session_store: Option<Arc<dyn SessionStore>>,
    telemetry: TelemetrySettings,
    premises: Declared,
    #[cfg(feature = "prompts")]
    prompts: Option<PromptResolver>,
}

impl RuntimeBuilder {
    /// Turns roles and targets into models with `resolver`. Without one, the keys of the environment
    /// decide.
    pub fn resolver(mut self, resolver: ModelResolver) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Has `model` answer for every agent, whatever the agent selects. It is meant for tests.
    pub fn model_override(mut self, model: impl Into<Arc<dyn Model>>) -> Self {
        self.model_override = Some(model.into());
        self
    }

    /// Keeps conversations in `store`; without one, in a [`MemoryStore`] of the runtime.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use little_ghost::{FilesystemStore, Runtime};
    ///
    /// # fn example() -> little_ghost::Result<()> {
    /// let store = FilesystemStore::new("/var/lib/support/sessions")?;
    /// let runtime = Runtime::builder().session_store(Arc::new(store)).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.session_store = Some(store);
        self
    }

    /// The workspace of runs: one that is shared, or one made for each. An agent's own comes before it.
    pub fn workspace(mut self, workspace: impl Into<WorkspaceSource>) -> Self {
        self.premises.workspace = Some(workspace.into());
        self
    }

    /// The sandbox of runs: one that is shared, or one made for each. An agent's own comes before it.
    pub fn sandbox(mut self, sandbox: impl Into<SandboxSource>) -> Self {
        self.premises.sandbox = Some(sandbox.into());
        self
    }

    /// Tells `subscriber` what happens, behind those already there.
    pub fn subscriber(mut self, subscriber: impl Subscriber + 'static) -> Self {
        self.telemetry.subscribers.push(Arc::new(subscriber));
        self
    }

    /// Lets content into what subscribers are told; by default nothing is.
    pub fn capture_content(mut self, policy: ContentCapture) -> Self {
        self.telemetry.capture = policy;
        self
    }

    /// The name of the service in the telemetry of runs; `"little-ghost"` by default.
    pub fn service_name(mut self, name: impl Into<String>) -> Self {
        self.telemetry.service_name = Some(name.into());
        self
    }

    /// Looks for prompt templates in `paths`, earlier ones first; by default in `app/prompts` below the
    /// current directory.
    #[cfg(feature = "prompts")]
    pub fn prompt_paths(mut self, paths: impl Into<PathSet>) -> Self {
        self.prompts = Some(PromptResolver::new(paths));
        self
    }

    /// Has requests go wrong as `faults` says, before they reach what was added earlier.
    #[cfg(feature = "testing")]
    pub fn faults(self, faults: &crate::testing::Faults) -> Self {
        self.transport(Arc::new(faults.clone()))
    }

    /// Records requests on `cassette`, or answers them from it, before they reach what was added earlier.
    #[cfg(feature = "testing")]
    pub fn cassette(self, cassette: &crate::testing::Cassette) -> Self {
        self.transport(Arc::new(cassette.clone()))
    }

    /// Puts `transport` in front of what carries requests so far.
    #[cfg(feature = "testing")]
    fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transports.insert(0, transport);
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    /// As [`Runtime::from_value`], when there is no resolver.
    pub fn build(self) -> Result<Arc<Runtime>> {
        let resolver = match self.resolver {
            Some(resolver) => resolver,
            None => Arc::new(ModelResolver::from_value(
                &json!({}),
                Environment::process(),
            )?),
        };
        Ok(Arc::new(Runtime {
            resolver,
            model_override: self.model_override,
            transports: self.transports.into(),
            session_store: self
                .session_store
                .unwrap_or_else(|| Arc::new(MemoryStore::new())),
            telemetry: Telemetry::new(self.telemetry),
            premises: self.premises,
            #[cfg(feature = "prompts")]
            prompts: self.prompts.unwrap_or_else(usual_prompts),
        }))
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RuntimeBuilder")
            .finish_non_exhaustive()
    }
}
