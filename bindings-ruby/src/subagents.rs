//! Functions of `LittleGhost::Native` about subagents.

use little_ghost::host::{self, agent_path, subagent_session};
use magnus::{Error, RHash, RModule, Ruby, Value, function, prelude::*};
use serde_json::Value as Json;

use crate::guard::guard;
use crate::value;

pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("subagent_tools", function!(tools, 1))?;
    native.define_singleton_method("subagent_limits", function!(limits, 0))?;
    native.define_singleton_method("check_subagent_limits", function!(check_limits, 1))?;
    native.define_singleton_method("check_agent_path", function!(check_path, 1))?;
    native.define_singleton_method("check_task_name", function!(check_name, 1))?;
    native.define_singleton_method("join_agent_path", function!(join, 2))?;
    native.define_singleton_method("immediate_child?", function!(is_immediate_child, 2))?;
    native.define_singleton_method("parent_link", function!(parent_link, 2))?;
    native.define_singleton_method("registry_session_id", function!(registry, 2))?;
    native.define_singleton_method("conversation_session_id", function!(conversation, 1))?;
    native.define_singleton_method("commit_session_id", function!(commit, 2))
}

/// The specifications of the tools for these kinds: Hashes of `kind` and `description`.
fn tools(ruby: &Ruby, kinds: Value) -> Result<Value, Error> {
    guard(ruby, || {
        let kinds = match value::from_ruby(ruby, kinds)? {
            Json::Array(kinds) => kinds,
            _ => Vec::new(),
        };
        Ok(value::to_ruby(ruby, &host::subagent_tools(&kinds)?)?)
    })
}

fn limits(ruby: &Ruby) -> Result<Value, Error> {
    guard(ruby, || Ok(value::to_ruby(ruby, &host::subagent_limits())?))
}

fn check_limits(ruby: &Ruby, limits: RHash) -> Result<(), Error> {
    guard(ruby, || {
        Ok(host::check_subagent_limits(&value::object_from_ruby(
            ruby, limits,
        )?)?)
    })
}

fn check_path(ruby: &Ruby, path: String) -> Result<(), Error> {
    guard(ruby, || Ok(agent_path::check(&path)?))
}

fn check_name(ruby: &Ruby, name: String) -> Result<(), Error> {
    guard(ruby, || Ok(agent_path::check_name(&name)?))
}

fn join(ruby: &Ruby, parent: String, name: String) -> Result<String, Error> {
    guard(ruby, || Ok(agent_path::join(&parent, &name)?))
}

fn is_immediate_child(ruby: &Ruby, path: String, parent: String) -> Result<bool, Error> {
    guard(ruby, || Ok(agent_path::is_immediate_child(&path, &parent)))
}

fn parent_link(ruby: &Ruby, id: String, actor_id: Option<String>) -> Result<String, Error> {
    guard(ruby, || {
        Ok(subagent_session::parent_link(&id, actor_id.as_deref()))
    })
}

fn registry(ruby: &Ruby, id: String, actor_id: Option<String>) -> Result<String, Error> {
    guard(ruby, || {
        Ok(subagent_session::registry(&id, actor_id.as_deref()))
    })
}

fn conversation(ruby: &Ruby, id: String) -> Result<String, Error> {
    guard(ruby, || Ok(subagent_session::conversation(&id)))
}

fn commit(ruby: &Ruby, id: String, slot: u8) -> Result<String, Error> {
    guard(ruby, || Ok(subagent_session::commit(&id, slot)))
}
