//! Functions of `LittleGhost::Native` itself.

use little_ghost::catalog::ModelDetails;
use little_ghost::{Content, ErrorKind, HostException, host};
use magnus::{Error, RArray, RHash, RModule, Ruby, Value, function, prelude::*};
use serde_json::Value as Json;

use crate::guard::guard;
use crate::value;

pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("error_kinds", function!(error_kinds, 0))?;
    native.define_singleton_method("check_agent", function!(check_agent, 1))?;
    native.define_singleton_method("check_assembly", function!(check_assembly, 1))?;
    native.define_singleton_method("check_nesting", function!(check_nesting, 3))?;
    native.define_singleton_method("check_content", function!(check_content, 1))?;
    native.define_singleton_method("check_attachments", function!(check_attachments, 3))?;
    native.define_singleton_method("tool_failure_text", function!(tool_failure_text, 3))?;
    native.define_singleton_method("tool_input_error_text", function!(tool_input_error_text, 1))?;
    native.define_singleton_method("tool_value_text", function!(tool_value_text, 1))?;
    native.define_singleton_method("cancel_all", function!(cancel_all, 0))?;
    native.define_singleton_method("after_fork_in_child", function!(after_fork_in_child, 0))?;
    native.define_singleton_method("provoke_panic", function!(provoke_panic, 0))
}

/// `[[name, parent or nil], ...]`, parents first.
fn error_kinds(ruby: &Ruby) -> Result<RArray, Error> {
    guard(ruby, || {
        let kinds = ruby.ary_new_capa(ErrorKind::ALL.len());
        for kind in ErrorKind::ALL {
            kinds.push((kind.name(), kind.parent().map(ErrorKind::name)))?;
        }
        Ok(kinds)
    })
}

/// Raises unless the Hash has what an agent may declare: `result_schema`, `context_management`,
/// `tool_loop`.
fn check_agent(ruby: &Ruby, declared: RHash) -> Result<(), Error> {
    guard(ruby, || {
        host::check_agent(&value::object_from_ruby(ruby, declared)?)?;
        Ok(())
    })
}

/// Raises unless the Hash describes a sound assembly. Returns the flowchart of a graph, else nil.
fn check_assembly(ruby: &Ruby, described: RHash) -> Result<Option<String>, Error> {
    guard(ruby, || {
        Ok(host::check_assembly(&object(ruby, described)?)?)
    })
}

/// Raises AssemblyLimitError for an assembly that is inside of too many others.
fn check_nesting(ruby: &Ruby, kind: String, id: String, depth: usize) -> Result<(), Error> {
    guard(ruby, || Ok(host::check_nesting(&kind, &id, depth)?))
}

/// Raises ArgumentError unless the Hash is one serialised content block.
fn check_content(ruby: &Ruby, block: Value) -> Result<(), Error> {
    guard(ruby, || {
        Content::from_value(&value::from_ruby(ruby, block)?)?;
        Ok(())
    })
}

/// Raises UnsupportedInputError for attachments that the model with these details does not take.
fn check_attachments(
    ruby: &Ruby,
    target: String,
    messages: Value,
    details: RHash,
) -> Result<(), Error> {
    guard(ruby, || {
        let details = value::object_from_ruby(ruby, details)?;
        let details = ModelDetails::stated(target, details);
        host::check_attachments(&value::from_ruby(ruby, messages)?, &details)?;
        Ok(())
    })
}

/// What a model reads about an exception of `class`, whose nearest engine kind is `kind`.
fn tool_failure_text(
    ruby: &Ruby,
    kind: String,
    class: String,
    message: String,
) -> Result<String, Error> {
    guard(ruby, || {
        let kind = ErrorKind::from_name(&kind).unwrap_or(ErrorKind::Host);
        let error =
            little_ghost::Error::new(kind, message).with_host(HostException { id: 0, class });
        Ok(host::tool_failure_text(&error))
    })
}

fn tool_input_error_text(ruby: &Ruby, violations: Vec<String>) -> Result<String, Error> {
    guard(ruby, || Ok(host::tool_input_error_text(&violations)))
}

fn tool_value_text(ruby: &Ruby, value: Value) -> Result<String, Error> {
    guard(ruby, || {
        Ok(host::tool_value_text(&value::from_ruby(ruby, value)?))
    })
}

fn cancel_all(ruby: &Ruby) -> Result<(), Error> {
    guard(ruby, || {
        host::cancel_all();
        Ok(())
    })
}

fn after_fork_in_child(ruby: &Ruby) -> Result<(), Error> {
    guard(ruby, || {
        host::after_fork_in_child();
        Ok(())
    })
}

fn provoke_panic(ruby: &Ruby) -> Result<(), Error> {
    guard(ruby, || {
        host::provoke_panic();
        Ok(())
    })
}

/// Reads a Hash argument as a JSON object.
pub(crate) fn object(ruby: &Ruby, hash: RHash) -> Result<Json, Error> {
    value::object_from_ruby(ruby, hash).map(Json::Object)
}
