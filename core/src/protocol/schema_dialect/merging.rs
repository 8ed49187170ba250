//! `allOf`, and what stands beside a reference: several schemas as one.

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::keywords::{is_remark, types};

impl Compiler<'_> {
    /// One schema without references and `allOf` on its own level; `None` when it allows nothing,
    /// or when it would unfold without end.
    ///
    /// `depth` is how many references were being unfolded when the level began.
    pub(super) fn flatten(
        &mut self,
        path: &str,
        map: &Map<String, Value>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let mut own = Map::with_capacity(map.len());
        for (keyword, value) in map {
            match keyword.as_str() {
                "$ref" | "allOf" | "oneOf" | "$defs" | "definitions" => {}
                _ => {
                    own.insert(keyword.clone(), value.clone());
                }
            }
        }
        if let Some(choices @ Value::Array(_)) = map.get("oneOf") {
            self.drop(&format!("{path}.oneOf"));
            let only = json!({"anyOf": choices});
            if let Value::Object(only) = only {
                own = self.intersect(path, own, only)?;
            }
        }
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            let at = format!("{path}.$ref");
            own = match self.resolve(target) {
                None => {
                    self.drop(&at);
                    own
                }
                Some(Value::Bool(false)) => return None,
                Some(Value::Object(base)) => self.unfold(path, target, own, base, depth)?,
                Some(_) => own,
            };
        }
        let members = map.get("allOf").and_then(Value::as_array);
        for (index, member) in members.into_iter().flatten().enumerate() {
            match member {
                Value::Bool(false) => return None,
                Value::Object(member) => {
                    let at = format!("{path}.allOf[{index}]");
                    let member = self.flatten(&at, member, depth)?;
                    own = self.intersect(path, own, member)?;
                }
                _ => {}
            }
        }
        Some(own)
    }

    /// Puts what `target` means under what is said beside the reference.
    fn unfold(
        &mut self,
        path: &str,
        target: &str,
        own: Map<String, Value>,
        base: &Map<String, Value>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let on_this_level = self.unfolding.get(depth..).unwrap_or_default();
        if on_this_level.iter().any(|open| open == target) {
            // What is itself and more is the more.
            return Some(own);
        }
        if self.unfoldings(target) >= self.levels || self.is_exhausted() {
            self.narrow(&format!("{path}.$ref"));
            return None;
        }
        self.unfolding.push(target.to_owned());
        let base = self.flatten(path, base, depth)?;
        self.intersect(path, own, base)
    }

    /// What satisfies both schemas; remarks of the first win.
    pub(super) fn intersect(
        &mut self,
        path: &str,
        mut first: Map<String, Value>,
        second: Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        if first.is_empty() {
            return Some(second);
        }
        if let (Some(ours), Some(theirs)) = (types(&first), types(&second)) {
            let common: Vec<&str> = ours
                .iter()
                .filter_map(|kind| match *kind {
                    kind if theirs.contains(&kind) => Some(kind),
                    "integer" if theirs.contains(&"number") => Some("integer"),
                    "number" if theirs.contains(&"integer") => Some("integer"),
                    _ => None,
                })
                .collect();
            match common.as_slice() {
                [] => return None,
                [only] => first.insert("type".into(), json!(only)),
                several => first.insert("type".into(), json!(several)),
            };
        }
        let (ours, theirs) = (first.clone(), &second);
        for (keyword, value) in &second {
            let Some(known) = first.get(keyword) else {
                if !is_structure(keyword) {
                    first.insert(keyword.clone(), value.clone());
                }
                continue;
            };
            if known == value || is_remark(keyword) || is_structure(keyword) {
                continue;
            }
            let merged = match keyword.as_str() {
                "type" => continue,
                "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                    Some(bound(known, value, true))
                }
                "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                    Some(bound(known, value, false))
                }
                "uniqueItems" => Some(json!(true)),
                "enum" => match (known, value) {
                    (Value::Array(known), Value::Array(value)) => {
                        let common: Vec<&Value> =
                            known.iter().filter(|entry| value.contains(entry)).collect();
                        Some(json!(common))
                    }
                    _ => None,
                },
                "const" => return None,
                "anyOf" => match (known, value) {
                    (Value::Array(known), choices) => {
                        let both = known
                            .iter()
                            .map(|choice| json!({"allOf": [choice, {"anyOf": choices}]}));
                        Some(Value::Array(both.collect()))
                    }
                    _ => None,
                },
                _ => None,
            };
            match merged {
                Some(merged) => {
                    first.insert(keyword.clone(), merged);
                }
                None => self.drop(&format!("{path}.{keyword}")),
            }
        }
        objects(&ours, theirs, &mut first);
        arrays(&ours, theirs, &mut first);
        Some(first)
    }
}

fn is_structure(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
    )
}

/// The greater or the smaller of two bounds.
fn bound(first: &Value, second: &Value, greater: bool) -> Value {
    let second_is_greater = second.as_f64() > first.as_f64();
    if second_is_greater == greater {
        second.clone()
    } else {
        first.clone()
    }
}

/// Merges what both say of objects. Each key must satisfy what either says of it.
fn objects(first: &Map<String, Value>, second: &Map<String, Value>, out: &mut Map<String, Value>) {
    let properties = |map: &Map<String, Value>| {
        map.get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    let (ours, theirs) = (properties(first), properties(second));
    let mut merged = Map::new();
    let names = ours
        .keys()
        .chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
    for name in names {
        let (first, second) = (rule(first, &ours, name), rule(second, &theirs, name));
        let schema = both_of((first.as_ref(), second.as_ref())).unwrap_or(json!({}));
        merged.insert(name.clone(), schema);
    }
    if first.contains_key("properties") || second.contains_key("properties") {
        out.insert("properties".into(), Value::Object(merged));
    }
    let mut required: Vec<Value> = Vec::new();
    for map in [first, second] {
        for name in map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
    }
    if !required.is_empty() {
        out.insert("required".into(), Value::Array(required));
    }
    let additional = match (
        first.get("additionalProperties"),
        second.get("additionalProperties"),
    ) {
        (Some(Value::Bool(false)), _) | (_, Some(Value::Bool(false))) => Some(json!(false)),
        (Some(Value::Bool(true)) | None, other) | (other, Some(Value::Bool(true)) | None) => {
            other.cloned()
        }
        (Some(first), Some(second)) => Some(json!({"allOf": [first, second]})),
    };
    if let Some(additional) = additional {
        out.insert("additionalProperties".into(), additional);
    }
    let patterns: Map<String, Value> = [first, second]
        .into_iter()
        .filter_map(|map| map.get("patternProperties").and_then(Value::as_object))
        .flatten()
        .map(|(pattern, schema)| (pattern.clone(), schema.clone()))
        .collect();
    if !patterns.is_empty() {
        out.insert("patternProperties".into(), Value::Object(patterns));
    }
}

/// Merges what both say of the elements of an array. Each must satisfy what either says of it.
fn arrays(first: &Map<String, Value>, second: &Map<String, Value>, out: &mut Map<String, Value>) {
    let (ours, our_rest) = elements(first);
    let (theirs, their_rest) = elements(second);
    let places: Vec<Value> = (0..ours.len().max(theirs.len()))
        .map(|index| {
            let both = (
                ours.get(index).or(our_rest),
                theirs.get(index).or(their_rest),
            );
            both_of(both).unwrap_or(json!({}))
        })
        .collect();
    if !places.is_empty() {
        out.insert("prefixItems".into(), Value::Array(places));
    }
    out.shift_remove("additionalItems");
    match both_of((our_rest, their_rest)) {
        Some(rest) => out.insert("items".into(), rest),
        None => out.shift_remove("items"),
    };
}

/// The schemas of the first elements, and of the others.
pub(super) fn elements(map: &Map<String, Value>) -> (&[Value], Option<&Value>) {
    // Older schemas list the places in `items` and the rest in `additionalItems`.
    match (map.get("prefixItems"), map.get("items")) {
        (None, Some(Value::Array(places))) => (places, map.get("additionalItems")),
        (Some(Value::Array(places)), rest) => (places, rest),
        (_, rest) => (&[], rest),
    }
}

fn both_of(schemas: (Option<&Value>, Option<&Value>)) -> Option<Value> {
    match schemas {
        (Some(Value::Bool(false)), _) | (_, Some(Value::Bool(false))) => Some(json!(false)),
        (Some(first), Some(second)) if first == second => Some(first.clone()),
        (Some(first), Some(second)) => Some(json!({"allOf": [first, second]})),
        (Some(only), None) | (None, Some(only)) => Some(only.clone()),
        (None, None) => None,
    }
}

/// What an object says of the key `name`; `None` when it says nothing.
fn rule(map: &Map<String, Value>, properties: &Map<String, Value>, name: &str) -> Option<Value> {
    if let Some(schema) = properties.get(name) {
        return Some(schema.clone());
    }
    if map.contains_key("patternProperties") {
        // The key may match a pattern, which is looser than nothing.
        return None;
    }
    map.get("additionalProperties")
        .filter(|additional| *additional != &Value::Bool(true))
        .cloned()
}
