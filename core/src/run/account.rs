//! Tokens used by a run, and by each of its participants.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::tally::Tally;
use crate::catalog::Prices;
use crate::cost::Cost;
use crate::event::StreamEvent;
use crate::message::Usage;
use crate::model::ModelResponse;

/// Token counts of one agent at a time, and of everything that works below it at the same time.
#[derive(Debug, Default)]
pub(crate) struct Account {
    own: Mutex<Tally>,
    /// Whether the consumer of the run was given visible text.
    spoke: AtomicBool,
    parts: Mutex<Vec<Arc<Account>>>,
}

impl Account {
    /// An account whose tokens count here too.
    pub(crate) fn part(&self) -> Arc<Self> {
        let part = Arc::new(Self::default());
        self.parts.lock().push(Arc::clone(&part));
        part
    }

    /// Tokens used so far: of complete responses, and of what was announced and broke off.
    pub(crate) fn usage(&self) -> Usage {
        let own = self.own.lock().usage();
        let parts = self.parts.lock();
        parts.iter().fold(own, |sum, part| sum + part.usage())
    }

    /// What that costs; `None` when a part of it is not known.
    pub(crate) fn cost(&self) -> Option<Cost> {
        let own = self.own.lock().cost()?;
        let parts = self.parts.lock();
        parts
            .iter()
            .try_fold(own, |sum, part| Some(sum + part.cost()?))
    }

    /// The model with these prices is asked from now on.
    pub(crate) fn price_by(&self, prices: Option<Arc<Prices>>) {
        self.own.lock().price_by(prices);
    }

    /// Counts the tokens that an event tells of.
    pub(crate) fn count_event(&self, event: &StreamEvent) {
        match event {
            StreamEvent::Usage { usage } => self.own.lock().see(*usage),
            StreamEvent::ModelStart { .. } => self.own.lock().give_up_call(),
            StreamEvent::ModelRetry(_) => self.own.lock().give_up_attempt(),
            StreamEvent::MessageStop { response } => self.own.lock().complete(response.usage),
            _ => {}
        }
    }

    /// Notes that the consumer of the run was given visible text.
    pub(super) fn speak(&self) {
        self.spoke.store(true, Ordering::Relaxed);
    }

    /// Whether the consumer of the run was given visible text.
    pub(crate) fn spoke(&self) -> bool {
        self.spoke.load(Ordering::Relaxed) || self.parts.lock().iter().any(|part| part.spoke())
    }

    /// Counts the tokens of a model call whose end no event announces.
    pub(crate) fn count(&self, response: Option<&ModelResponse>) {
        let mut own = self.own.lock();
        match response {
            Some(response) => own.complete(response.usage),
            None => own.give_up_call(),
        }
    }
}
