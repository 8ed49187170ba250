//! `LittleGhost::Native::Engine`: the resolved configuration that runs share.

use std::sync::Arc;

use little_ghost::{Runtime, RuntimeBuilder};
use magnus::{Error, RHash, RModule, Ruby, Value, function, method, prelude::*};

use crate::catalog::NativeCatalog;
use crate::guard::guard;
use crate::module;
use crate::testing::{Cassette, Faults, ScriptedModel};
use crate::value;

#[magnus::wrap(class = "LittleGhost::Native::Engine", free_immediately, size)]
pub(crate) struct Engine(pub(crate) Arc<Runtime>);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Engine", ruby.class_object())?;
    class.define_singleton_method("new", function!(Engine::new, 1))?;
    class.define_method("with_model", method!(Engine::with_model, 1))?;
    class.define_method("with_cassette", method!(Engine::with_cassette, 1))?;
    class.define_method("with_faults", method!(Engine::with_faults, 1))?;
    class.define_singleton_method("with_catalog", function!(Engine::with_catalog, 2))?;
    class.define_method("describe", method!(Engine::describe, 2))?;
    class.define_method("details", method!(Engine::details, 1))?;
    class.define_method("catalog", method!(Engine::catalog, 0))?;
    class.define_method("default_model", method!(Engine::default_model, 0))?;
    class.define_method("connections", method!(Engine::connections, 0))
}

impl Engine {
    /// From `{providers:, models:, default_model:, host_adapters:}`, all optional.
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

    fn with_catalog(ruby: &Ruby, settings: RHash, catalog: &NativeCatalog) -> Result<Self, Error> {
        guard(ruby, || {
            let settings = module::object(ruby, settings)?;
            let runtime = Runtime::with_catalog(&settings, Arc::clone(&catalog.0))?;
            Ok(Self(runtime))
        })
    }

    /// What a selection stands for, with profiles over the configured ones.
    fn describe(
        ruby: &Ruby,
        rb_self: &Self,
        selection: Value,
        profiles: RHash,
    ) -> Result<Value, Error> {
        guard(ruby, || {
            let selection = value::from_ruby(ruby, selection)?;
            let profiles = value::object_from_ruby(ruby, profiles)?;
            let described = rb_self.0.resolver().describe(&selection, &profiles)?;
            Ok(value::to_ruby(ruby, &described.to_value())?)
        })
    }

    fn details(ruby: &Ruby, rb_self: &Self, target: String) -> Result<Value, Error> {
        guard(ruby, || {
            let details = rb_self.0.resolver().details(&target)?;
            Ok(value::to_ruby(ruby, &details.to_value())?)
        })
    }

    fn catalog(&self) -> NativeCatalog {
        NativeCatalog(Arc::clone(self.0.resolver().catalog()))
    }

    fn default_model(&self) -> String {
        self.0.resolver().default_model().to_owned()
    }

    /// `{connection => adapter}`, those of the environment included.
    fn connections(ruby: &Ruby, rb_self: &Self) -> Result<RHash, Error> {
        guard(ruby, || {
            let connections = ruby.hash_new();
            for (name, adapter) in rb_self.0.resolver().connections() {
                connections.aset(name, adapter)?;
            }
            Ok(connections)
        })
    }
}
