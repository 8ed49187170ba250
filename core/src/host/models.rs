//! Models of the engine that a host names by a number.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};
use crate::model::Model;

/// How long to wait for the table. Its holder needs nanoseconds, so a longer wait means that the
/// holder was lost in a fork.
const LOCK_PATIENCE: Duration = Duration::from_millis(20);

static MODELS: LazyLock<Mutex<HashMap<u64, Weak<dyn Model>>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Keeps a model known under its number.
pub struct ModelRegistration {
    id: u64,
    model: Arc<dyn Model>,
}

impl ModelRegistration {
    /// The number, for an entrypoint's answer `{"native": id}`.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }
}

impl fmt::Debug for ModelRegistration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "ModelRegistration({}, {:?})",
            self.id,
            self.model.target()
        )
    }
}

impl Drop for ModelRegistration {
    fn drop(&mut self) {
        if let Some(mut models) = MODELS.try_lock_for(LOCK_PATIENCE) {
            models.remove(&self.id);
        }
    }
}

/// Makes `model` known under a number, until the registration is dropped. Runs that have begun
/// keep their model.
///
/// # Errors
/// [`ErrorKind::Error`] in a forked child whose parent was registering a model at that moment.
pub fn register_model(model: Arc<dyn Model>) -> Result<ModelRegistration> {
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let Some(mut models) = MODELS.try_lock_for(LOCK_PATIENCE) else {
        return Err(unreachable_table());
    };
    models.insert(id, Arc::downgrade(&model));
    Ok(ModelRegistration { id, model })
}

/// The model with that number.
pub(crate) fn registered_model(id: u64) -> Result<Arc<dyn Model>> {
    let Some(models) = MODELS.try_lock_for(LOCK_PATIENCE) else {
        return Err(unreachable_table());
    };
    models.get(&id).and_then(Weak::upgrade).ok_or_else(|| {
        Error::new(
            ErrorKind::Configuration,
            "the agent's model is gone: keep a reference to it while agents use it",
        )
    })
}

fn unreachable_table() -> Error {
    Error::new(
        ErrorKind::Error,
        "the process was forked while a model was registered; make models after the fork",
    )
}
