//! `LittleGhost::Native::SessionStore` and the `StoreCall` that one of its operations is.

use std::ffi::OsStr;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use little_ghost::host::{self, HostStore};
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, function, method, prelude::*};
use parking_lot::Mutex;
use serde_json::Value as Json;

use crate::guard::guard;
use crate::{module, value};

#[magnus::wrap(class = "LittleGhost::Native::SessionStore", free_immediately, size)]
pub(crate) struct SessionStore(pub(crate) HostStore);

/// Owns a descriptor and perhaps a lock, and lets them go before it is collected.
#[magnus::wrap(class = "LittleGhost::Native::StoreCall", free_immediately, size)]
struct StoreCall(Mutex<Option<host::StoreCall>>);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let store = native.define_class("SessionStore", ruby.class_object())?;
    store.define_singleton_method("memory", function!(SessionStore::memory, 0))?;
    store.define_singleton_method("filesystem", function!(SessionStore::filesystem, 1))?;
    store.define_method("load", method!(SessionStore::load, 2))?;
    store.define_method("append", method!(SessionStore::append, 4))?;
    store.define_method("replace", method!(SessionStore::replace, 3))?;
    store.define_method("synchronize", method!(SessionStore::synchronize, 2))?;
    let call = native.define_class("StoreCall", ruby.class_object())?;
    call.define_method("fd", method!(StoreCall::fd, 0))?;
    call.define_method("take", method!(StoreCall::take, 0))?;
    call.define_method("release", method!(StoreCall::release, 0))?;
    native.define_singleton_method("persistable_messages", function!(persistable_messages, 1))?;
    native.define_singleton_method("plan_write", function!(plan_write, 2))
}

impl SessionStore {
    fn memory(ruby: &Ruby) -> Result<Self, Error> {
        guard(ruby, || Ok(Self(HostStore::memory())))
    }

    fn filesystem(ruby: &Ruby, root: RString) -> Result<Self, Error> {
        guard(ruby, || {
            // SAFETY: the bytes are copied before anything can run Ruby code and change them.
            #[allow(unsafe_code)]
            let root = unsafe { root.as_slice() }.to_vec();
            Ok(Self(HostStore::filesystem(Path::new(OsStr::from_bytes(
                &root,
            )))?))
        })
    }

    fn load(
        ruby: &Ruby,
        rb_self: &Self,
        id: String,
        actor: Option<String>,
    ) -> Result<StoreCall, Error> {
        guard(ruby, || Ok(StoreCall::new(rb_self.0.load(id, actor)?)))
    }

    fn append(
        ruby: &Ruby,
        rb_self: &Self,
        id: String,
        actor: Option<String>,
        snapshot: RHash,
        expected_count: usize,
    ) -> Result<StoreCall, Error> {
        guard(ruby, || {
            let snapshot = module::object(ruby, snapshot)?;
            let call = rb_self.0.append(id, actor, &snapshot, expected_count)?;
            Ok(StoreCall::new(call))
        })
    }

    fn replace(
        ruby: &Ruby,
        rb_self: &Self,
        id: String,
        actor: Option<String>,
        snapshot: RHash,
    ) -> Result<StoreCall, Error> {
        guard(ruby, || {
            let snapshot = module::object(ruby, snapshot)?;
            Ok(StoreCall::new(rb_self.0.replace(id, actor, &snapshot)?))
        })
    }

    fn synchronize(
        ruby: &Ruby,
        rb_self: &Self,
        id: String,
        actor: Option<String>,
    ) -> Result<StoreCall, Error> {
        guard(ruby, || {
            Ok(StoreCall::new(rb_self.0.synchronize(id, actor)?))
        })
    }
}

impl StoreCall {
    fn new(call: host::StoreCall) -> Self {
        Self(Mutex::new(Some(call)))
    }

    /// The descriptor to wait for, or nil when the call is over.
    fn fd(&self) -> Option<RawFd> {
        self.0.lock().as_ref().and_then(host::StoreCall::fd)
    }

    /// `[value]` of a call that is over, or nil.
    fn take(ruby: &Ruby, rb_self: &Self) -> Result<Option<RArray>, Error> {
        guard(ruby, || {
            let taken = match &*rb_self.0.lock() {
                Some(call) => call.take()?,
                None => None,
            };
            match taken {
                Some(taken) => {
                    let array = ruby.ary_new_capa(1);
                    array.push(value::to_ruby(ruby, &taken)?)?;
                    Ok(Some(array))
                }
                None => Ok(None),
            }
        })
    }

    /// Lets the descriptor and the lock go.
    fn release(&self) {
        drop(self.0.lock().take());
    }
}

fn persistable_messages(ruby: &Ruby, messages: Value) -> Result<Value, Error> {
    guard(ruby, || {
        let messages = host::persistable_messages(&value::from_ruby(ruby, messages)?)?;
        Ok(value::to_ruby(ruby, &messages)?)
    })
}

fn plan_write(ruby: &Ruby, persisted: Value, next: Value) -> Result<Value, Error> {
    guard(ruby, || {
        let persisted: Json = value::from_ruby(ruby, persisted)?;
        let plan = host::plan_write(&persisted, &value::from_ruby(ruby, next)?)?;
        Ok(value::to_ruby(ruby, &plan)?)
    })
}
