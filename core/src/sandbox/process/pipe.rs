//! Pipes that no other child inherits.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The reading and the writing end, both closed on exec.
pub(crate) fn new() -> io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(target_os = "linux")]
    {
        Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        use rustix::io::{FdFlags, fcntl_setfd};
        let (receiver, sender) = rustix::pipe::pipe()?;
        fcntl_setfd(&receiver, FdFlags::CLOEXEC)?;
        fcntl_setfd(&sender, FdFlags::CLOEXEC)?;
        Ok((receiver, sender))
    }
}

pub(crate) fn set_nonblocking(descriptor: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&descriptor)?;
    Ok(fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)?)
}
