//! The work of a run until the engine's own thread takes it over.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::channel::HostChannel;
use crate::error::Result;
use crate::executor;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The work of a run that waits for the first answer of its host.
///
/// A run begins by asking its host for the agent. It does so on the host's own thread, because two threads that wake
/// each other for one question cost more than the question.
#[derive(Default)]
pub(super) struct Dormant(Mutex<Option<Work>>);

impl Dormant {
    /// Begins `work` on this thread. It goes on there, at the next [`wake`](Self::wake), if
    /// all it waits for is an answer through `channel`.
    ///
    /// # Errors
    /// When the engine has no threads.
    pub(super) fn begin(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
        channel: &HostChannel,
    ) -> Result<()> {
        let mut work: Work = Box::pin(work);
        let polled = {
            let _context = executor::enter()?;
            // Nobody is woken: an answer is what wakes it, and answers call `wake`.
            work.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        match polled {
            Poll::Ready(()) => Ok(()),
            Poll::Pending => {
                *self.0.lock() = Some(work);
                // It waits for something else, or its question was withdrawn meanwhile.
                if !channel.is_waiting() {
                    self.wake();
                }
                Ok(())
            }
        }
    }

    /// Hands the work to the engine's thread, if it still waits here.
    pub(super) fn wake(&self) {
        let work = self.0.lock().take();
        if let Some(work) = work {
            // The runtime was there when the work began.
            let _ = executor::spawn_own(work);
        }
    }
}

impl fmt::Debug for Dormant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Dormant")
    }
}
