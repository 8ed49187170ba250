//! The kit's parts from plain data, which is how hosts describe them.

use serde_json::{Map, Value};

use super::turn_value::{invalid, string, wrong};
use super::{Cassette, CassetteMode, ScriptedModel, Turn};
use crate::error::Result;
use crate::model::ModelCapabilities;

impl ScriptedModel {
    /// Reads `{turns, repeat, capabilities}`: an array for [`Turn::from_value`], whether the last turn repeats,
    /// and capabilities that differ from those of a model that can do everything
    /// (`native_structured_output`, `tools`, `tool_choice`, `known`, `supported_parameters`).
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for anything else.
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = object("a scripted model", value)?;
        let turns = map.get("turns").unwrap_or(&Value::Null);
        let turns = turns
            .as_array()
            .ok_or_else(|| wrong("turns", "an array", turns))?;
        let turns: Vec<Turn> = turns.iter().map(Turn::from_value).collect::<Result<_>>()?;
        let mut model = Self::new(turns);
        if map.get("repeat") == Some(&Value::Bool(true)) {
            model = model.repeating();
        }
        match map.get("capabilities") {
            None | Some(Value::Null) => Ok(model),
            Some(value) => Ok(model.capable_of(capabilities(object("capabilities", value)?)?)),
        }
    }
}

fn capabilities(map: &Map<String, Value>) -> Result<ModelCapabilities> {
    let mut all = ModelCapabilities::permissive();
    for (key, value) in map {
        let flag = || {
            value
                .as_bool()
                .ok_or_else(|| wrong(key, "true or false", value))
        };
        match key.as_str() {
            "native_structured_output" => all.native_structured_output = flag()?,
            "tools" => all.tools = flag()?,
            "tool_choice" => all.tool_choice = flag()?,
            "known" => all.known = flag()?,
            "supported_parameters" => all.supported_parameters = names(key, value)?,
            other => {
                return Err(invalid(format!(
                    "a model has no capability {other:?}; possible are native_structured_output, \
                     tools, tool_choice, known and supported_parameters"
                )));
            }
        }
    }
    Ok(all)
}

impl Cassette {
    /// Opens what `{path, mode, scrub, ignore}` describes; all but the path are optional.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for another shape, and as
    /// [`CassetteBuilder::open`](super::CassetteBuilder::open).
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = object("a cassette", value)?;
        let path = map.get("path").unwrap_or(&Value::Null);
        let mut builder = Self::builder(string("path", path)?);
        match map.get("mode") {
            None | Some(Value::Null) => {}
            Some(mode) => {
                builder = builder.mode(CassetteMode::from_name(&string("mode", mode)?)?);
            }
        }
        for text in list(map, "scrub")? {
            builder = builder.scrub(&text);
        }
        for pointer in list(map, "ignore")? {
            builder = builder.ignore(&pointer);
        }
        builder.open()
    }
}

fn list(map: &Map<String, Value>, key: &str) -> Result<Vec<String>> {
    match map.get(key) {
        None => Ok(Vec::new()),
        Some(value) => names(key, value).map(Option::unwrap_or_default),
    }
}

fn names(key: &str, value: &Value) -> Result<Option<Vec<String>>> {
    match value {
        Value::Null => Ok(None),
        Value::Array(items) => items
            .iter()
            .map(|item| string(key, item))
            .collect::<Result<_>>()
            .map(Some),
        other => Err(wrong(key, "an array of strings", other)),
    }
}

fn object<'a>(what: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    value
        .as_object()
        .ok_or_else(|| wrong(what, "an object", value))
}
