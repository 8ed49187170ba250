//! Values that templates may use.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::Result;
#[cfg(feature = "prompts")]
use crate::error::{Error, ErrorKind};
#[cfg(feature = "prompts")]
use crate::panics::caught_call;
#[cfg(feature = "prompts")]
use crate::run::Run;
use crate::run::RunCore;

/// What an agent, or an assembly for its participants, declares for templates: names with values, later ones over earlier ones.
/// Without templates there is nothing to declare.
#[derive(Clone, Default)]
pub(crate) struct PromptLocals {
    #[cfg(feature = "prompts")]
    declared: Vec<(String, Local)>,
}

#[cfg(feature = "prompts")]
#[derive(Clone)]
enum Local {
    Value(Value),
    /// It has no plain form.
    Unusable(Error),
    Resolver(Arc<Resolver>),
}

/// Gives a value in each run.
#[cfg(feature = "prompts")]
type Resolver = dyn Fn(&Run) -> Result<Value> + Send + Sync;

#[cfg(feature = "prompts")]
impl PromptLocals {
    /// Declares `value`. What is wrong with it, [`check`](Self::check) tells.
    pub(crate) fn add(&mut self, name: String, value: impl serde::Serialize) {
        let local = match serde_json::to_value(value) {
            Ok(value) => Local::Value(value),
            Err(problem) => Local::Unusable(Error::new(
                ErrorKind::Argument,
                format!("the prompt local {name:?} has no plain form: {problem}"),
            )),
        };
        self.declared.push((name, local));
    }

    /// Declares what `resolve` gives in each run.
    pub(crate) fn add_resolver(
        &mut self,
        name: String,
        resolve: impl Fn(&Run) -> Result<Value> + Send + Sync + 'static,
    ) {
        self.declared
            .push((name, Local::Resolver(Arc::new(resolve))));
    }

    /// Fails for a name that no template can use, and for a value without a plain form.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, local) in &self.declared {
            super::check_local_name(name)?;
            if let Local::Unusable(error) = local {
                return Err(error.clone());
            }
        }
        Ok(())
    }

    /// The values for `run`.
    pub(crate) fn resolve(&self, run: &Arc<RunCore>) -> Result<Map<String, Value>> {
        let handle = Run::new(Arc::clone(run));
        self.declared
            .iter()
            .map(|(name, local)| {
                let value = match local {
                    Local::Value(value) => value.clone(),
                    Local::Unusable(error) => return Err(error.clone()),
                    Local::Resolver(resolve) => {
                        let culprit = format!("the function of the prompt local {name:?}");
                        caught_call(&culprit, || resolve(&handle))?
                    }
                };
                Ok((name.clone(), value))
            })
            .collect()
    }
}

#[cfg(not(feature = "prompts"))]
impl PromptLocals {
    pub(crate) fn check(&self) -> Result<()> {
        Ok(())
    }

    pub(crate) fn resolve(&self, _run: &Arc<RunCore>) -> Result<Map<String, Value>> {
        Ok(Map::new())
    }
}
