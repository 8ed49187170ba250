//! `LittleGhost::Native::Questions`, `Authorizer` and `Gateway`: egress of sandboxes.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::host::{self, HostAuthorizer, HostFailure, HostGateway, HostQuestions};
use little_ghost::{ErrorKind, HostException};
use magnus::{Error, RArray, RHash, RModule, Ruby, Value, function, method, prelude::*};

use crate::catalog::Job;
use crate::guard::guard;
use crate::sandbox::Workspace;
use crate::{module, value};

/// Questions of the engine that a thread of Ruby answers.
#[magnus::wrap(class = "LittleGhost::Native::Questions", free_immediately, size)]
pub(crate) struct Questions(Arc<HostQuestions>);

/// Keeps an authorizer known under its key.
#[magnus::wrap(class = "LittleGhost::Native::Authorizer", free_immediately, size)]
struct Authorizer(HostAuthorizer);

/// Keeps a gateway known under its key.
#[magnus::wrap(class = "LittleGhost::Native::Gateway", free_immediately, size)]
struct Gateway(HostGateway);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    native.define_singleton_method("network_decision", function!(decision, 1))?;
    native.define_singleton_method("network_request", function!(request, 1))?;
    let questions = native.define_class("Questions", ruby.class_object())?;
    questions.define_singleton_method("new", function!(Questions::new, 0))?;
    questions.define_method("fd", method!(Questions::fd, 0))?;
    questions.define_method("reopen", method!(Questions::reopen, 0))?;
    questions.define_method("close", method!(Questions::close, 0))?;
    questions.define_method("drain", method!(Questions::drain, 0))?;
    questions.define_method("complete", method!(Questions::complete, 2))?;
    questions.define_method("fail", method!(Questions::fail, 4))?;
    let authorizer = native.define_class("Authorizer", ruby.class_object())?;
    authorizer.define_singleton_method("new", function!(Authorizer::new, 2))?;
    authorizer.define_method("declaration", method!(Authorizer::declaration, 0))?;
    let gateway = native.define_class("Gateway", ruby.class_object())?;
    gateway.define_singleton_method("declared", function!(Gateway::declared, 5))?;
    gateway.define_singleton_method("own", function!(Gateway::own, 2))?;
    gateway.define_method("declaration", method!(Gateway::declaration, 0))?;
    gateway.define_method("description", method!(Gateway::description, 0))?;
    gateway.define_method("open", method!(Gateway::open, 0))?;
    gateway.define_method("close", method!(Gateway::close, 0))?;
    gateway.define_method("validate", method!(Gateway::validate, 0))
}

fn decision(ruby: &Ruby, decision: RHash) -> Result<Value, Error> {
    guard(ruby, || {
        let decision = host::network_decision(&module::object(ruby, decision)?)?;
        Ok(value::to_ruby(ruby, &decision)?)
    })
}

fn request(ruby: &Ruby, request: RHash) -> Result<Value, Error> {
    guard(ruby, || {
        let request = host::network_request(&module::object(ruby, request)?)?;
        Ok(value::to_ruby(ruby, &request)?)
    })
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

    fn complete(ruby: &Ruby, rb_self: &Self, id: u64, answer: Value) -> Result<(), Error> {
        guard(ruby, || {
            rb_self.0.complete(id, Ok(value::from_ruby(ruby, answer)?));
            Ok(())
        })
    }

    /// With kind, class name and message of an exception, which stays where it was raised.
    fn fail(
        ruby: &Ruby,
        rb_self: &Self,
        id: u64,
        kind: String,
        class: String,
        message: String,
    ) -> Result<(), Error> {
        guard(ruby, || {
            let failure = HostFailure {
                kind: ErrorKind::from_name(&kind).unwrap_or(ErrorKind::Host),
                exception: HostException { id: 0, class },
                message,
                status: None,
                body: None,
            };
            rb_self.0.complete(id, Err(failure));
            Ok(())
        })
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

impl Gateway {
    /// With the declaration of a policy, options, and perhaps a workspace and questions.
    fn declared(
        ruby: &Ruby,
        key: u64,
        policy: RHash,
        options: RHash,
        workspace: Option<&Workspace>,
        questions: Option<&Questions>,
    ) -> Result<Self, Error> {
        guard(ruby, || {
            let policy = module::object(ruby, policy)?;
            let options = value::object_from_ruby(ruby, options)?;
            let questions = questions.map(|questions| Arc::clone(&questions.0));
            let workspace = workspace.map(|workspace| workspace.0.workspace());
            let gateway = HostGateway::declared(key, &policy, &options, workspace, questions)?;
            Ok(Self(gateway))
        })
    }

    fn own(ruby: &Ruby, key: u64, questions: &Questions) -> Result<Self, Error> {
        guard(ruby, || {
            Ok(Self(HostGateway::own(key, Arc::clone(&questions.0))?))
        })
    }

    fn declaration(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.declaration())?))
    }

    fn description(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.description())?))
    }

    fn open(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.open()?)))
    }

    fn close(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.close()?)))
    }

    fn validate(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.validate()?)))
    }
}
