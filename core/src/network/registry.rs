//! Gateways and authorizers of a host, which a declaration names as `{"host": key}`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{Authorizer, Gateway};
use crate::error::{Error, ErrorKind, Result};

/// How long to wait for a table. Its holder needs nanoseconds, so a longer wait means that the holder was lost in a fork.
const LOCK_PATIENCE: Duration = Duration::from_millis(20);

static AUTHORIZERS: Registry<dyn Authorizer> = Registry::new("authorizer");
static GATEWAYS: Registry<dyn Gateway> = Registry::new("gateway");

struct Registry<T: ?Sized + 'static> {
    what: &'static str,
    known: LazyLock<Mutex<HashMap<u64, Weak<T>>>>,
}

impl<T: ?Sized> Registry<T> {
    const fn new(what: &'static str) -> Self {
        Self {
            what,
            known: LazyLock::new(Mutex::default),
        }
    }

    fn add(&'static self, key: u64, object: Arc<T>) -> Result<Registration<T>> {
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
    fn find(&self, declared: &Value) -> Result<Option<Arc<T>>> {
        let Some(key) = declared.get("host").and_then(Value::as_u64) else {
            return Ok(None);
        };
        let Some(known) = self.known.try_lock_for(LOCK_PATIENCE) else {
            return Err(self.unreachable());
        };
        let found = known.get(&key).and_then(Weak::upgrade);
        found.map(Some).ok_or_else(|| {
            let what = self.what;
            Error::new(
                ErrorKind::Policy,
                format!(
                    "the network {what} is gone: keep a reference to it while a sandbox uses it"
                ),
            )
        })
    }

    fn unreachable(&self) -> Error {
        let what = self.what;
        Error::new(
            ErrorKind::Error,
            format!(
                "the process was forked while a network {what} was registered; make it after the fork"
            ),
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

pub(crate) fn register_authorizer(
    key: u64,
    authorizer: Arc<dyn Authorizer>,
) -> Result<Registration<dyn Authorizer>> {
    AUTHORIZERS.add(key, authorizer)
}

pub(crate) fn register_gateway(
    key: u64,
    gateway: Arc<dyn Gateway>,
) -> Result<Registration<dyn Gateway>> {
    GATEWAYS.add(key, gateway)
}

pub(super) fn authorizer(declared: &Value) -> Result<Option<Arc<dyn Authorizer>>> {
    AUTHORIZERS.find(declared)
}

pub(super) fn gateway(declared: &Value) -> Result<Option<Arc<dyn Gateway>>> {
    GATEWAYS.find(declared)
}
