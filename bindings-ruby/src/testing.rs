//! The test kit's `LittleGhost::Native::ScriptedModel`, `Cassette` and `Faults`.

use std::sync::Arc;

use little_ghost::host::{ModelRegistration, register_model};
use little_ghost::{Model, testing};
use magnus::{Error, RArray, RHash, RModule, Ruby, function, method, prelude::*};

use crate::guard::guard;
use crate::{module, value};

/// A model that follows a script, known to the engine by its number.
#[magnus::wrap(class = "LittleGhost::Native::ScriptedModel", free_immediately, size)]
pub(crate) struct ScriptedModel {
    inner: testing::ScriptedModel,
    registration: ModelRegistration,
}

#[magnus::wrap(class = "LittleGhost::Native::Cassette", free_immediately, size)]
pub(crate) struct Cassette(pub(crate) testing::Cassette);

#[magnus::wrap(class = "LittleGhost::Native::Faults", free_immediately, size)]
pub(crate) struct Faults(pub(crate) testing::Faults);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let model = native.define_class("ScriptedModel", ruby.class_object())?;
    model.define_singleton_method("new", function!(ScriptedModel::new, 1))?;
    model.define_method("id", method!(ScriptedModel::id, 0))?;
    model.define_method("requests", method!(ScriptedModel::requests, 0))?;
    model.define_method("verify", method!(ScriptedModel::verify, 0))?;
    let cassette = native.define_class("Cassette", ruby.class_object())?;
    cassette.define_singleton_method("new", function!(Cassette::new, 1))?;
    cassette.define_method("recording?", method!(Cassette::is_recording, 0))?;
    cassette.define_method("finish", method!(Cassette::finish, 0))?;
    let faults = native.define_class("Faults", ruby.class_object())?;
    faults.define_singleton_method("new", function!(Faults::new, 1))?;
    faults.define_method("requests", method!(Faults::requests, 0))?;
    faults.define_method("verify", method!(Faults::verify, 0))
}

impl ScriptedModel {
    /// From `{turns:, repeat:, capabilities:}`.
    fn new(ruby: &Ruby, script: RHash) -> Result<Self, Error> {
        guard(ruby, || {
            let inner = testing::ScriptedModel::from_value(&module::object(ruby, script)?)?;
            let registration = register_model(Arc::new(inner.clone()))?;
            Ok(Self {
                inner,
                registration,
            })
        })
    }

    /// The number for an agent's declaration.
    fn id(&self) -> u64 {
        self.registration.id()
    }

    pub(crate) fn model(&self) -> Arc<dyn Model> {
        Arc::clone(self.registration.model())
    }

    fn requests(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        guard(ruby, || {
            let array = ruby.ary_new();
            for request in rb_self.inner.requests() {
                array.push(value::to_ruby(ruby, &request.to_value())?)?;
            }
            Ok(array)
        })
    }

    fn verify(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || Ok(rb_self.inner.verify()?))
    }
}

impl Cassette {
    /// From `{path:, mode:, scrub:, ignore:}`.
    fn new(ruby: &Ruby, settings: RHash) -> Result<Self, Error> {
        guard(ruby, || {
            let settings = module::object(ruby, settings)?;
            Ok(Self(testing::Cassette::from_value(&settings)?))
        })
    }

    fn is_recording(&self) -> bool {
        self.0.is_recording()
    }

    fn finish(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || Ok(rb_self.0.finish()?))
    }
}

impl Faults {
    fn new(ruby: &Ruby, faults: RArray) -> Result<Self, Error> {
        guard(ruby, || {
            let faults = value::from_ruby(ruby, faults.as_value())?;
            Ok(Self(testing::Faults::from_value(&faults)?))
        })
    }

    fn requests(&self) -> usize {
        self.0.requests()
    }

    fn verify(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || Ok(rb_self.0.verify()?))
    }
}
