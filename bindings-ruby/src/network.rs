//! `LittleGhost::Native::Gateway`, and functions about requests: egress of sandboxes.

use std::sync::Arc;

use little_ghost::host::{self, HostGateway};
use magnus::{Error, RHash, RModule, Ruby, Value, function, method, prelude::*};

use crate::catalog::Job;
use crate::guard::guard;
use crate::questions::Questions;
use crate::sandbox::Workspace;
use crate::{module, value};

/// Keeps a gateway known under its key.
#[magnus::wrap(class = "LittleGhost::Native::Gateway", free_immediately, size)]
struct Gateway(HostGateway);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    native.define_singleton_method("network_decision", function!(decision, 1))?;
    native.define_singleton_method("network_request", function!(request, 1))?;
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
