//! Parts of a run that the host made something for.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};

/// How far a part of the run is.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The host makes ready what answers, and may have something to close whatever becomes of that.
    Opening,
    /// The host has nothing to close.
    Plain,
    /// The host has something to close.
    Closable,
    /// The host is asked to close the part.
    Closing,
}

/// The parts at work, by scope, and whether the host has something to close when they end.
///
/// Most have nothing, and a call for each of them would have both sides wait for one another.
#[derive(Debug, Default)]
pub(super) struct OpenParts(Mutex<HashMap<u64, Stage>>);

impl OpenParts {
    /// A part begins, and the host is asked to open it.
    pub(super) fn begin(&self, scope: u64) {
        self.0.lock().insert(scope, Stage::Opening);
    }

    /// The host has opened the part, and said by now whether there is something to close.
    pub(super) fn opened(&self, scope: u64) {
        if let Some(stage @ Stage::Opening) = self.0.lock().get_mut(&scope) {
            *stage = Stage::Plain;
        }
    }

    /// The host has something to close when the part ends.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] once it is over.
    pub(super) fn register(&self, scope: u64) -> Result<()> {
        match self.0.lock().get_mut(&scope) {
            // It is asked already, and gets to that when it is done with what it registers from.
            Some(Stage::Closing) => Ok(()),
            Some(stage) => {
                *stage = Stage::Closable;
                Ok(())
            }
            None => Err(Error::new(
                ErrorKind::Error,
                "what takes part in the run is done; register its resources before it ends",
            )),
        }
    }

    /// A part ends; whether the host has to be asked to close it, which [`closed`](Self::closed) follows.
    pub(super) fn end(&self, scope: u64) -> bool {
        let mut parts = self.0.lock();
        match parts.get_mut(&scope) {
            Some(stage @ (Stage::Opening | Stage::Closable)) => {
                *stage = Stage::Closing;
                true
            }
            _ => {
                parts.remove(&scope);
                false
            }
        }
    }

    /// The host has closed the part.
    pub(super) fn closed(&self, scope: u64) {
        self.0.lock().remove(&scope);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_ready_without_anything_to_close_is_not_closed() {
        let parts = OpenParts::default();
        parts.begin(1);
        parts.opened(1);
        assert!(!parts.end(1));
        assert!(parts.register(1).is_err());

        parts.begin(2);
        parts.register(2).expect("it begins");
        parts.opened(2);
        assert!(parts.end(2));
    }

    #[test]
    fn one_given_up_while_the_host_is_at_it_is_closed_with_what_it_still_registers() {
        let parts = OpenParts::default();
        parts.begin(1);
        assert!(parts.end(1));
        parts.register(1).expect("it is not closed yet");
        parts.opened(1);
        parts.closed(1);
        let late = parts.register(1).expect_err("it is over");
        assert!(late.to_string().contains("before it ends"), "{late}");
    }
}
