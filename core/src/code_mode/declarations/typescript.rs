//! Tools as a TypeScript type.

use serde_json::{Map, Value};

use super::returned;
use crate::code_mode::CatalogEntry;

/// How deep a schema is written out.
const MOST_LEVELS: usize = 12;

/// One object type with a method for each tool.
pub(in crate::code_mode) fn declare(tools: &[CatalogEntry]) -> String {
    let mut text = String::from("declare const tools: {\n");
    for tool in tools {
        text.push_str(&remark(&tool.description, 1));
        let input = Writer::new(&tool.input_schema);
        let takes = input.input(&tool.input_schema);
        let output = returned(tool).map_or_else(
            || "unknown".to_owned(),
            |schema| Writer::new(schema).kind(schema, 1, MOST_LEVELS),
        );
        text.push_str(&format!("  {}({takes}): Promise<{output}>;\n", tool.name));
    }
    text.push_str("};");
    text
}

fn remark(text: &str, level: usize) -> String {
    let text = text.trim().replace("*/", "* /");
    let indent = "  ".repeat(level);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let middle: String = lines
                .iter()
                .map(|line| format!("{indent} * {line}\n"))
                .collect();
            format!("{indent}/**\n{middle}{indent} */\n")
        }
    }
}

/// Writes the types of one schema.
struct Writer<'a> {
    root: &'a Value,
}

impl<'a> Writer<'a> {
    fn new(root: &'a Value) -> Self {
        Self { root }
    }

    fn input(&self, schema: &Value) -> String {
        let object = schema.get("properties").and_then(Value::as_object);
        let is_empty = object.is_none_or(Map::is_empty);
        if is_empty && schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            return "input?: {}".into();
        }
        let is_optional = schema
            .get("required")
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty);
        let mark = if is_optional { "?" } else { "" };
        format!("input{mark}: {}", self.kind(schema, 1, MOST_LEVELS))
    }

    fn kind(&self, schema: &Value, level: usize, left: usize) -> String {
        let Some(left) = left.checked_sub(1) else {
            return "unknown".into();
        };
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        let joined = |schemas: &[Value], operator: &str| {
            let mut kinds: Vec<String> = Vec::new();
            for schema in schemas {
                let kind = self.kind(schema, level, left);
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            match kinds.len() {
                0 => "unknown".to_owned(),
                1 => kinds.remove(0),
                _ => format!("({})", kinds.join(operator)),
            }
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let found = target
                .strip_prefix('#')
                .and_then(|path| self.root.pointer(path));
            return found.map_or_else(|| "unknown".into(), |found| self.kind(found, level, left));
        }
        if let Some(members) = list("enum") {
            let members: Vec<String> = members.iter().map(Value::to_string).collect();
            return match members.len() {
                1 => members.concat(),
                _ => format!("({})", members.join(" | ")),
            };
        }
        if let Some(only) = schema.get("const") {
            return only.to_string();
        }
        if let Some(schemas) = list("anyOf").or_else(|| list("oneOf")) {
            return joined(schemas, " | ");
        }
        if let Some(schemas) = list("allOf") {
            return joined(schemas, " & ");
        }
        match schema.get("type") {
            Some(Value::Array(names)) => {
                let each: Vec<Value> = names
                    .iter()
                    .map(|name| {
                        let mut one = schema.as_object().cloned().unwrap_or_default();
                        one.insert("type".into(), name.clone());
                        Value::Object(one)
                    })
                    .collect();
                joined(&each, " | ")
            }
            Some(Value::String(name)) => self.named(name, schema, level, left),
            _ if schema.get("properties").is_some() => self.object(schema, level, left),
            _ => "unknown".into(),
        }
    }

    fn named(&self, name: &str, schema: &Value, level: usize, left: usize) -> String {
        match name {
            "string" | "boolean" | "null" => name.into(),
            "integer" | "number" => "number".into(),
            "array" => {
                let items = schema.get("items");
                let items =
                    items.map_or_else(|| "unknown".into(), |one| self.kind(one, level, left));
                format!("{items}[]")
            }
            "object" => self.object(schema, level, left),
            _ => "unknown".into(),
        }
    }

    fn object(&self, schema: &Value, level: usize, left: usize) -> String {
        let empty = Map::new();
        let properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let rest = match schema.get("additionalProperties") {
            Some(rest @ Value::Object(_)) => Some(self.kind(rest, level + 1, left)),
            Some(Value::Bool(false)) => None,
            _ if properties.is_empty() => Some("unknown".to_owned()),
            _ => None,
        };
        if properties.is_empty() {
            return rest.map_or_else(|| "{}".into(), |rest| format!("Record<string, {rest}>"));
        }
        let required: Vec<&Value> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .collect();
        let indent = "  ".repeat(level + 1);
        let mut text = String::from("{\n");
        for (name, schema) in properties {
            if let Some(description) = schema.get("description").and_then(Value::as_str) {
                text.push_str(&remark(description, level + 1));
            }
            let is_required = required.iter().any(|known| known.as_str() == Some(name));
            let mark = if is_required { "" } else { "?" };
            let kind = self.kind(schema, level + 1, left);
            text.push_str(&format!("{indent}{}{mark}: {kind};\n", key(name)));
        }
        if let Some(rest) = rest {
            text.push_str(&format!("{indent}[key: string]: {rest};\n"));
        }
        text.push_str(&"  ".repeat(level));
        text.push('}');
        text
    }
}

fn key(name: &str) -> String {
    let plain = |(position, letter): (usize, char)| {
        letter == '_'
            || letter == '$'
            || letter.is_ascii_alphabetic()
            || (position > 0 && letter.is_ascii_digit())
    };
    if !name.is_empty() && name.chars().enumerate().all(plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(schema: Value) -> String {
        Writer::new(&schema).kind(&schema, 0, MOST_LEVELS)
    }

    #[test]
    fn schemas_become_types() {
        for (schema, kind) in [
            (json!({"enum": ["a", 1, null]}), r#"("a" | 1 | null)"#),
            (json!({"const": "x"}), r#""x""#),
            (
                json!({"type": "array", "items": {"type": "integer"}}),
                "number[]",
            ),
            (json!({"type": ["string", "null"]}), "(string | null)"),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
                "(string | number)",
            ),
            (
                json!({"allOf": [{"$ref": "#/$defs/a"}, {"type": "object"}], "$defs": {"a": {"type": "boolean"}}}),
                "(boolean & Record<string, unknown>)",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "number"}}),
                "Record<string, number>",
            ),
            (
                json!({"type": "object", "additionalProperties": false}),
                "{}",
            ),
            (json!({"$ref": "#/nowhere"}), "unknown"),
            (json!({"$ref": "#"}), "unknown"),
            (json!(true), "unknown"),
        ] {
            assert_eq!(written(schema.clone()), kind, "{schema}");
        }
        let object = json!({
            "type": "object", "required": ["q"],
            "properties": {"q": {"type": "string", "description": "What */ to find"}, "a-b": {}},
        });
        assert_eq!(
            written(object),
            "{\n  /** What * / to find */\n  q: string;\n  \"a-b\"?: unknown;\n}"
        );
    }
}
