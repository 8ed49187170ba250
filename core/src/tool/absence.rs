//! Nulls that stand for values that are not there.
//!
//! Some services that enforce a schema want every property required. Optional ones are offered to
//! them as ones that may be null, and what comes back is read as it was meant.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// How deep references and choices are followed in one place.
const MOST_STEPS: usize = 16;

/// `input` without the nulls that `schema` neither asks for nor allows.
pub(super) fn without_nulls<'a>(
    schema: &Value,
    input: &'a Map<String, Value>,
) -> Cow<'a, Map<String, Value>> {
    if !input.values().any(has_null) {
        return Cow::Borrowed(input);
    }
    let mut pruned = input.clone();
    object(schema, &[schema], &mut pruned);
    Cow::Owned(pruned)
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

fn prune(root: &Value, schemas: &[&Value], value: &mut Value) {
    match value {
        Value::Object(map) => object(root, schemas, map),
        Value::Array(list) => {
            let mut found = Vec::new();
            for schema in schemas {
                expand(root, schema, MOST_STEPS, &mut found);
            }
            for (index, value) in list.iter_mut().enumerate() {
                let element: Vec<&Value> = found
                    .iter()
                    .filter_map(|schema| {
                        let place = schema.get("prefixItems").and_then(|list| list.get(index));
                        place.or_else(|| schema.get("items"))
                    })
                    .collect();
                prune(root, &element, value);
            }
        }
        _ => {}
    }
}

fn object(root: &Value, schemas: &[&Value], map: &mut Map<String, Value>) {
    let mut found = Vec::new();
    for schema in schemas {
        expand(root, schema, MOST_STEPS, &mut found);
    }
    // What does not fit is another choice, unless there is none.
    let fitting: Vec<_> = found
        .iter()
        .copied()
        .filter(|schema| fits(root, schema, map))
        .collect();
    let found = if fitting
        .iter()
        .any(|schema| schema.contains_key("properties"))
    {
        fitting
    } else {
        found
    };
    let says = |schema: &&'_ Map<String, Value>, name: &str| {
        schema.get("properties")?.get(name).map(|_| ())
    };
    map.retain(|name, value| {
        let mut about = found
            .iter()
            .filter(|schema| says(schema, name).is_some())
            .peekable();
        let unwanted = about.peek().is_some()
            && about.all(|schema| {
                let property = schema.get("properties").and_then(|map| map.get(name));
                !requires(schema, name)
                    && property.is_some_and(|schema| !allows_null(root, schema, MOST_STEPS))
            });
        !(value.is_null() && unwanted)
    });
    for (name, value) in map.iter_mut() {
        let about: Vec<&Value> = found
            .iter()
            .filter_map(|schema| schema.get("properties")?.get(name))
            .collect();
        prune(root, &about, value);
    }
}

/// The schemas that speak of a value: the schema itself, what it refers to, and its choices.
fn expand<'a>(
    root: &'a Value,
    schema: &'a Value,
    steps: usize,
    found: &mut Vec<&'a Map<String, Value>>,
) {
    let (Value::Object(map), Some(steps)) = (schema, steps.checked_sub(1)) else {
        return;
    };
    found.push(map);
    if let Some(target) = target(root, map) {
        expand(root, target, steps, found);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let list = map.get(keyword).and_then(Value::as_array);
        for schema in list.into_iter().flatten() {
            expand(root, schema, steps, found);
        }
    }
}

fn target<'a>(root: &'a Value, map: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(map.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Whether a schema can be about this object, as far as types and fixed values tell; it is another
/// choice otherwise.
fn fits(root: &Value, schema: &Map<String, Value>, map: &Map<String, Value>) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().all(|(name, property)| {
        let Some(value) = map.get(name) else {
            return true;
        };
        if value.is_null() {
            return !requires(schema, name) || allows_null(root, property, MOST_STEPS);
        }
        let mut found = Vec::new();
        if property.get("anyOf").is_none() && property.get("oneOf").is_none() {
            expand(root, property, MOST_STEPS, &mut found);
        }
        found.iter().all(|schema| {
            let listed = schema.get("enum").and_then(Value::as_array);
            schema.get("const").is_none_or(|constant| constant == value)
                && listed.is_none_or(|values| values.contains(value))
                && schema.get("type").is_none_or(|kind| is_of(kind, value))
        })
    })
}

/// Whether a value is of a type, or of one in a list of types.
fn is_of(kind: &Value, value: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
        kind => match kind.as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("integer" | "number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            Some("null") => value.is_null(),
            _ => true,
        },
    }
}

fn requires(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required
        .into_iter()
        .flatten()
        .any(|required| required == name)
}

fn allows_null(root: &Value, schema: &Value, steps: usize) -> bool {
    let (Value::Object(map), Some(steps)) = (schema, steps.checked_sub(1)) else {
        return schema != &Value::Bool(false);
    };
    let list = |keyword: &str| map.get(keyword).and_then(Value::as_array);
    let any = |keyword: &str| {
        list(keyword).is_none_or(|list| list.iter().any(|schema| allows_null(root, schema, steps)))
    };
    let kind = match map.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        Some(kind) => kind == "null",
        None => true,
    };
    kind && map.get("const").is_none_or(Value::is_null)
        && list("enum").is_none_or(|values| values.contains(&Value::Null))
        && any("anyOf")
        && any("oneOf")
        && list("allOf").is_none_or(|all| all.iter().all(|schema| allows_null(root, schema, steps)))
        && target(root, map).is_none_or(|schema| allows_null(root, schema, steps))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_nulls_that_stand_for_nothing_are_taken_out() {
        let schema = json!({
            "type": "object",
            "properties": {
                "needed": {"type": "string"},
                "maybe": {"type": "string"},
                "either": {"type": ["string", "null"]},
                "free": {},
                "list": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
                "pick": {"anyOf": [
                    {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}},
                    {"type": "object", "properties": {"kind": {"const": "b"}, "x": {"type": "null"}}},
                ]},
            },
            "required": ["needed"],
            "$defs": {"Part": {"type": "object", "properties": {"name": {"enum": ["a"]}}}},
        });
        let input = json!({
            "needed": null, "maybe": null, "either": null, "free": null, "unknown": null,
            "list": [{"name": null}, {"name": "a"}, null],
            "pick": {"kind": "a", "x": null},
        });
        let Value::Object(input) = input else {
            unreachable!()
        };
        assert_eq!(
            Value::Object(without_nulls(&schema, &input).into_owned()),
            json!({
                "needed": null, "either": null, "free": null, "unknown": null,
                "list": [{}, {"name": "a"}, null],
                "pick": {"kind": "a"},
            })
        );
        let Value::Object(other) = json!({"pick": {"kind": "b", "x": null}}) else {
            unreachable!()
        };
        assert_eq!(*without_nulls(&schema, &other), other);
    }
}
