//! `enum` and `const`.

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::keywords::{is_remark, note, tell, type_of, types};
use super::rules::Literals;

impl Compiler<'_> {
    /// Compiles a schema that lists its values.
    pub(super) fn literals(&mut self, path: &str, flat: &Map<String, Value>) -> Option<Value> {
        let values = listed(flat);
        let mut out = Map::new();
        let mut told = self.remarks(path, flat, &mut out);
        for (keyword, value) in flat {
            if !matches!(keyword.as_str(), "type" | "enum" | "const") && !is_remark(keyword) {
                self.drop(&format!("{path}.{keyword}"));
                note(keyword, value, &mut told);
            }
        }
        let (simple, compound): (Vec<Value>, Vec<Value>) =
            values.into_iter().partition(|value| self.is_literal(value));
        let mut choices: Vec<Map<String, Value>> = Vec::new();
        if !simple.is_empty() {
            let was_const = flat.contains_key("const");
            choices.push(self.values(simple, was_const));
        }
        for value in compound {
            let choice = self.spelled(path, &value);
            if !choices.contains(&choice) {
                choices.push(choice);
            }
        }
        let only = (choices.len() == 1).then(|| choices.pop()).flatten();
        match only {
            Some(only) => out.extend(only),
            None if choices.is_empty() => return None,
            None => {
                out.insert("anyOf".into(), json!(choices));
            }
        }
        tell(&mut out, &told);
        Some(Value::Object(out))
    }

    fn is_literal(&self, value: &Value) -> bool {
        match value {
            Value::String(_) | Value::Number(_) => true,
            Value::Bool(_) | Value::Null => self.rules.literals != Literals::Listed,
            Value::Array(_) | Value::Object(_) => false,
        }
    }

    fn values(&self, values: Vec<Value>, was_const: bool) -> Map<String, Value> {
        let mut out = Map::new();
        if self.rules.literals != Literals::Untyped {
            let mut kinds: Vec<&str> = Vec::new();
            for kind in values.iter().map(kind) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            if kinds.contains(&"number") {
                kinds.retain(|kind| *kind != "integer");
            }
            out.insert("type".into(), type_of(&kinds));
        }
        match (values.as_slice(), self.rules.literals) {
            ([only], Literals::Typed | Literals::Untyped) if was_const => {
                out.insert("const".into(), only.clone());
            }
            _ => {
                out.insert("enum".into(), Value::Array(values));
            }
        }
        out
    }

    /// A value that the service takes in no list, as the schema that comes nearest.
    fn spelled(&mut self, path: &str, value: &Value) -> Map<String, Value> {
        let spelled = match value {
            Value::Null => json!({"type": "null"}),
            Value::Bool(_) => {
                self.drop(&format!("{path}.enum"));
                json!({"type": "boolean"})
            }
            Value::Array(values) => {
                self.drop(&format!("{path}.enum"));
                let mut places: Vec<Value> = Vec::new();
                for value in values {
                    places.extend(self.literals(path, &constant(value)));
                }
                places.dedup();
                match places.len() {
                    0 => json!({"type": "array", "items": {"type": "null"}}),
                    _ => json!({"type": "array", "items": {"anyOf": places}}),
                }
            }
            Value::Object(entries) => {
                let mut properties = Map::new();
                for (name, value) in entries {
                    if let Some(schema) = self.literals(path, &constant(value)) {
                        properties.insert(name.clone(), schema);
                    }
                }
                let required: Vec<&String> = entries.keys().collect();
                json!({"type": "object", "properties": properties, "required": required,
                    "additionalProperties": false})
            }
            Value::String(_) | Value::Number(_) => json!({"enum": [value]}),
        };
        match spelled {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

fn constant(value: &Value) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("const".into(), value.clone());
    map
}

/// The values that a schema lists, of the types that it names.
fn listed(flat: &Map<String, Value>) -> Vec<Value> {
    let mut values = match (flat.get("const"), flat.get("enum")) {
        (Some(constant), Some(Value::Array(values))) if !values.contains(constant) => Vec::new(),
        (Some(constant), _) => vec![constant.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        (None, _) => Vec::new(),
    };
    if let Some(types) = types(flat) {
        values.retain(|value| {
            types.contains(&kind(value)) || (value.is_number() && types.contains(&"number"))
        });
    }
    values
}

/// The narrowest type of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() == 0.0) => {
            "integer"
        }
        Value::Number(_) => "number",
    }
}
