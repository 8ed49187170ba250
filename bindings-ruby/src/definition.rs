//! `LittleGhost::Native::Definition`: a checked tool definition.

use little_ghost::ToolDefinition;
use magnus::{Error, RHash, RModule, Ruby, Value, function, method, prelude::*};

use crate::guard::guard;
use crate::value;

#[magnus::wrap(class = "LittleGhost::Native::Definition", free_immediately, size)]
struct Definition(ToolDefinition);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Definition", ruby.class_object())?;
    class.define_singleton_method("new", function!(Definition::new, 3))?;
    class.define_method("violations", method!(Definition::violations, 1))
}

impl Definition {
    fn new(ruby: &Ruby, name: String, description: String, schema: Value) -> Result<Self, Error> {
        guard(ruby, || {
            let schema = value::from_ruby(ruby, schema)?;
            Ok(Self(ToolDefinition::cached(&name, &description, schema)?))
        })
    }

    /// What is wrong with `input`, one String for each violation.
    fn violations(ruby: &Ruby, rb_self: &Self, input: RHash) -> Result<Vec<String>, Error> {
        guard(ruby, || {
            Ok(rb_self.0.violations(&value::object_from_ruby(ruby, input)?))
        })
    }
}
