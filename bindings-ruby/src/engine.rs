//! `LittleGhost::Native::Engine`: the resolved configuration that runs share.

use std::sync::Arc;

use little_ghost::{Runtime, RuntimeBuilder};
use magnus::{Error, RHash, RModule, Ruby, function, method, prelude::*};

use crate::guard::guard;
use crate::module;
use crate::testing::{Cassette, Faults, ScriptedModel};

#[magnus::wrap(class = "LittleGhost::Native::Engine", free_immediately, size)]
pub(crate) struct Engine(pub(crate) Arc<Runtime>);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Engine", ruby.class_object())?;
    class.define_singleton_method("new", function!(Engine::new, 1))?;
    class.define_method("with_model", method!(Engine::with_model, 1))?;
    class.define_method("with_cassette", method!(Engine::with_cassette, 1))?;
    class.define_method("with_faults", method!(Engine::with_faults, 1))
}

impl Engine {
    /// From `{providers:, models:, default_model:}`, all optional.
    fn new(ruby: &Ruby, settings: RHash) -> Result<Self, Error> {
        guard(ruby, || {
            Ok(Self(Runtime::from_value(&module::object(ruby, settings)?)?))
        })
    }

    /// The same engine with `model` for every agent.
    fn with_model(ruby: &Ruby, rb_self: &Self, model: &ScriptedModel) -> Result<Self, Error> {
        rb_self.rebuilt(ruby, |builder| builder.model_override(model.model()))
    }

    /// The same engine with requests on a cassette.
    fn with_cassette(ruby: &Ruby, rb_self: &Self, cassette: &Cassette) -> Result<Self, Error> {
        rb_self.rebuilt(ruby, |builder| builder.cassette(&cassette.0))
    }

    /// The same engine with requests that go wrong.
    fn with_faults(ruby: &Ruby, rb_self: &Self, faults: &Faults) -> Result<Self, Error> {
        rb_self.rebuilt(ruby, |builder| builder.faults(&faults.0))
    }

    fn rebuilt(
        &self,
        ruby: &Ruby,
        change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Result<Self, Error> {
        guard(ruby, || Ok(Self(change(self.0.to_builder()).build()?)))
    }
}
