//! The subagents that an agent declares.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::Result;
use crate::panics::caught_call;
use crate::run::{Run, RunCore};
use crate::subagent::{Kind, Manager, Resolver, Settings, Subagent, SubagentLimits};

/// The subagents that an agent declares, and their bounds.
#[derive(Clone, Default)]
pub(super) struct Delegation {
    pub(super) declared: Vec<Subagent>,
    /// Asked in each run.
    pub(super) resolvers: Vec<Arc<Resolver>>,
    pub(super) limits: SubagentLimits,
}

impl Delegation {
    pub(super) fn is_empty(&self) -> bool {
        self.declared.is_empty() && self.resolvers.is_empty()
    }

    /// Refuses what no run could use.
    pub(super) fn check(self) -> Result<Self> {
        let declared = self.declared.iter().cloned().map(Subagent::into_kind);
        crate::subagent::distinct(declared.collect())?;
        Ok(Self {
            limits: self.limits.check()?,
            ..self
        })
    }

    /// What manages the subagents of `run`; `None` when there are no kinds of them.
    pub(super) fn manager(
        &self,
        run: &Arc<RunCore>,
        handle: &Run,
        locals: &Arc<Map<String, Value>>,
    ) -> Result<Option<Arc<Manager>>> {
        let mut kinds: Vec<Kind> = self
            .declared
            .iter()
            .cloned()
            .map(Subagent::into_kind)
            .collect();
        let declared = kinds.len();
        for resolve in &self.resolvers {
            let found = caught_call("the function that gives subagents", || resolve(handle))?;
            for kind in found.into_iter().map(Subagent::into_kind) {
                // What is declared wins.
                let is_declared = kinds
                    .iter()
                    .take(declared)
                    .any(|other| other.kind == kind.kind);
                if !is_declared {
                    kinds.push(kind);
                }
            }
        }
        if kinds.is_empty() {
            return Ok(None);
        }
        let settings = Settings {
            limits: self.limits.clone(),
            locals: Arc::clone(locals),
            ..Settings::default()
        };
        Manager::new(run, kinds, settings).map(Some)
    }
}
