//! Schemas that were derived from a type, made into contracts.

use serde_json::{Map, Value, json};

use super::keywords::describes_object;

/// Closes every object that names its properties, and requires all of them: a derived schema leaves
/// out what its language would fill in, and a model must not.
///
/// An object with free keys stays as it is, so that the check can name it.
pub(super) fn close(mut schema: Value) -> Value {
    hoist_reference(&mut schema);
    walk(&mut schema);
    schema
}

/// A recursive type may be written as a reference to its own definition; a contract starts with
/// the object itself.
fn hoist_reference(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    let target = match map.get("$ref") {
        Some(Value::String(target)) if !map.contains_key("type") => target.clone(),
        _ => return,
    };
    let found = target
        .strip_prefix('#')
        .and_then(|pointer| schema.pointer(pointer))
        .cloned();
    if let (Some(Value::Object(found)), Some(map)) = (found, schema.as_object_mut()) {
        map.shift_remove("$ref");
        for (key, value) in found {
            map.entry(key).or_insert(value);
        }
    }
}

fn walk(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in map.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values_mut().for_each(walk);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(walk);
            }
            ("items", schema) => walk(schema),
            _ => {}
        }
    }
    if !describes_object(map) || has_free_keys(map) {
        return;
    }
    let names: Vec<Value> = match map.get("properties") {
        Some(Value::Object(properties)) => properties.keys().map(|name| json!(name)).collect(),
        _ => Vec::new(),
    };
    map.insert("required".into(), Value::Array(names));
    map.insert("additionalProperties".into(), json!(false));
}

fn has_free_keys(map: &Map<String, Value>) -> bool {
    match map.get("additionalProperties") {
        None | Some(Value::Bool(false)) => false,
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::keywords::check;
    use super::*;

    #[test]
    fn derived_objects_become_contracts() {
        let schema = json!({
            "$ref": "#/$defs/Node",
            "$defs": {"Node": {"type": "object", "properties": {
                "name": {"type": "string", "default": "x"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            }, "required": ["name"]}},
        });
        let closed = close(schema);
        assert_eq!(check(&closed), Ok(()));
        assert_eq!(closed["required"], json!(["name", "next"]));
        assert_eq!(
            closed["$defs"]["Node"]["additionalProperties"],
            json!(false)
        );
    }

    #[test]
    fn free_keys_are_left_for_the_check() {
        let schema = json!({"type": "object", "properties": {
            "map": {"type": "object", "additionalProperties": {"type": "string"}}}});
        let problem = check(&close(schema)).unwrap_err();
        assert!(
            problem.starts_with("$.properties.map.additionalProperties"),
            "{problem}"
        );
    }
}
