//! Parts of a run that the host made something for.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};

/// The parts at work, by scope, and whether the host has something to close when they end.
///
/// Most have nothing, and a call for each of them would have both sides wait for one another.
#[derive(Debug, Default)]
pub(super) struct OpenParts(Mutex<HashMap<u64, bool>>);

impl OpenParts {
    /// A part begins.
    pub(super) fn begin(&self, scope: u64) {
        self.0.lock().insert(scope, false);
    }

    /// The host has something to close when the part ends.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] once it is over.
    pub(super) fn register(&self, scope: u64) -> Result<()> {
        match self.0.lock().get_mut(&scope) {
            Some(closes) => {
                *closes = true;
                Ok(())
            }
            None => Err(Error::new(
                ErrorKind::Error,
                "what takes part in the run is done; register its resources before it ends",
            )),
        }
    }

    /// A part ends; whether the host has to close something.
    pub(super) fn end(&self, scope: u64) -> bool {
        self.0.lock().remove(&scope).unwrap_or_default()
    }
}
