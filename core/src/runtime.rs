//! Services that runs share: above all, which model answers.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::error::Result;
use crate::provider::{Environment, ModelResolver};

/// Services that runs share. Immutable once built; any number of runs may use it at once.
#[derive(Debug)]
pub struct Runtime {
    resolver: ModelResolver,
}

static SHARED: OnceLock<Arc<Runtime>> = OnceLock::new();

impl Runtime {
    /// A runtime with the given model resolution.
    #[must_use]
    pub fn new(resolver: ModelResolver) -> Arc<Self> {
        Arc::new(Self { resolver })
    }

    /// Reads `{providers, models, default_model}`, all optional; environment keys stand in for
    /// missing providers.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) and its kinds for what cannot work.
    pub fn from_value(value: &Value) -> Result<Arc<Self>> {
        ModelResolver::from_value(value, Environment::process()).map(Self::new)
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
}
