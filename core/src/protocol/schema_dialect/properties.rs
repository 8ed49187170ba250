//! What must hold for every schema, tried on generated ones.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::*;
use crate::tool::ToolDefinition;

const LOSSY: [Dialect; 4] = [
    Dialect::OpenAiStrict,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Bedrock,
];
const SCHEMAS: u64 = 400;
const INSTANCES: usize = 30;
const NAMES: [&str; 4] = ["a", "b", "c", "x-d"];

/// A schema of an object, with definitions that may refer to each other.
fn schema(rng: &mut Rng) -> Value {
    let mut root = object(rng, 3);
    let definitions = json!({"P": object(rng, 2), "Q": object(rng, 2),
        "R": {"type": "array", "items": any(rng, 1)}});
    let map = root.as_object_mut().unwrap();
    map.insert("$defs".into(), definitions);
    if rng.u8(..4) == 0 {
        map.insert(
            "$schema".into(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
    }
    root
}

fn object(rng: &mut Rng, depth: u8) -> Value {
    let mut properties = Map::new();
    for name in NAMES {
        if rng.bool() {
            properties.insert(name.into(), any(rng, depth.saturating_sub(1)));
        }
    }
    let mut map = Map::from_iter([("type".to_owned(), json!("object"))]);
    let required: Vec<&String> = properties.keys().filter(|_| rng.u8(..3) > 0).collect();
    map.insert("required".into(), json!(required));
    map.insert("properties".into(), Value::Object(properties));
    match rng.u8(..6) {
        0 => {}
        1 => {
            map.insert("additionalProperties".into(), any(rng, 0));
        }
        2 => {
            map.insert("patternProperties".into(), json!({"^x-": any(rng, 0)}));
            map.insert("additionalProperties".into(), json!(false));
        }
        _ => {
            map.insert("additionalProperties".into(), json!(false));
        }
    }
    if rng.u8(..8) == 0 {
        map.insert("minProperties".into(), json!(1));
    }
    Value::Object(map)
}

fn any(rng: &mut Rng, depth: u8) -> Value {
    if depth == 0 {
        return leaf(rng);
    }
    let next = depth - 1;
    match rng.u8(..12) {
        0..=2 => leaf(rng),
        3 | 4 => object(rng, depth),
        5 => json!({"type": "array", "items": any(rng, next), "minItems": rng.u8(..3)}),
        6 => json!({"type": "array", "prefixItems": [any(rng, next), any(rng, next)],
            "items": rng.bool().then(|| any(rng, next)).unwrap_or(json!(false))}),
        7 => json!({"anyOf": [any(rng, next), {"type": "null"}]}),
        8 => json!({"oneOf": [any(rng, next), any(rng, next)]}),
        9 => json!({"allOf": [any(rng, next), any(rng, next)], "description": "Both."}),
        10 => json!({"type": "object", "anyOf": [object(rng, next), object(rng, next)]}),
        _ => {
            let name = ["P", "Q", "R"][rng.usize(..3)];
            let mut map = json!({"$ref": format!("#/$defs/{name}")});
            if rng.u8(..3) == 0 {
                map["description"] = json!("That.");
            }
            map
        }
    }
}

fn leaf(rng: &mut Rng) -> Value {
    match rng.u8(..14) {
        0 => json!({"type": "string", "minLength": 1, "maxLength": 2}),
        1 => json!({"type": "string", "format": "date"}),
        2 => json!({"type": "string", "pattern": "^a"}),
        3 => json!({"type": "integer", "minimum": 0, "maximum": 2}),
        4 => json!({"type": "number", "multipleOf": 0.5}),
        5 => json!({"enum": ["a", 1, true, null]}),
        6 => json!({"type": ["string", "null"], "enum": ["a", null, 3]}),
        7 => json!({"const": rng.choice([json!("a"), json!(1), json!([1]), json!({"a": 1})])}),
        8 => json!({"type": ["integer", "null"]}),
        9 => json!({"type": "boolean", "default": true}),
        10 => json!({}),
        11 => json!({"type": "integer", "enum": [1, 2]}),
        12 => json!(true),
        _ => json!({"type": "null"}),
    }
}

/// A value that has some chance to be valid.
fn instance(rng: &mut Rng, root: &Value, schema: &Value, depth: u8) -> Value {
    let any = [
        json!("a"),
        json!("ab"),
        json!(1),
        json!(0.5),
        json!(null),
        json!(true),
        json!([1]),
        json!({"a": 1}),
        json!([]),
        json!({}),
        json!("2026-01-31"),
    ];
    let Value::Object(map) = schema else {
        return any[rng.usize(..any.len())].clone();
    };
    if depth == 0 || rng.u8(..20) == 0 {
        return any[rng.usize(..any.len())].clone();
    }
    let next = depth - 1;
    if let Some(target) = map.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(&target[1..]).unwrap_or(&Value::Null).clone();
        return instance(rng, root, &target, next);
    }
    for keyword in ["anyOf", "oneOf", "allOf", "enum"] {
        if let Some(Value::Array(list)) = map.get(keyword) {
            let chosen = list[rng.usize(..list.len())].clone();
            return match keyword {
                "enum" => chosen,
                _ => instance(rng, root, &chosen, next),
            };
        }
    }
    if let Some(value) = map.get("const") {
        return value.clone();
    }
    let kind = match map.get("type") {
        Some(Value::Array(kinds)) => kinds[rng.usize(..kinds.len())].clone(),
        Some(kind) => kind.clone(),
        None => Value::Null,
    };
    match kind.as_str() {
        Some("object") => {
            let mut value = Map::new();
            let required = map
                .get("required")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            for (name, schema) in map
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                if required.contains(&json!(name)) || rng.bool() {
                    value.insert(name.clone(), instance(rng, root, schema, next));
                }
            }
            if rng.u8(..5) == 0 {
                value.insert(
                    NAMES[rng.usize(..4)].into(),
                    any[rng.usize(..any.len())].clone(),
                );
            }
            Value::Object(value)
        }
        Some("array") => {
            let places = map
                .get("prefixItems")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            let items = map.get("items").cloned().unwrap_or(json!(true));
            let mut list: Vec<Value> = places
                .iter()
                .map(|place| instance(rng, root, place, next))
                .collect();
            if items != json!(false) {
                list.extend((0..rng.u8(..3)).map(|_| instance(rng, root, &items, next)));
            }
            Value::Array(list)
        }
        Some("string") => any[[0, 1, 10][rng.usize(..3)]].clone(),
        Some("integer" | "number") => any[[2, 3][rng.usize(..2)]].clone(),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => any[rng.usize(..any.len())].clone(),
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|problem| panic!("{problem}: {schema}"))
}

/// The keywords of a compiled schema and its parts.
fn keywords(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            for (keyword, value) in map {
                found.push(keyword.clone());
                match (keyword.as_str(), value) {
                    ("properties" | "$defs", Value::Object(named)) => {
                        named.values().for_each(|schema| keywords(schema, found));
                    }
                    ("enum" | "const" | "required", _) => {}
                    _ => keywords(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|schema| keywords(schema, found)),
        _ => {}
    }
}

fn known(dialect: Dialect) -> Vec<&'static str> {
    let mut known = vec![
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "$ref",
        "$defs",
        "format",
        "minItems",
    ];
    known.extend(match dialect {
        Dialect::OpenAiStrict => vec![
            "const",
            "pattern",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "maxItems",
        ],
        Dialect::Gemini => vec!["prefixItems", "maxItems", "minimum", "maximum"],
        _ => vec!["const"],
    });
    known
}

/// The instance as a service gives it that wants every property: null where there is none.
fn with_nulls(compiled: &Value, at: &Value, value: &Value) -> Value {
    let Value::Object(map) = at else {
        return value.clone();
    };
    if let Some(target) = map.get("$ref").and_then(Value::as_str) {
        let target = compiled.pointer(&target[1..]).unwrap();
        return with_nulls(compiled, target, value);
    }
    if let Some(Value::Array(choices)) = map.get("anyOf") {
        let root_with = |choice: &Value| {
            let mut choice = choice.clone();
            if let (Some(defs), Value::Object(map)) = (compiled.get("$defs"), &mut choice) {
                map.insert("$defs".into(), defs.clone());
            }
            choice
        };
        for choice in choices {
            let filled = with_nulls(compiled, choice, value);
            if !choice.to_string().contains("\"#\"")
                && validator(&root_with(choice)).is_valid(&filled)
            {
                return filled;
            }
        }
        return value.clone();
    }
    match value {
        Value::Object(entries) => {
            let mut filled = entries.clone();
            for (name, schema) in map
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let entry = filled.entry(name.clone()).or_insert(Value::Null);
                *entry = with_nulls(compiled, schema, entry);
            }
            Value::Object(filled)
        }
        Value::Array(list) => {
            let items = map.get("items").unwrap_or(&Value::Null);
            list.iter()
                .map(|value| with_nulls(compiled, items, value))
                .collect()
        }
        other => other.clone(),
    }
}

#[test]
fn compiled_schemas_have_only_the_services_keywords_and_are_schemas() {
    for seed in 0..SCHEMAS {
        let original = schema(&mut Rng::with_seed(seed));
        for dialect in LOSSY {
            let reduced = reduce(dialect, &original);
            let mut found = Vec::new();
            keywords(&reduced.schema, &mut found);
            let known = known(dialect);
            for keyword in found {
                assert!(
                    known.contains(&keyword.as_str()),
                    "{seed} {dialect:?} {keyword}: {}",
                    reduced.schema
                );
            }
            validator(&reduced.schema);
            assert_eq!(
                reduced,
                reduce(dialect, &original),
                "{seed}: not the same twice"
            );
        }
    }
}

#[test]
fn what_the_original_allows_stays_possible_unless_reported() {
    let mut tried = 0;
    for seed in 0..SCHEMAS {
        let mut rng = Rng::with_seed(seed);
        let original = schema(&mut rng);
        let judge = validator(&original);
        for dialect in LOSSY {
            let rules = dialect.rules().unwrap();
            let (reduced, exhausted, narrowed) = Compiler::new(rules, &original, 2).run();
            assert!(narrowed.iter().all(|path| reduced.dropped.contains(path)));
            if !narrowed.is_empty() || exhausted {
                continue;
            }
            let compiled = validator(&reduced.schema);
            for _ in 0..INSTANCES {
                let value = instance(&mut rng, &original, &original, 5);
                if !judge.is_valid(&value) {
                    continue;
                }
                tried += 1;
                let given = match dialect {
                    Dialect::OpenAiStrict => with_nulls(&reduced.schema, &reduced.schema, &value),
                    _ => value.clone(),
                };
                assert!(
                    compiled.is_valid(&given),
                    "{seed} {dialect:?}\n{original}\n{}\n{given}\n{:?}",
                    reduced.schema,
                    reduced.dropped
                );
            }
        }
    }
    assert!(tried > 500, "only {tried}");
}

#[test]
fn what_is_reported_as_whole_is_whole() {
    let mut tried = 0;
    for seed in 0..SCHEMAS {
        let mut rng = Rng::with_seed(seed);
        let original = schema(&mut rng);
        let judge = validator(&original);
        let tool = ToolDefinition::new("t", "T.", original.clone())
            .unwrap()
            .strict(true);
        for dialect in LOSSY {
            let reduced = reduce(dialect, &original);
            let harmless = |path: &String| path.ends_with("default") || path.ends_with("$schema");
            if !reduced.dropped.iter().all(harmless) {
                continue;
            }
            let compiled = validator(&reduced.schema);
            for _ in 0..INSTANCES {
                let value = instance(&mut rng, &reduced.schema, &reduced.schema, 5);
                let Value::Object(entries) = &value else {
                    continue;
                };
                if !compiled.is_valid(&value) {
                    continue;
                }
                tried += 1;
                let taken = match dialect {
                    Dialect::OpenAiStrict => {
                        Value::Object(tool.without_nulls(entries).into_owned())
                    }
                    _ => value.clone(),
                };
                assert!(
                    judge.is_valid(&taken),
                    "{seed} {dialect:?}\n{original}\n{}\n{value}\n{taken}\n{:?}",
                    reduced.schema,
                    reduced.dropped
                );
            }
        }
    }
    assert!(tried > 100, "only {tried}");
}
