//! What knows more about a process than its exit status.

use std::os::fd::{BorrowedFd, OwnedFd};

use super::super::ExitStatus;
use crate::error::Result;

/// Goes along with a process, on the thread that supervises it.
pub(crate) trait Companion: Send {
    /// What becomes readable when there is news.
    fn news(&self) -> Option<BorrowedFd<'_>>;

    /// Takes the news of the process `leader` in, without waiting.
    fn take_in(&mut self, leader: u32);

    /// A descriptor that becomes readable once the last descendant has gone.
    fn remains(&self) -> Option<&OwnedFd>;

    /// Ends what remains once the process itself has ended.
    fn end_remains(&self);

    /// How the process ended, when its status was `status` and its standard error ended with `stderr`.
    ///
    /// # Errors
    /// When it never became what was asked for.
    fn verdict(&mut self, status: ExitStatus, stderr: &[u8]) -> Result<ExitStatus>;
}
