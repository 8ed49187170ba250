//! Questions about the steps behind a result.

use std::sync::Arc;

use super::{Attempt, Step};

/// The steps behind a result, in the order in which they ended.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'a>(&'a [Step]);

impl<'a> Trajectory<'a> {
    /// Asks about `steps`.
    #[must_use]
    pub const fn new(steps: &'a [Step]) -> Self {
        Self(steps)
    }

    /// All steps.
    #[must_use]
    pub const fn steps(&self) -> &'a [Step] {
        self.0
    }

    /// The step with that identifier.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&'a Step> {
        self.0.iter().find(|step| *step.id == *id)
    }

    /// The steps inside of the step `id`.
    pub fn children(&self, id: &str) -> impl Iterator<Item = &'a Step> {
        self.0
            .iter()
            .filter(move |step| step.parent_id.as_deref() == Some(id))
    }

    /// The attempts at the step `id`; none when there is no such step.
    #[must_use]
    pub fn attempts_for(&self, id: &str) -> &'a [Attempt] {
        self.step(id).map_or(&[], |step| &step.attempts)
    }

    /// Which step led to which, by identifier.
    #[must_use]
    pub fn transitions(&self) -> Vec<(Arc<str>, Arc<str>)> {
        self.0
            .iter()
            .flat_map(|step| {
                let to = |from: &Arc<str>| (Arc::clone(from), Arc::clone(&step.id));
                step.predecessor_ids.iter().map(to)
            })
            .collect()
    }

    /// Whether attempts at both steps went on at the same time.
    #[must_use]
    pub fn concurrent(&self, first: &str, second: &str) -> bool {
        let others = self.attempts_for(second);
        self.attempts_for(first).iter().any(|one| {
            others.iter().any(|other| {
                one.started_at < other.finished_at && other.started_at < one.finished_at
            })
        })
    }
}
