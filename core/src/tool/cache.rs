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

pub(super) fn fetch(name: &str, description: &str, input_schema: Value) -> Result<ToolDefinition> {
    let key = format!("{name}\0{description}\0{input_schema}");
    // A fork may have caught another thread with the lock held: then compile without it.
    if let Some(compiled) = COMPILED.try_lock()
        && let Some(definition) = compiled.get(&key)
    {
        return Ok(definition.clone());
    }
    let definition = ToolDefinition::new(name, description, input_schema)?;
    if let Some(mut compiled) = COMPILED.try_lock() {
        if compiled.len() >= CAPACITY {
            compiled.clear();
        }
        compiled.insert(key, definition.clone());
    }
    Ok(definition)
}
