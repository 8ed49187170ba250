//! What keywords are about, and what a description can say in their place.

use serde_json::{Map, Value, json};

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "object", "array", "string", "integer", "number", "boolean", "null",
];

/// Keywords that describe and do not constrain.
const REMARKS: [&str; 14] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "discriminator",
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$dynamicAnchor",
];

/// Rules that a model can follow when it reads them in the description.
const TOLD: [&str; 14] = [
    "default",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
];

/// The types that a schema names, without repetition; `None` when it names none.
pub(super) fn types(map: &Map<String, Value>) -> Option<Vec<&'static str>> {
    let known = |name: &Value| TYPES.into_iter().find(|known| name == known);
    let mut types: Vec<&str> = match map.get("type")? {
        Value::Array(names) => names.iter().filter_map(known).collect(),
        name => known(name).into_iter().collect(),
    };
    if types.contains(&"number") {
        types.retain(|kind| *kind != "integer");
    }
    Some(types)
}

/// The type that the keywords of an untyped schema are about.
pub(super) fn implied(map: &Map<String, Value>) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().any(|name| map.contains_key(*name));
    let object = [
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
    ];
    if has(&object) {
        Some("object")
    } else if has(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        Some("array")
    } else if has(&["minLength", "maxLength", "pattern", "format"]) {
        Some("string")
    } else if has(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        Some("number")
    } else {
        None
    }
}

pub(super) fn is_remark(keyword: &str) -> bool {
    REMARKS.contains(&keyword)
}

/// Keywords that objects and arrays are compiled from.
pub(super) fn is_structure(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
    )
}

/// Whether `keyword` says anything about values of these types.
pub(super) fn concerns(keyword: &str, types: &[&str]) -> bool {
    let has = |kind: &str| types.contains(&kind);
    match keyword {
        "minLength" | "maxLength" | "pattern" => has("string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            has("number") || has("integer")
        }
        "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains" | "maxContains"
        | "unevaluatedItems" => has("array"),
        "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "unevaluatedProperties" => has("object"),
        _ => true,
    }
}

/// Whether a keyword with this value allows everything anyway.
pub(super) fn is_idle(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "minItems" | "minProperties" => value.as_u64() == Some(0),
        "uniqueItems" => value == &Value::Bool(false),
        "unevaluatedProperties"
        | "unevaluatedItems"
        | "propertyNames"
        | "additionalProperties"
        | "items" => value == &Value::Bool(true),
        // Without effect in a schema of this kind.
        "nullable" => true,
        _ => false,
    }
}

pub(super) fn type_of(types: &[&str]) -> Value {
    match types {
        [only] => json!(only),
        several => json!(several),
    }
}

/// Grammars cannot look ahead or behind.
pub(super) fn looks_around(pattern: &Value) -> bool {
    pattern.as_str().is_none_or(|pattern| {
        ["(?=", "(?!", "(?<"]
            .iter()
            .any(|part| pattern.contains(part))
    })
}

/// Notes a rule for the description, if a model can make something of it.
pub(super) fn note(keyword: &str, value: &Value, told: &mut Vec<String>) {
    if TOLD.contains(&keyword) {
        told.push(format!("{keyword}: {value}"));
    }
}

/// Adds rules to the description.
pub(super) fn tell(out: &mut Map<String, Value>, told: &[String]) {
    if told.is_empty() {
        return;
    }
    let rules = format!("{{{}}}", told.join(", "));
    let text = match out.get("description").and_then(Value::as_str) {
        Some(description) if !description.is_empty() => format!("{description}\n\n{rules}"),
        _ => rules,
    };
    out.insert("description".into(), text.into());
}
