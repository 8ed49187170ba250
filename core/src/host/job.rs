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
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;

/// Work of the engine with one answer. The descriptor is readable once it is there. Dropping the job
/// gives the work up.
pub struct HostJob {
    signal: Arc<WakeSignal>,
    answer: Arc<Mutex<Answer>>,
    ended: CancellationToken,
    _given_up: DropGuard,
}

/// What became of the work.
enum Answer {
    Missing,
    There(Result<Value>),
    Taken,
}

impl Answer {
    /// Whether this was the first answer.
    fn put(&mut self, result: Result<Value>) -> bool {
        let first = matches!(self, Answer::Missing);
        if first {
            *self = Answer::There(result);
        }
        first
    }
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
        let answer = Arc::new(Mutex::new(Answer::Missing));
        let (token, ended) = (CancellationToken::new(), CancellationToken::new());
        let (waker, slot, given_up) = (Arc::clone(&signal), Arc::clone(&answer), token.clone());
        let (end, over) = (ended.clone(), ended.clone());
        let shutdown = executor::shutdown_token()?;
        executor::spawn_own(async move {
            let _end = end.drop_guard();
            let result = tokio::select! {
                () = given_up.cancelled() => return,
                () = over.cancelled() => return,
                () = shutdown.cancelled() => Err(Error::cancelled()),
                result = work => result,
            };
            if slot.lock().put(result) {
                waker.wake();
            }
        })?;
        Ok(Self {
            signal,
            answer,
            ended,
            _given_up: token.drop_guard(),
        })
    }

    /// Ends the work when `token` is cancelled, or at `deadline_at`, in Unix seconds, whichever comes first.
    /// The answer is then [`ErrorKind::Cancelled`] or [`ErrorKind::DeadlineExceeded`].
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn within(&self, token: CancellationToken, deadline_at: Option<f64>) -> Result<()> {
        let (waker, slot) = (Arc::clone(&self.signal), Arc::clone(&self.answer));
        let ended = self.ended.clone();
        let deadline = deadline_at.and_then(Deadline::from_unix);
        executor::spawn_own(async move {
            let late = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep(deadline.remaining()).await,
                    None => std::future::pending().await,
                }
            };
            let cut = tokio::select! {
                biased;
                () = ended.cancelled() => return,
                () = token.cancelled() => Error::cancelled(),
                () = late => Error::deadline_exceeded(),
            };
            if slot.lock().put(Err(cut)) {
                ended.cancel();
                waker.wake();
            }
        })
    }

    /// Gives the work up without an answer, as dropping the job does.
    pub fn give_up(&self) {
        self.ended.cancel();
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
        let mut answer = self.answer.lock();
        if matches!(*answer, Answer::Missing) {
            return None;
        }
        match std::mem::replace(&mut *answer, Answer::Taken) {
            Answer::There(result) => Some(result),
            Answer::Missing | Answer::Taken => None,
        }
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
