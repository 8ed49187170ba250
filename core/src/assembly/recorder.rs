//! The steps of one execution of an assembly, as they end.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Step;
use crate::run::{RunCore, RunResult};

/// The steps of one execution of an assembly, as they end.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<Step>>);

impl Recorder {
    /// Keeps `step`, and behind it those of the assembly that took part in it.
    pub(super) fn add(&self, step: Step, inner: &[Step]) {
        let container = Arc::clone(&step.id);
        let nested = inner.iter().cloned().map(|mut inner| {
            inner
                .parent_id
                .get_or_insert_with(|| Arc::clone(&container));
            inner
        });
        self.0.lock().extend(std::iter::once(step).chain(nested));
    }

    /// The latest step that is not inside another.
    pub(crate) fn latest(&self) -> Option<Arc<str>> {
        let steps = self.0.lock();
        let latest = steps.iter().rev().find(|step| step.parent_id.is_none());
        latest.map(|step| Arc::clone(&step.id))
    }

    /// The result of the whole assembly, which answered `part`: the final participant's answer, and all steps.
    pub(crate) fn conclude(&self, part: &RunCore, last: &RunResult) -> Arc<RunResult> {
        let mut result = last.clone();
        result.steps = self.0.lock().clone();
        result.usage = part.account.usage();
        result.cost = part.account.cost();
        Arc::new(result)
    }
}
