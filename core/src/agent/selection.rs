//! Which model an agent uses.

use std::sync::Arc;

use serde_json::Value;

use crate::error::Result;
use crate::model::Model;
use crate::runtime::Runtime;

/// Which model an agent uses.
#[derive(Clone, Default)]
pub enum ModelSelection {
    /// The configured default.
    #[default]
    Default,
    /// A role, a `connection:model-id`, or an object `{provider, model, ...settings}`.
    Named(Value),
    /// This very model.
    Model(Arc<dyn Model>),
}

impl ModelSelection {
    pub(crate) fn resolve(&self, runtime: &Runtime) -> Result<Arc<dyn Model>> {
        if let Some(model) = runtime.model_override() {
            return Ok(Arc::clone(model));
        }
        match self {
            ModelSelection::Default => runtime.resolver().resolve(&Value::Null),
            ModelSelection::Named(selector) => runtime.resolver().resolve(selector),
            ModelSelection::Model(model) => Ok(Arc::clone(model)),
        }
    }
}

impl std::fmt::Debug for ModelSelection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModelSelection::Default => formatter.write_str("Default"),
            ModelSelection::Named(selector) => write!(formatter, "Named({selector})"),
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
