//! What the host has a handle of, by number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::Sandbox;
use crate::workspace::Workspace;

/// How long to wait for the table. Its holder needs nanoseconds, so a longer wait means that the
/// holder was lost in a fork.
const LOCK_PATIENCE: Duration = Duration::from_millis(20);

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Things of one kind, by number, as long as their handles live.
pub(super) struct Table<T: ?Sized>(LazyLock<Mutex<HashMap<u64, Weak<T>>>>);

pub(super) static WORKSPACES: Table<Workspace> = Table(LazyLock::new(Mutex::default));
pub(super) static SANDBOXES: Table<dyn Sandbox> = Table(LazyLock::new(Mutex::default));

impl<T: ?Sized> Table<T> {
    pub(super) fn add(&self, thing: Weak<T>) -> Result<u64> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut table = self.0.try_lock_for(LOCK_PATIENCE).ok_or_else(lost)?;
        table.insert(id, thing);
        Ok(id)
    }

    pub(super) fn get(&self, id: Option<u64>) -> Result<std::sync::Arc<T>> {
        let table = self.0.try_lock_for(LOCK_PATIENCE).ok_or_else(lost)?;
        id.and_then(|id| table.get(&id))
            .and_then(Weak::upgrade)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Configuration,
                    "a workspace or sandbox of the run is gone; keep a reference to it while the run goes on",
                )
            })
    }

    pub(super) fn remove(&self, id: u64) {
        if let Some(mut table) = self.0.try_lock_for(LOCK_PATIENCE) {
            table.remove(&id);
        }
    }
}

fn lost() -> Error {
    Error::new(
        ErrorKind::Error,
        "the process was forked while a workspace or sandbox was made; make them after the fork",
    )
}
