//! The engine's session stores in the hands of a host.

use std::future::Future;
use std::os::fd::RawFd;
use std::path::Path;
use std::pin::Pin;
use std::process;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::signal::WakeSignal;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::message::Message;
use crate::session::{
    FilesystemStore, MemoryStore, SessionGuard, SessionKey, SessionStore, Snapshot, Write,
    persistable, plan,
};

/// One of the engine's stores, as the host's own session objects use it.
#[derive(Clone, Debug)]
pub struct HostStore(Arc<dyn SessionStore>);

/// What a call to a store comes to.
enum Outcome {
    Value(Value),
    Inside(SessionGuard),
}

type Work = Pin<Box<dyn Future<Output = Result<Outcome>> + Send>>;

impl HostStore {
    /// A store for the life of the process.
    #[must_use]
    pub fn memory() -> Self {
        Self(Arc::new(MemoryStore::new()))
    }

    /// A store in the directory `root`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] when it is not suitable.
    pub fn filesystem(root: &Path) -> Result<Self> {
        Ok(Self(Arc::new(FilesystemStore::new(root)?)))
    }

    /// The store itself, for [`SessionOptions`](super::SessionOptions).
    #[must_use]
    pub fn shared(&self) -> Arc<dyn SessionStore> {
        Arc::clone(&self.0)
    }

    /// Begins to load a snapshot; null when there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when the process has no thread or descriptor left.
    pub fn load(&self, id: String, actor_id: Option<String>) -> Result<StoreCall> {
        let (store, key) = (self.shared(), SessionKey::new(id, actor_id));
        StoreCall::begin(async move {
            let found = store.load(&key).await?;
            Ok(Outcome::Value(value(found)))
        })
    }

    /// Begins to append `snapshot`, `{messages, state, metadata}`. Comes to null.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for an unusable snapshot; as [`HostStore::load`].
    pub fn append(
        &self,
        id: String,
        actor_id: Option<String>,
        snapshot: &Value,
        expected_count: usize,
    ) -> Result<StoreCall> {
        let addition = Snapshot::from_value(snapshot)?.persistable();
        let (store, key) = (self.shared(), SessionKey::new(id, actor_id));
        StoreCall::begin(async move {
            store.append(&key, addition, expected_count).await?;
            Ok(Outcome::Value(Value::Null))
        })
    }

    /// Begins to replace what is stored by `snapshot`. Comes to null.
    ///
    /// # Errors
    /// As [`HostStore::append`].
    pub fn replace(
        &self,
        id: String,
        actor_id: Option<String>,
        snapshot: &Value,
    ) -> Result<StoreCall> {
        let snapshot = Snapshot::from_value(snapshot)?.persistable();
        let (store, key) = (self.shared(), SessionKey::new(id, actor_id));
        StoreCall::begin(async move {
            store.replace(&key, snapshot).await?;
            Ok(Outcome::Value(Value::Null))
        })
    }

    /// Begins to wait until nobody else works on the conversation. The call that came to its end
    /// is the guard: others come in when it is dropped.
    ///
    /// # Errors
    /// As [`HostStore::load`].
    pub fn synchronize(&self, id: String, actor_id: Option<String>) -> Result<StoreCall> {
        let (store, key) = (self.shared(), SessionKey::new(id, actor_id));
        StoreCall::begin(async move { store.synchronize(&key).await.map(Outcome::Inside) })
    }
}

fn value(snapshot: Option<Snapshot>) -> Value {
    snapshot.map_or(Value::Null, |snapshot| snapshot.to_value())
}

/// A call to a store. Wait until [`fd`](Self::fd) is readable, then [`take`](Self::take).
///
/// A call that is dropped gives up waiting for others; a write that has begun is finished.
pub struct StoreCall {
    pid: u32,
    done: Arc<Done>,
    abandoned: Option<DropGuard>,
}

struct Done {
    /// None when the call needed no waiting.
    signal: Option<WakeSignal>,
    outcome: Mutex<Option<Result<Outcome>>>,
}

impl StoreCall {
    fn begin(work: impl Future<Output = Result<Outcome>> + Send + 'static) -> Result<Self> {
        let mut work: Work = Box::pin(work);
        // Most calls are over at once, and need neither a thread nor a descriptor.
        let entered = executor::enter()?;
        let first = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(entered);
        let (outcome, signal) = match first {
            Poll::Ready(outcome) => (Some(outcome), None),
            Poll::Pending => (None, Some(signal()?)),
        };
        let done = Arc::new(Done {
            signal,
            outcome: Mutex::new(outcome),
        });
        let mut abandoned = None;
        if done.signal.is_some() {
            let token = CancellationToken::new();
            abandoned = Some(token.clone().drop_guard());
            let done = Arc::clone(&done);
            executor::spawn_own(async move {
                let outcome = tokio::select! {
                    biased;
                    outcome = work => outcome,
                    () = token.cancelled() => return,
                };
                *done.outcome.lock() = Some(outcome);
                if let Some(signal) = &done.signal {
                    signal.wake();
                }
            })?;
        }
        Ok(Self {
            pid: process::id(),
            done,
            abandoned,
        })
    }

    /// The descriptor that becomes readable at the end of the call, or `None` when it is over.
    #[must_use]
    pub fn fd(&self) -> Option<RawFd> {
        self.done.signal.as_ref().map(WakeSignal::fd)
    }

    /// What the call came to: null for [`HostStore::synchronize`]. `None` while it goes on.
    ///
    /// # Errors
    /// What the store failed with; [`ErrorKind::Error`] in a forked child.
    pub fn take(&self) -> Result<Option<Value>> {
        if process::id() != self.pid {
            return Err(Error::new(
                ErrorKind::Error,
                "this call to a session store belongs to the parent of this process; make it again",
            ));
        }
        let mut outcome = self.done.outcome.lock();
        match outcome.take() {
            None => Ok(None),
            Some(Ok(Outcome::Value(value))) => Ok(Some(value)),
            Some(Ok(Outcome::Inside(guard))) => {
                *outcome = Some(Ok(Outcome::Inside(guard)));
                Ok(Some(Value::Null))
            }
            Some(Err(error)) => Err(error),
        }
    }
}

impl Drop for StoreCall {
    fn drop(&mut self) {
        // The parent's task is not there in a forked child, and its locks must not be touched.
        if process::id() != self.pid
            && let Some(guard) = self.abandoned.take()
        {
            drop(guard.disarm());
        }
    }
}

impl std::fmt::Debug for StoreCall {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StoreCall")
    }
}

fn signal() -> Result<WakeSignal> {
    WakeSignal::new().map_err(|problem| {
        Error::new(
            ErrorKind::Error,
            format!(
                "cannot open a descriptor for a session: {problem}; raise the limit of open files"
            ),
        )
    })
}

/// The serialised messages that a store may keep.
///
/// # Errors
/// [`ErrorKind::Protocol`] for what is no array of messages.
pub fn persistable_messages(messages: &Value) -> Result<Value> {
    let snapshot = Snapshot::from_value(&json!({"messages": messages}))?;
    Ok(persistable(&snapshot.messages)
        .iter()
        .map(Message::to_value)
        .collect())
}

/// What a host's session has to write when its store has `persisted`, a snapshot or null, and should
/// have `next`: null, `{append: snapshot, expected_count}` or `{replace: snapshot}`.
///
/// # Errors
/// [`ErrorKind::Protocol`] for what is no snapshot.
pub fn plan_write(persisted: &Value, next: &Value) -> Result<Value> {
    let persisted = match persisted {
        Value::Null => None,
        snapshot => Some(Snapshot::from_value(snapshot)?),
    };
    let next = Snapshot::from_value(next)?.persistable();
    Ok(match plan(persisted.as_ref(), &next) {
        Write::Unchanged => Value::Null,
        Write::Append {
            addition,
            expected_count,
        } => json!({"append": addition.to_value(), "expected_count": expected_count}),
        Write::Replace(snapshot) => json!({"replace": snapshot.to_value()}),
    })
}
