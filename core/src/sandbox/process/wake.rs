//! Wakes a thread that polls descriptors.

use std::io;
use std::os::fd::OwnedFd;

/// A descriptor that becomes readable when somebody calls [`up`](Self::up).
pub(super) struct Wake {
    receiver: OwnedFd,
    sender: OwnedFd,
}

impl Wake {
    pub(super) fn new() -> io::Result<Self> {
        let (receiver, sender) = super::pipe::new()?;
        super::pipe::set_nonblocking(&receiver)?;
        super::pipe::set_nonblocking(&sender)?;
        Ok(Self { receiver, sender })
    }

    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.receiver
    }

    pub(super) fn up(&self) {
        // A full pipe wakes as well as one more byte would.
        let _ = rustix::io::write(&self.sender, b"w");
    }

    /// Sleeps again, until the next call.
    pub(super) fn settle(&self) {
        let mut bytes = [0_u8; 64];
        while rustix::io::read(&self.receiver, &mut bytes).is_ok_and(|count| count == bytes.len()) {
        }
    }
}
