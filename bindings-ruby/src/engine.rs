//! `LittleGhost::Native::Engine`: the resolved configuration that runs share.

use std::sync::Arc;

use little_ghost::Runtime;
use magnus::{Error, RHash, RModule, Ruby, function, prelude::*};

use crate::guard::guard;
use crate::module;

#[magnus::wrap(class = "LittleGhost::Native::Engine", free_immediately, size)]
pub(crate) struct Engine(pub(crate) Arc<Runtime>);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Engine", ruby.class_object())?;
    class.define_singleton_method("new", function!(Engine::new, 1))
}

impl Engine {
    /// From `{providers:, models:, default_model:}`, all optional.
    fn new(ruby: &Ruby, settings: RHash) -> Result<Self, Error> {
        guard(ruby, || {
            Ok(Self(Runtime::from_value(&module::object(ruby, settings)?)?))
        })
    }
}
