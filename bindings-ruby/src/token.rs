//! `LittleGhost::Native::Token` and the `Watch` that waits for one.

use std::future::Future;
use std::os::fd::RawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use little_ghost::host::WakeSignal;
use little_ghost::{CancellationToken, ErrorKind};
use magnus::{Error, RModule, Ruby, function, method, prelude::*};
use parking_lot::Mutex;

use crate::guard::guard;

#[magnus::wrap(class = "LittleGhost::Native::Token", free_immediately, size)]
pub(crate) struct Token(pub(crate) CancellationToken);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let token = native.define_class("Token", ruby.class_object())?;
    token.define_singleton_method("new", function!(Token::new, 0))?;
    token.define_method("child", method!(Token::child, 0))?;
    token.define_method("cancel", method!(Token::cancel, 0))?;
    token.define_method("cancelled?", method!(Token::is_cancelled, 0))?;
    token.define_method("watch", method!(Token::watch, 0))?;
    let watch = native.define_class("Watch", ruby.class_object())?;
    watch.define_method("fd", method!(Watch::fd, 0))?;
    watch.define_method("release", method!(Watch::release, 0))
}

impl Token {
    fn new() -> Self {
        Self(CancellationToken::new())
    }

    fn child(ruby: &Ruby, rb_self: &Self) -> Result<Self, Error> {
        guard(ruby, || Ok(Self(rb_self.0.child_token())))
    }

    fn cancel(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || {
            rb_self.0.cancel();
            Ok(())
        })
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// A descriptor that becomes readable when the token is cancelled.
    fn watch(ruby: &Ruby, rb_self: &Self) -> Result<Watch, Error> {
        guard(ruby, || Ok(Watch::new(&rb_self.0)?))
    }
}

type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits for a token without a thread of its own: the token's waker raises a descriptor.
#[magnus::wrap(class = "LittleGhost::Native::Watch", free_immediately, size)]
struct Watch {
    signal: Mutex<Option<Arc<Alarm>>>,
    // Held because dropping it takes the waker back.
    future: Mutex<Option<Cancelled>>,
}

struct Alarm(WakeSignal);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}

impl Watch {
    fn new(token: &CancellationToken) -> Result<Self, little_ghost::Error> {
        let signal = WakeSignal::new().map_err(|problem| {
            little_ghost::Error::new(
                ErrorKind::Error,
                format!("cannot open a descriptor to wait on: {problem}"),
            )
        })?;
        let alarm = Arc::new(Alarm(signal));
        let mut future: Cancelled = Box::pin(token.clone().cancelled_owned());
        let waker = Waker::from(Arc::clone(&alarm));
        if let Poll::Ready(()) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            alarm.0.wake();
        }
        Ok(Self {
            signal: Mutex::new(Some(alarm)),
            future: Mutex::new(Some(future)),
        })
    }

    fn fd(&self) -> Option<RawFd> {
        self.signal.lock().as_ref().map(|alarm| alarm.0.fd())
    }

    /// Closes the descriptor without waiting for the garbage collector.
    fn release(&self) {
        drop(self.future.lock().take());
        drop(self.signal.lock().take());
    }
}
