//! Tools as Ruby methods.

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
    let arguments: Vec<String> = properties
        .iter()
        .map(|property| match property.is_required {
            true => format!("{}:", keyword(property.name)),
            false => format!("{}: nil", keyword(property.name)),
        })
        .collect();
    lines.push(format!("tools.{}({})", tool.name, arguments.join(", ")));
    lines.join("\n")
}

fn keyword(name: &str) -> String {
    let plain = |(position, letter): (usize, char)| {
        letter == '_' || letter.is_ascii_alphabetic() || (position > 0 && letter.is_ascii_digit())
    };
    if name.chars().enumerate().all(plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}
