//! Compiled definitions of tools that hosts describe anew for each run.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::Mutex;
use serde_json::Value;

use super::ToolDefinition;
use crate::error::Result;

/// Definitions kept. Applications have tens of tools; the bound is for those that make them up.
const CAPACITY: usize = 1_024;

static COMPILED: LazyLock<Mutex<HashMap<String, ToolDefinition>>> = LazyLock::new(Mutex::default);

/// What builds a definition: [`ToolDefinition::new`] or one like it.
type Build = fn(String, String, Value) -> Result<ToolDefinition>;

/// The definition that `build` makes, which `kind` tells apart from those of other functions.
pub(super) fn fetch(
    kind: &str,
    name: &str,
    description: &str,
    input_schema: Value,
    build: Build,
) -> Result<ToolDefinition> {
    let key = format!("{kind}\0{name}\0{description}\0{input_schema}");
    // A fork may have caught another thread with the lock held: then compile without it.
    if let Some(compiled) = COMPILED.try_lock()
        && let Some(definition) = compiled.get(&key)
    {
        return Ok(definition.clone());
    }
    let definition = build(name.to_owned(), description.to_owned(), input_schema)?;
    if let Some(mut compiled) = COMPILED.try_lock() {
        if compiled.len() >= CAPACITY {
            compiled.clear();
        }
        compiled.insert(key, definition.clone());
    }
    Ok(definition)
}
