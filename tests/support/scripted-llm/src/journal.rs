//! What a scenario was asked, and what became of each request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::request::Request;

struct Entry {
    method: String,
    path: String,
    query: Option<String>,
    headers: Value,
    body: Value,
    body_text: String,
    received_ms: f64,
    answered: bool,
    disconnected_ms: Option<f64>,
    connection: u64,
    bytes_written: Arc<AtomicU64>,
    error: Option<String>,
}

/// How many entries of a kind a waiter wants to see.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) requests: usize,
    pub(crate) disconnects: usize,
    pub(crate) answered: usize,
}

pub(crate) struct Journal {
    started: Instant,
    entries: Mutex<Vec<Entry>>,
    changed: watch::Sender<()>,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            entries: Mutex::new(Vec::new()),
            changed: watch::Sender::new(()),
        }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since the scenario was made, to the microsecond.
    fn now(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }

    /// Records a request. `path` is relative to the scenario's base URL.
    pub(crate) fn record(
        self: &Arc<Self>,
        request: &Request,
        path: &str,
        connection: u64,
        error: Option<String>,
    ) -> Ticket {
        let body_text = String::from_utf8_lossy(&request.body).into_owned();
        let body = serde_json::from_str(&body_text).unwrap_or_else(|_| body_text.clone().into());
        let written = Arc::new(AtomicU64::new(0));
        let entry = Entry {
            method: request.method.clone(),
            path: path.to_owned(),
            query: request.query.clone(),
            headers: Value::Object(request.headers.clone()),
            body,
            body_text,
            received_ms: self.now(),
            answered: false,
            disconnected_ms: None,
            connection,
            bytes_written: written.clone(),
            error,
        };
        let index = {
            let mut entries = self.entries();
            entries.push(entry);
            entries.len() - 1
        };
        self.changed.send_replace(());
        Ticket {
            journal: self.clone(),
            index,
            written,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let requests: Vec<Value> = self.entries().iter().map(Entry::json).collect();
        json!({ "requests": requests })
    }

    /// Waits until the journal holds what is wanted.
    pub(crate) async fn reached(&self, wanted: Wanted) {
        let mut changed = self.changed.subscribe();
        while !self.holds(wanted) {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    fn holds(&self, wanted: Wanted) -> bool {
        let entries = self.entries();
        let count = |test: fn(&Entry) -> bool| entries.iter().filter(|entry| test(entry)).count();
        entries.len() >= wanted.requests
            && count(|entry| entry.disconnected_ms.is_some()) >= wanted.disconnects
            && count(|entry| entry.answered) >= wanted.answered
    }
}

impl Entry {
    fn json(&self) -> Value {
        json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": self.headers,
            "body": self.body,
            "body_text": self.body_text,
            "received_ms": self.received_ms,
            "answered": self.answered,
            "disconnected_ms": self.disconnected_ms,
            "connection": self.connection,
            "bytes_written": self.bytes_written.load(Ordering::Relaxed),
            "error": self.error,
        })
    }
}

/// The journal entry of the request being answered.
pub(crate) struct Ticket {
    journal: Arc<Journal>,
    index: usize,
    written: Arc<AtomicU64>,
}

impl Ticket {
    pub(crate) fn wrote(&self, count: usize) {
        self.written.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Runs `write`, which returns true once the last byte of the exchange is
    /// out, while nobody can read the journal. A client that has seen the end
    /// of an answer therefore never reads a journal that says otherwise.
    pub(crate) fn finish<E>(&self, write: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        let mut entries = self.journal.entries();
        let done = write()?;
        if done {
            if let Some(entry) = entries.get_mut(self.index) {
                entry.answered = true;
            }
            drop(entries);
            self.journal.changed.send_replace(());
        }
        Ok(done)
    }

    pub(crate) fn disconnected(&self) {
        let now = self.journal.now();
        if let Some(entry) = self.journal.entries().get_mut(self.index) {
            entry.disconnected_ms = Some(now);
        }
        self.journal.changed.send_replace(());
    }
}
