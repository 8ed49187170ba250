//! `LittleGhost::Native::Ticket`: a claim to the answer of an interjection.

use std::os::fd::RawFd;

use little_ghost::host::HostTicket;
use magnus::{Error, RModule, Ruby, Value, method, prelude::*};
use parking_lot::Mutex;

use crate::guard::guard;
use crate::value;

/// Let go of by `release`, because it owns a descriptor.
#[magnus::wrap(class = "LittleGhost::Native::Ticket", free_immediately, size)]
pub(crate) struct Ticket(pub(crate) Mutex<Option<HostTicket>>);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Ticket", ruby.class_object())?;
    class.define_method("fd", method!(Ticket::fd, 0))?;
    class.define_method("take", method!(Ticket::take, 0))?;
    class.define_method("withdraw", method!(Ticket::withdraw, 0))
}

impl Ticket {
    pub(crate) fn new(ticket: HostTicket) -> Self {
        Self(Mutex::new(Some(ticket)))
    }

    /// Readable once the answer is there; nil after `withdraw`.
    fn fd(ruby: &Ruby, rb_self: &Self) -> Result<Option<RawFd>, Error> {
        guard(ruby, || Ok(rb_self.0.lock().as_ref().map(HostTicket::fd)))
    }

    /// `{text, tool_calls, interjection_ids, batch_key}`, once; raises what kept it from coming.
    fn take(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || {
            let ticket = rb_self.0.lock();
            let taken = match ticket.as_ref() {
                Some(ticket) => ticket.take()?,
                None => return Err(withdrawn().into()),
            };
            Ok(value::to_ruby(ruby, &taken.to_value())?)
        })
    }

    /// Stops waiting and closes the descriptor.
    fn withdraw(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || {
            drop(rb_self.0.lock().take());
            Ok(())
        })
    }
}

fn withdrawn() -> little_ghost::Error {
    little_ghost::Error::new(
        little_ghost::ErrorKind::AgentInterjection,
        "the interjection was withdrawn",
    )
}
