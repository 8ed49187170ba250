//! Locks that hold across processes.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::process;

use parking_lot::Mutex;
use rustix::fs::{FlockOperation, flock};

use super::document::invalid;
use super::root::Root;
use crate::error::Result;

/// Descriptors of the locks that this process holds.
static HELD: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// The exclusive lock of a file, until it is dropped. The file stays.
pub(super) struct FileLock {
    file: ManuallyDrop<File>,
    pid: u32,
}

impl FileLock {
    /// The lock, or `None` while somebody else has it.
    pub(super) fn try_acquire(root: &Root, name: &str) -> Result<Option<Self>> {
        let file = root.lock_file(name)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                HELD.lock().push(file.as_raw_fd());
                Ok(Some(Self {
                    file: ManuallyDrop::new(file),
                    pid: process::id(),
                }))
            }
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(None),
            Err(problem) => Err(invalid(&format!("its file cannot be locked ({problem})"))),
        }
    }
}

impl Drop for FileLock {
    #[expect(
        unsafe_code,
        reason = "closes a file that a forked child must not close"
    )]
    fn drop(&mut self) {
        // A forked child has no part in its parent's lock: it closed its copy when it was born.
        if self.pid != process::id() {
            return;
        }
        let descriptor = self.file.as_raw_fd();
        HELD.lock().retain(|held| *held != descriptor);
        // Said aloud, because a child that was forked meanwhile may still have the file open.
        let _ = flock(self.file.as_fd(), FlockOperation::Unlock);
        // SAFETY: `drop` runs once, and nothing uses the field afterwards.
        unsafe { ManuallyDrop::drop(&mut self.file) };
    }
}

/// Closes a forked child's copies of its parent's locks. A lock lasts as long as anybody has
/// its file open; without this, one of a parent that was killed would last as long as the child.
#[expect(
    unsafe_code,
    reason = "closes descriptors whose owner lives in the parent"
)]
pub(crate) fn forget_locks_in_child() {
    use std::os::fd::{FromRawFd, OwnedFd};
    let Some(mut held) = HELD.try_lock() else {
        // A thread of the parent was changing the list at the fork. What is in it cannot be trusted,
        // so those locks last until the child ends; the child's own need a list that opens.
        // SAFETY: that thread does not exist here, and no other has begun yet.
        unsafe {
            HELD.data_ptr().write(Vec::new());
            HELD.force_unlock();
        }
        return;
    };
    for descriptor in held.drain(..) {
        // SAFETY: the owner is a `FileLock` of the parent, which never closes it in this process.
        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    }
}
