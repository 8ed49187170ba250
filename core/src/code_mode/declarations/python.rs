//! Tools as Python functions.

use serde_json::Value;

use super::property::{Property, kind};
use super::{comment, returned};
use crate::code_mode::CatalogEntry;

/// The description, the call, and a remark for each argument.
pub(in crate::code_mode) fn declare(tool: &CatalogEntry) -> String {
    let properties = Property::all(&tool.input_schema);
    let mut lines = vec![comment("#", &tool.description)];
    for property in &properties {
        lines.push(format!("#   {}: {}", property.name, property.remark()));
    }
    if let Some(schema) = returned(tool) {
        lines.push(format!("# Returns: {}", kind(schema)));
    }
    let mut arguments: Vec<String> = properties
        .iter()
        .map(|property| {
            let annotated = format!("{}: {}", property.name, annotation(property.schema));
            match property.is_required {
                true => annotated,
                false => format!("{annotated} = ..."),
            }
        })
        .collect();
    if !arguments.is_empty() {
        arguments.insert(0, "*".into());
    }
    lines.push(format!("tools.{}({})", tool.name, arguments.join(", ")));
    lines.join("\n")
}

fn annotation(schema: &Value) -> &'static str {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "str",
        Some("integer") => "int",
        Some("number") => "float",
        Some("boolean") => "bool",
        Some("array") => "list",
        Some("object") => "dict",
        Some("null") => "None",
        _ => "Any",
    }
}
