//! What programs of the application's own engines call tools through.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::code_mode::{Broker, CallResult};
use crate::error::{Error, ErrorKind, Result};
use crate::host::HostJob;
use crate::host::run::HostRun;

/// The brokers of a run, by number.
#[derive(Debug, Default)]
pub(in crate::host) struct Brokers {
    known: Mutex<HashMap<u64, Arc<Broker>>>,
    next: AtomicU64,
}

impl Brokers {
    pub(super) fn add(&self, broker: Arc<Broker>) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.known.lock().insert(id, broker);
        id
    }

    pub(super) fn remove(&self, id: u64) {
        self.known.lock().remove(&id);
    }

    fn get(&self, id: u64) -> Result<Arc<Broker>> {
        self.known.lock().get(&id).cloned().ok_or_else(|| {
            Error::new(
                ErrorKind::Error,
                "the code-mode session of this broker is closed",
            )
        })
    }
}

/// `{id, value, error}`.
pub(super) fn to_value(result: CallResult) -> Value {
    let CallResult { id, answer } = result;
    json!({"id": id, "value": answer.value, "error": answer.error})
}

impl HostRun {
    /// Calls a tool for a program of the engine that was opened with `broker`. The job's answer is `{id, value, error}`.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when the session of the broker is closed, in a forked child, and as [`HostJob::start`].
    pub fn call_tool_of_program(
        &self,
        broker: u64,
        name: String,
        arguments: Value,
        id: String,
    ) -> Result<HostJob> {
        let broker = self.channel()?.brokers.get(broker)?;
        HostJob::start(async move { Ok(to_value(broker.call(&name, arguments, id).await?)) })
    }
}
