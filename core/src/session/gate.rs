//! One worker at a time for each conversation, within this process.

use std::collections::HashMap;
use std::process;
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use super::{SessionKey, SessionStore};
use crate::error::{Error, ErrorKind, Result};

/// A lock is held for a few lines only. Longer means that another thread held it when this process
/// was forked, and it never opens here.
pub(super) const FORKED: Duration = Duration::from_secs(2);

type Gate = tokio::sync::Mutex<()>;

/// Process, store, actor and conversation. A forked child does not wait for its parent's runs.
type Place = (u32, usize, Option<String>, String);

/// The gates of all conversations that somebody works on now.
#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<HashMap<Place, Weak<Gate>>>);

impl Gates {
    /// Waits until nobody else is inside.
    pub(super) async fn enter(&self, store: usize, key: &SessionKey) -> Result<Inside> {
        let place = (process::id(), store, key.actor_id.clone(), key.id.clone());
        let gate = {
            let mut gates = self.0.try_lock_for(FORKED).ok_or_else(forked)?;
            match gates.get(&place).and_then(Weak::upgrade) {
                Some(gate) => gate,
                None => {
                    // Now and then, so that conversations of the past take no space.
                    if gates.len() >= 64 && gates.len().is_power_of_two() {
                        gates.retain(|_, gate| gate.strong_count() > 0);
                    }
                    let gate = Arc::new(Gate::default());
                    gates.insert(place, Arc::downgrade(&gate));
                    gate
                }
            }
        };
        Ok(Inside {
            _guard: gate.lock_owned().await,
        })
    }
}

/// Waits until nobody else in this process does what only one may do at a time with a session of `store`. Has
/// nothing to do with [`SessionStore::synchronize`], which a run may hold meanwhile.
pub(crate) async fn alone(store: &Arc<dyn SessionStore>, key: &SessionKey) -> Result<Inside> {
    static GATES: LazyLock<Gates> = LazyLock::new(Gates::default);
    let store = Arc::as_ptr(store).cast::<()>() as usize;
    GATES.enter(store, key).await
}

/// Somebody works on a conversation.
#[derive(Debug)]
pub(crate) struct Inside {
    _guard: OwnedMutexGuard<()>,
}

pub(super) fn forked() -> Error {
    Error::new(
        ErrorKind::Error,
        "the session store was in use while this process was forked; make a new store in the child",
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn lets_in_one_at_a_time_for_each_conversation() {
        let gates = Arc::new(Gates::default());
        let inside = Arc::new(AtomicUsize::new(0));
        let key = SessionKey::new("a", None);
        let workers: Vec<_> = (0..20)
            .map(|_| {
                let (gates, inside, key) = (Arc::clone(&gates), Arc::clone(&inside), key.clone());
                tokio::spawn(async move {
                    let _guard = gates.enter(1, &key).await.unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
        let held = gates.enter(1, &key).await.unwrap();
        // Another actor, another conversation, another store: nobody waits.
        for (store, id, actor) in [
            (1, "b", None),
            (2, "a", None),
            (1, "a", Some("user".to_owned())),
        ] {
            drop(gates.enter(store, &SessionKey::new(id, actor)).await);
        }
        drop(held);
    }

    #[tokio::test]
    async fn forgets_conversations_of_the_past() {
        let gates = Gates::default();
        for number in 0..10_000 {
            drop(
                gates
                    .enter(1, &SessionKey::new(number.to_string(), None))
                    .await,
            );
        }
        assert!(gates.0.lock().len() <= 128);
    }
}
