//! Work that a host waits for outside a run.

use std::fmt;
use std::future::Future;
use std::os::fd::RawFd;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::signal::WakeSignal;
use crate::catalog::{CatalogSource, ModelRecord, ModelsDev, own_models};
use crate::error::{Error, ErrorKind, Result};
use crate::executor;

/// Work of the engine with one answer. The descriptor is readable once it is there. Dropping the job
/// gives the work up.
pub struct HostJob {
    signal: Arc<WakeSignal>,
    answer: Arc<Mutex<Option<Result<Value>>>>,
    _given_up: DropGuard,
}

impl HostJob {
    /// Starts `work` on the engine's threads.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when the process is out of threads or descriptors.
    pub fn start(work: impl Future<Output = Result<Value>> + Send + 'static) -> Result<Self> {
        let signal = Arc::new(WakeSignal::new().map_err(|problem| {
            Error::new(
                ErrorKind::Error,
                format!("cannot open a descriptor: {problem}; raise the limit of open files"),
            )
        })?);
        let answer = Arc::new(Mutex::new(None));
        let token = CancellationToken::new();
        let (waker, slot, given_up) = (Arc::clone(&signal), Arc::clone(&answer), token.clone());
        let shutdown = executor::shutdown_token()?;
        executor::spawn_own(async move {
            let result = tokio::select! {
                () = given_up.cancelled() => return,
                () = shutdown.cancelled() => Err(Error::cancelled()),
                result = work => result,
            };
            *slot.lock() = Some(result);
            waker.wake();
        })?;
        Ok(Self {
            signal,
            answer,
            _given_up: token.drop_guard(),
        })
    }

    /// Fetches what models.dev says about the models of connections, given with their adapters, as
    /// `{target: {attributes, observed_at}}`. `base_url` names a mirror.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn models_dev(
        connections: Vec<(String, String)>,
        base_url: Option<&str>,
        target: Option<String>,
    ) -> Result<Self> {
        let mut source = ModelsDev::new(connections);
        if let Some(base_url) = base_url {
            source = source.base_url(base_url);
        }
        Self::records(Arc::new(source), target)
    }

    /// Fetches the list of models that the service behind a connection with these options keeps itself, as
    /// [`models_dev`](Self::models_dev) does; nothing when it keeps none.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an invalid option, and as [`start`](Self::start).
    pub fn own_models(
        adapter: &str,
        connection: &str,
        options: &Map<String, Value>,
        target: Option<String>,
    ) -> Result<Self> {
        match own_models(adapter, connection, options)? {
            Some(source) => Self::records(source, target),
            None => Self::start(async { Ok(json!({})) }),
        }
    }

    fn records(source: Arc<dyn CatalogSource>, target: Option<String>) -> Result<Self> {
        Self::start(async move {
            let records = source.refresh(target.as_deref()).await?;
            Ok(Value::Object(records.into_iter().map(entry).collect()))
        })
    }

    /// The descriptor to wait on. It belongs to the job.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.signal.fd()
    }

    /// The answer, once, when it is there.
    #[must_use]
    pub fn take(&self) -> Option<Result<Value>> {
        self.answer.lock().take()
    }
}

pub(super) fn entry(record: ModelRecord) -> (String, Value) {
    let mut attributes = record.attributes;
    attributes.insert("observed_at".into(), json!(record.observed_at));
    (record.target, Value::Object(attributes))
}

impl fmt::Debug for HostJob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostJob")
    }
}
