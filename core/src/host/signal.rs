//! A file descriptor that is readable while a queue has something in it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes a host that waits for readability: an eventfd on Linux, a pipe elsewhere.
///
/// The data stays in Rust; the descriptor only says that there is some.
#[derive(Debug)]
pub struct WakeSignal {
    read: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    write: OwnedFd,
    raised: AtomicBool,
}

impl WakeSignal {
    /// Opens the descriptor, non-blocking and closed on exec.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    #[cfg(target_os = "linux")]
    pub fn new() -> io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let read = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            read,
            raised: AtomicBool::new(false),
        })
    }

    /// Opens the descriptors, non-blocking and closed on exec.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> io::Result<Self> {
        use rustix::fs::OFlags;
        use rustix::io::{FdFlags, fcntl_setfd};
        let (read, write) = rustix::pipe::pipe()?;
        for end in [&read, &write] {
            fcntl_setfd(end, FdFlags::CLOEXEC)?;
            rustix::fs::fcntl_setfl(end, OFlags::NONBLOCK)?;
        }
        Ok(Self {
            read,
            write,
            raised: AtomicBool::new(false),
        })
    }

    /// The descriptor to wait on. It belongs to this value and must not be closed by the host.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.read.as_raw_fd()
    }

    /// Makes the descriptor readable.
    pub fn wake(&self) {
        if !self.raised.swap(true, Ordering::AcqRel) {
            // Neither a full counter nor a full pipe loses the wake-up: both stay readable.
            #[cfg(target_os = "linux")]
            let _ = rustix::io::write(&self.read, &1_u64.to_ne_bytes());
            #[cfg(not(target_os = "linux"))]
            let _ = rustix::io::write(&self.write, &[1]);
        }
    }

    /// Makes the descriptor unreadable until the next [`wake`](Self::wake).
    pub fn clear(&self) {
        if self.raised.swap(false, Ordering::AcqRel) {
            let mut buffer = [0_u8; 8];
            let _ = rustix::io::read(&self.read, &mut buffer);
        }
    }
}
