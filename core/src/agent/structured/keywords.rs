//! Which JSON Schemas may describe a structured result.

use serde_json::{Map, Value};

/// What a keyword's value must be.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Any,
    Number,
    Positive,
    Count,
    Flag,
    Kinds,
    Values,
    Names,
    Schema,
    Schemas,
    Named,
    Closed,
    Reference,
}

/// Every keyword that is understood. Others are refused: they would be a silent promise.
const KEYWORDS: &[(&str, Shape)] = &[
    ("$schema", Shape::Text),
    ("$id", Shape::Text),
    ("$comment", Shape::Text),
    ("$defs", Shape::Named),
    ("definitions", Shape::Named),
    ("$ref", Shape::Reference),
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("default", Shape::Any),
    ("examples", Shape::Any),
    ("discriminator", Shape::Any),
    ("type", Shape::Kinds),
    ("enum", Shape::Values),
    ("const", Shape::Any),
    ("anyOf", Shape::Schemas),
    ("oneOf", Shape::Schemas),
    ("allOf", Shape::Schemas),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("exclusiveMaximum", Shape::Number),
    ("multipleOf", Shape::Positive),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    ("pattern", Shape::Text),
    ("format", Shape::Text),
    ("properties", Shape::Named),
    ("required", Shape::Names),
    ("additionalProperties", Shape::Closed),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("uniqueItems", Shape::Flag),
    ("items", Shape::Schema),
    ("prefixItems", Shape::Schemas),
];

const KINDS: [&str; 7] = [
    "object", "array", "string", "integer", "number", "boolean", "null",
];

/// Checks the schema of a result; the problem starts with the path of the offending part.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let Value::Object(map) = schema else {
        return Err("$: must be a JSON Schema object".into());
    };
    if map.get("type").and_then(Value::as_str) != Some("object") {
        return Err("$.type: must be \"object\", because a result is an object".into());
    }
    node("$", map)
}

fn node(path: &str, map: &Map<String, Value>) -> Result<(), String> {
    for (keyword, value) in map {
        let at = format!("{path}.{keyword}");
        let Some((_, shape)) = KEYWORDS.iter().find(|(name, _)| name == keyword) else {
            return Err(format!("{at}: this keyword is not supported"));
        };
        match (shape, value) {
            (Shape::Any, _) | (Shape::Flag, Value::Bool(_)) | (Shape::Text, Value::String(_)) => {}
            (Shape::Number, Value::Number(_)) => {}
            (Shape::Positive, Value::Number(number)) if number.as_f64() > Some(0.0) => {}
            (Shape::Count, Value::Number(number)) if number.is_u64() => {}
            (Shape::Kinds, kinds) if are_kinds(kinds) => {}
            (Shape::Values, Value::Array(values)) if !values.is_empty() => {}
            (Shape::Names, Value::Array(names)) if names.iter().all(Value::is_string) => {}
            (Shape::Reference, Value::String(target)) if target.starts_with('#') => {}
            (Shape::Closed, Value::Bool(false)) => {}
            (Shape::Schema, schema) => subschema(&at, schema)?,
            (Shape::Schemas, Value::Array(schemas)) if !schemas.is_empty() => {
                for (index, schema) in schemas.iter().enumerate() {
                    subschema(&format!("{at}[{index}]"), schema)?;
                }
            }
            (Shape::Named, Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    subschema(&format!("{at}.{name}"), schema)?;
                }
            }
            (shape, _) => return Err(format!("{at}: must be {}", shape.expected())),
        }
    }
    object(path, map)
}

fn subschema(at: &str, schema: &Value) -> Result<(), String> {
    match schema {
        Value::Object(map) => node(at, map),
        _ => Err(format!("{at}: must be a JSON Schema object")),
    }
}

/// An object must say exactly which keys it has.
fn object(path: &str, map: &Map<String, Value>) -> Result<(), String> {
    if !describes_object(map) {
        return Ok(());
    }
    if map.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(format!(
            "{path}: an object must set additionalProperties to false"
        ));
    }
    let none = Map::new();
    let properties = match map.get("properties") {
        Some(Value::Object(properties)) => properties,
        _ => &none,
    };
    let required: Vec<&str> = match map.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if let Some(name) = properties
        .keys()
        .find(|name| !required.contains(&name.as_str()))
    {
        return Err(format!(
            "{path}.required: must list every property, but {name:?} is missing"
        ));
    }
    if let Some(name) = required
        .iter()
        .find(|name| !properties.contains_key(**name))
    {
        return Err(format!("{path}.required: there is no property {name:?}"));
    }
    Ok(())
}

/// Whether values of this schema can be objects of its own description.
pub(super) fn describes_object(map: &Map<String, Value>) -> bool {
    let names_object = match map.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    };
    names_object || map.contains_key("properties")
}

fn are_kinds(value: &Value) -> bool {
    let is_kind = |kind: &Value| kind.as_str().is_some_and(|kind| KINDS.contains(&kind));
    match value {
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_kind),
        kind => is_kind(kind),
    }
}

impl Shape {
    const fn expected(self) -> &'static str {
        match self {
            Shape::Any => "any value",
            Shape::Text => "a string",
            Shape::Number => "a finite number",
            Shape::Positive => "a number above 0",
            Shape::Count => "a whole number of at least 0",
            Shape::Flag => "true or false",
            Shape::Kinds => {
                "object, array, string, integer, number, boolean or null, or a list of these"
            }
            Shape::Values => "a list of at least one value",
            Shape::Names => "a list of property names",
            Shape::Schema => "a JSON Schema object",
            Shape::Schemas => "a list of at least one JSON Schema",
            Shape::Named => "an object with a JSON Schema for each name",
            Shape::Closed => "false",
            Shape::Reference => "a reference within this schema, such as \"#/$defs/Address\"",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(properties: &Value) -> Value {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "properties": properties, "required": names,
            "additionalProperties": false})
    }

    #[test]
    fn schemas_that_are_understood() {
        for schema in [
            object(&json!({"a": {"type": "string", "maxLength": 500, "enum": ["x"]}})),
            object(&json!({})),
            json!({"type": "object", "additionalProperties": false}),
            object(
                &json!({"list": {"type": "array", "items": object(&json!({"n": {"type": ["integer", "null"]}}))}}),
            ),
            json!({"type": "object", "additionalProperties": false, "required": ["next"],
                "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn problems_name_the_path() {
        let nested = |schema: Value| object(&json!({"a": {"type": "array", "items": schema}}));
        for (schema, problem) in [
            (json!([]), "$: must be a JSON Schema object"),
            (json!({"type": "array"}), "$.type: must be \"object\""),
            (
                json!({"type": "object"}),
                "$: an object must set additionalProperties to false",
            ),
            (
                nested(json!({"type": "object", "additionalProperties": true})),
                "$.properties.a.items.additionalProperties: must be false",
            ),
            (
                nested(json!({"properties": {}})),
                "$.properties.a.items: an object must set",
            ),
            (
                nested(json!({"patternProperties": {}})),
                "$.properties.a.items.patternProperties: this keyword is not supported",
            ),
            (
                nested(json!({"type": "text"})),
                "$.properties.a.items.type: must be object, array",
            ),
            (
                nested(json!({"minLength": -1})),
                "$.properties.a.items.minLength: must be a whole",
            ),
            (
                nested(json!({"minLength": 1.5})),
                "$.properties.a.items.minLength: must be a whole",
            ),
            (
                nested(json!({"minimum": "1"})),
                "$.properties.a.items.minimum: must be a finite",
            ),
            (
                nested(json!({"enum": []})),
                "$.properties.a.items.enum: must be a list",
            ),
            (
                nested(json!({"$ref": "https://example.com/a"})),
                "$.properties.a.items.$ref: must be",
            ),
            (
                nested(json!(true)),
                "$.properties.a.items: must be a JSON Schema object",
            ),
            (
                json!({"type": "object", "additionalProperties": false, "properties": {"a": {}}}),
                "$.required: must list every property, but \"a\" is missing",
            ),
            (
                json!({"type": "object", "additionalProperties": false, "required": ["a"]}),
                "$.required: there is no property \"a\"",
            ),
        ] {
            let found = check(&schema).unwrap_err();
            assert!(found.starts_with(problem), "{found} for {schema}");
        }
    }
}
