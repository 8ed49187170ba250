//! What was found in one environment is of no use in another.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::refresher::{Clock, Expiring, Refresher};
use crate::provider::Environment;

/// A [`Refresher`] that begins anew when one of its variables changes.
pub(super) struct Remembered<T> {
    early: Duration,
    clock: Clock,
    variables: &'static [&'static str],
    current: Mutex<(u64, Arc<Refresher<T>>)>,
}

impl<T: Expiring> Remembered<T> {
    pub(super) fn new(early: Duration, clock: Clock, variables: &'static [&'static str]) -> Self {
        Self {
            early,
            variables,
            current: Mutex::new((0, Refresher::new(early, Arc::clone(&clock)))),
            clock,
        }
    }

    /// The refresher for the variables as they are now.
    pub(super) fn by(&self, environment: &Environment) -> Arc<Refresher<T>> {
        let now = fingerprint(environment, self.variables);
        // As in a refresher: a lock that does not open was lost in a fork.
        let Some(mut current) = self.current.try_lock_for(Duration::from_millis(20)) else {
            return self.anew();
        };
        if current.0 != now {
            *current = (now, self.anew());
        }
        Arc::clone(&current.1)
    }

    fn anew(&self) -> Arc<Refresher<T>> {
        Refresher::new(self.early, Arc::clone(&self.clock))
    }
}

/// A number that changes with the `variables`, without keeping what is secret in them.
fn fingerprint(environment: &Environment, variables: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for name in variables {
        environment.get(name).hash(&mut hasher);
    }
    hasher.finish()
}
