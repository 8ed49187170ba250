//! Events that wait until it is known whether anybody gets them.

use std::sync::Arc;

use parking_lot::Mutex;

use super::RunCore;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;

/// Events that may wait.
const MAX_EVENTS: usize = 10_000;
/// Bytes of text and arguments in them.
const MAX_BYTES: usize = 10 * 1_024 * 1_024;

/// Events of a participant that wait until it is known whether its answer is the final one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hold(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    events: Vec<StreamEvent>,
    bytes: usize,
    overflowed: bool,
}

impl Hold {
    pub(super) fn push(&self, event: StreamEvent) {
        let mut held = self.0.lock();
        held.bytes = held.bytes.saturating_add(match &event {
            StreamEvent::TextDelta { text } | StreamEvent::ReasoningDelta { text } => text.len(),
            StreamEvent::ToolCallDelta { arguments, .. } => arguments.len(),
            _ => 0,
        });
        if held.events.len() >= MAX_EVENTS || held.bytes > MAX_BYTES {
            held.overflowed = true;
            held.events.clear();
            return;
        }
        held.events.push(event);
    }

    /// Forgets what waits.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Held::default();
    }

    /// Delivers what waits to whoever hears `around`.
    ///
    /// # Errors
    /// [`ErrorKind::AssemblyLimit`] when there was too much.
    pub(crate) async fn release(&self, around: &RunCore) -> Result<()> {
        let held = std::mem::take(&mut *self.0.lock());
        if held.overflowed {
            return Err(Error::new(
                ErrorKind::AssemblyLimit,
                format!(
                    "a participant that might have handed off had more than {MAX_EVENTS} events or \
                     10 MiB of text before its answer was known to be final"
                ),
            ));
        }
        for event in held.events {
            if around.place.audience.hears(&event) {
                around.outbox.send(event).await;
            }
        }
        Ok(())
    }
}
