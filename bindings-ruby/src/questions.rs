//! `LittleGhost::Native::Questions`, and the objects of the application that are asked: `Authorizer`,
//! `CommandWrapper`.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::host::{HostAuthorizer, HostCommandWrapper, HostFailure, HostQuestions};
use magnus::{Error, RArray, RModule, Ruby, Value, function, method, prelude::*};
use serde_json::Value as Json;

use crate::answer::{self, Asking};
use crate::guard::guard;
use crate::value;

/// Questions of the engine that a thread of Ruby answers.
#[magnus::wrap(class = "LittleGhost::Native::Questions", free_immediately, size)]
pub(crate) struct Questions(pub(crate) Arc<HostQuestions>);

/// Keeps an authorizer known under its key.
#[magnus::wrap(class = "LittleGhost::Native::Authorizer", free_immediately, size)]
struct Authorizer(HostAuthorizer);

/// Keeps a command wrapper known under its key.
#[magnus::wrap(class = "LittleGhost::Native::CommandWrapper", free_immediately, size)]
struct CommandWrapper(HostCommandWrapper);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let questions = native.define_class("Questions", ruby.class_object())?;
    questions.define_singleton_method("new", function!(Questions::new, 0))?;
    questions.define_method("fd", method!(Questions::fd, 0))?;
    questions.define_method("reopen", method!(Questions::reopen, 0))?;
    questions.define_method("close", method!(Questions::close, 0))?;
    questions.define_method("drain", method!(Questions::drain, 0))?;
    questions.define_method("complete", method!(answer::complete::<Questions>, 2))?;
    questions.define_method("fail", method!(answer::fail::<Questions>, 5))?;
    let authorizer = native.define_class("Authorizer", ruby.class_object())?;
    authorizer.define_singleton_method("new", function!(Authorizer::new, 2))?;
    authorizer.define_method("declaration", method!(Authorizer::declaration, 0))?;
    let wrapper = native.define_class("CommandWrapper", ruby.class_object())?;
    wrapper.define_singleton_method("new", function!(CommandWrapper::new, 2))?;
    wrapper.define_method("declaration", method!(CommandWrapper::declaration, 0))
}

impl Questions {
    fn new(ruby: &Ruby) -> Result<Self, Error> {
        guard(ruby, || Ok(Self(HostQuestions::new()?)))
    }

    fn fd(&self) -> RawFd {
        self.0.fd()
    }

    fn reopen(&self) {
        self.0.reopen();
    }

    /// Until it is opened again, whoever asks fails.
    fn close(&self) {
        self.0.close();
    }

    /// `[[id, question], ...]`.
    fn drain(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        guard(ruby, || {
            let asked = rb_self.0.drain().unwrap_or_default();
            let array = ruby.ary_new_capa(asked.len());
            for (id, question) in asked {
                let pair = ruby.ary_new_capa(2);
                pair.push(id)?;
                pair.push(value::to_ruby(ruby, &question)?)?;
                array.push(pair)?;
            }
            Ok(array)
        })
    }
}

impl Asking for Questions {
    fn answer(&self, id: u64, answer: Result<Json, HostFailure>) {
        self.0.complete(id, answer);
    }
}

impl Authorizer {
    fn new(ruby: &Ruby, key: u64, questions: &Questions) -> Result<Self, Error> {
        guard(ruby, || {
            Ok(Self(HostAuthorizer::new(key, Arc::clone(&questions.0))?))
        })
    }

    fn declaration(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.declaration())?))
    }
}

impl CommandWrapper {
    fn new(ruby: &Ruby, key: u64, questions: &Questions) -> Result<Self, Error> {
        guard(ruby, || {
            Ok(Self(HostCommandWrapper::new(
                key,
                Arc::clone(&questions.0),
            )?))
        })
    }

    fn declaration(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.declaration())?))
    }
}
