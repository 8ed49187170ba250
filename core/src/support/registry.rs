//! Objects of a host, which a declaration names as `{"host": key}`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};

/// How long to wait for a table. Its holder needs nanoseconds, so a longer wait means that the holder was lost in a fork.
const LOCK_PATIENCE: Duration = Duration::from_millis(20);

/// The objects of one kind, while the host keeps them.
pub(crate) struct Registry<T: ?Sized + 'static> {
    what: &'static str,
    known: LazyLock<Mutex<HashMap<u64, Weak<T>>>>,
}

impl<T: ?Sized> Registry<T> {
    /// Of what messages call `what`.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self {
            what,
            known: LazyLock::new(Mutex::default),
        }
    }

    /// Makes `object` known, until the registration is dropped.
    ///
    /// # Errors
    /// [`Error`](ErrorKind::Error) in a forked child whose parent was registering one at that moment.
    pub(crate) fn add(&'static self, key: u64, object: Arc<T>) -> Result<Registration<T>> {
        let Some(mut known) = self.known.try_lock_for(LOCK_PATIENCE) else {
            return Err(self.unreachable());
        };
        // Those whose registration was lost in a fork.
        known.retain(|_, object| object.strong_count() > 0);
        known.insert(key, Arc::downgrade(&object));
        Ok(Registration {
            key,
            object,
            registry: self,
        })
    }

    /// The object that `declared` names; `None` when it names none of a host.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for one that is gone, and as [`add`](Self::add).
    pub(crate) fn find(&self, declared: &Value) -> Result<Option<Arc<T>>> {
        let Some(key) = declared.get("host").and_then(Value::as_u64) else {
            return Ok(None);
        };
        self.get(key).map(Some)
    }

    /// The object with this key.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(crate) fn get(&self, key: u64) -> Result<Arc<T>> {
        let Some(known) = self.known.try_lock_for(LOCK_PATIENCE) else {
            return Err(self.unreachable());
        };
        let found = known.get(&key).and_then(Weak::upgrade);
        found.ok_or_else(|| {
            let what = self.what;
            Error::new(
                ErrorKind::Policy,
                format!("the {what} is gone: keep a reference to it while a sandbox uses it"),
            )
        })
    }

    fn unreachable(&self) -> Error {
        let what = self.what;
        Error::new(
            ErrorKind::Error,
            format!("the process was forked while a {what} was registered; make it after the fork"),
        )
    }
}

/// Keeps an object known under its key.
pub(crate) struct Registration<T: ?Sized + 'static> {
    key: u64,
    object: Arc<T>,
    registry: &'static Registry<T>,
}

impl<T: ?Sized> Registration<T> {
    pub(crate) fn object(&self) -> &Arc<T> {
        &self.object
    }

    /// How a declaration names it.
    pub(crate) fn declaration(&self) -> Value {
        json!({"host": self.key})
    }
}

impl<T: ?Sized> Drop for Registration<T> {
    fn drop(&mut self) {
        if let Some(mut known) = self.registry.known.try_lock_for(LOCK_PATIENCE) {
            // Another one may have taken its place.
            let own =
                |found: &Weak<T>| std::ptr::addr_eq(found.as_ptr(), Arc::as_ptr(&self.object));
            if known.get(&self.key).is_some_and(own) {
                known.remove(&self.key);
            }
        }
    }
}
