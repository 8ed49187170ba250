//! What the owner of a process and its supervisor tell each other.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use super::super::ExitStatus;
use super::wake::Wake;
use crate::error::Error;

/// Shared by the session and the thread that supervises its process.
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Notify,
    wake: Wake,
    /// The process that started it. A forked copy of this process has the state, but no supervisor.
    owner: u32,
}

pub(super) struct State {
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    /// Bytes of both streams so far.
    pub(super) received: u64,
    pub(super) input: Input,
    /// The process is to end: it is asked first, and forced half a second later.
    pub(super) stop: bool,
    /// Closed: nobody reads or writes any more.
    pub(super) closed: bool,
    pub(super) exit: Option<ExitStatus>,
    /// Why the supervisor ended the process, or why it never became the program.
    pub(super) failure: Option<Error>,
    /// Nothing of the process is left that the supervisor could end.
    pub(super) gone: bool,
    /// The supervisor gave up waiting for a process that it had forced to end.
    pub(super) stuck: bool,
}

#[derive(Default)]
pub(super) struct Stream {
    pub(super) unread: Vec<u8>,
    pub(super) ended: bool,
}

#[derive(Default)]
pub(super) struct Input {
    pub(super) waiting: VecDeque<u8>,
    /// Bytes accepted, and bytes written, since the beginning.
    pub(super) accepted: u64,
    pub(super) written: u64,
    /// No more bytes follow the waiting ones.
    pub(super) ending: bool,
    /// The pipe is closed: at the wish of the owner, or because the process does not read.
    pub(super) closed: bool,
}

impl Shared {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            state: Mutex::new(State {
                stdout: Stream::default(),
                stderr: Stream::default(),
                received: 0,
                input: Input::default(),
                stop: false,
                closed: false,
                exit: None,
                failure: None,
                gone: false,
                stuck: false,
            }),
            changed: Notify::new(),
            wake: Wake::new()?,
            owner: std::process::id(),
        })
    }

    /// Whether this is a forked copy of the process that started it.
    pub(super) fn is_foreign(&self) -> bool {
        self.owner != std::process::id()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the state and tells the supervisor.
    pub(super) fn ask<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state.lock());
        self.wake.up();
        result
    }

    /// Changes the state and tells the owner.
    pub(super) fn tell<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state.lock());
        self.changed.notify_waiters();
        result
    }

    /// What becomes readable when the supervisor is asked something.
    pub(super) fn wake(&self) -> &OwnedFd {
        self.wake.descriptor()
    }

    pub(super) fn settle(&self) {
        self.wake.settle();
    }

    /// Waits until `look` finds something in the state.
    pub(super) async fn until<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if let Some(found) = look(&mut self.state.lock()) {
                return found;
            }
            changed.await;
        }
    }
}

impl State {
    /// Whether both output streams have ended.
    pub(super) fn is_silent(&self) -> bool {
        self.stdout.ended && self.stderr.ended
    }
}
