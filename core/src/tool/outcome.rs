//! What a model reads about a call: values, expected failures, unexpected ones.

use serde_json::Value;

use crate::error::{Error, ErrorKind};

/// Text of a successful value: strings as they are, null as nothing, the rest as compact JSON.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Text of a failure: the message of an expected one, only the class name of any other.
pub(crate) fn failure_text(error: &Error) -> String {
    if error.is(ErrorKind::Tool) {
        error.message().to_owned()
    } else {
        format!("The tool failed unexpectedly ({}).", error.class_name())
    }
}

/// Text for input that violates the schema.
pub(crate) fn input_error_text(violations: &[String]) -> String {
    format!("Invalid tool input: {}", violations.join("; "))
}

/// Text for a call to a tool that does not exist.
pub(crate) fn unknown_tool_text<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        format!("Unknown tool {name:?}: no tools are available.")
    } else {
        format!(
            "Unknown tool {name:?}. Available tools: {}.",
            known.join(", ")
        )
    }
}
