//! Which model an agent uses.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::model::Model;
use crate::panics::caught_call;
use crate::run::Invocation;
use crate::runtime::Runtime;

/// A function that chooses a model; made by [`ModelSelection::chosen`].
#[derive(Clone)]
pub struct ModelChoice(Arc<Choose>);

type Choose = dyn Fn(&Invocation) -> Result<ModelSelection> + Send + Sync;

/// Which model an agent uses.
#[non_exhaustive]
#[derive(Clone, Default)]
pub enum ModelSelection {
    /// The configured default.
    #[default]
    Default,
    /// A role, a `connection:model-id`, or an object `{provider, model, ...settings}`.
    Named(Value),
    /// Whatever the function chooses for a request; see [`ModelSelection::chosen`].
    Chosen(ModelChoice),
    /// This very model.
    Model(Arc<dyn Model>),
}

impl ModelSelection {
    /// A selection that `choose` makes for each request.
    #[must_use]
    pub fn chosen(
        choose: impl Fn(&Invocation) -> Result<ModelSelection> + Send + Sync + 'static,
    ) -> Self {
        ModelSelection::Chosen(ModelChoice(Arc::new(choose)))
    }

    pub(crate) fn resolve(
        &self,
        runtime: &Runtime,
        invocation: &Invocation,
    ) -> Result<Arc<dyn Model>> {
        if let Some(model) = runtime.model_override() {
            return Ok(Arc::clone(model));
        }
        match self {
            ModelSelection::Default => runtime.resolver().resolve(&Value::Null),
            ModelSelection::Named(selector) => runtime.resolver().resolve(selector),
            ModelSelection::Chosen(choice) => {
                match caught_call("the function that chooses the model", || {
                    (choice.0)(invocation)
                })? {
                    ModelSelection::Chosen(_) => Err(Error::new(
                        ErrorKind::Configuration,
                        "a function that chooses the model must not answer another such function",
                    )),
                    chosen => chosen.resolve(runtime, invocation),
                }
            }
            ModelSelection::Model(model) => Ok(Arc::clone(model)),
        }
    }
}

impl std::fmt::Debug for ModelSelection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModelSelection::Default => formatter.write_str("Default"),
            ModelSelection::Named(selector) => write!(formatter, "Named({selector})"),
            ModelSelection::Chosen(_) => formatter.write_str("Chosen"),
            ModelSelection::Model(model) => write!(formatter, "Model({:?})", model.target()),
        }
    }
}

impl From<&str> for ModelSelection {
    fn from(selector: &str) -> Self {
        ModelSelection::Named(selector.into())
    }
}

impl From<String> for ModelSelection {
    fn from(selector: String) -> Self {
        ModelSelection::Named(selector.into())
    }
}

impl From<Value> for ModelSelection {
    fn from(selector: Value) -> Self {
        if selector.is_null() {
            ModelSelection::Default
        } else {
            ModelSelection::Named(selector)
        }
    }
}

impl From<Arc<dyn Model>> for ModelSelection {
    fn from(model: Arc<dyn Model>) -> Self {
        ModelSelection::Model(model)
    }
}
