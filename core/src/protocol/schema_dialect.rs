//! JSON Schemas in the dialect of services that enforce them while they generate.
//!
//! Such services refuse a request whose schema has a keyword they do not know. What they cannot
//! enforce is left out of what is sent; the caller checks the answer against the original.

use serde_json::{Map, Value, json};

use crate::tool::ToolDefinition;

/// String formats that the services know.
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// Keywords that the services refuse.
const REFUSED: [&str; 11] = [
    "$schema",
    "$id",
    "$comment",
    "default",
    "examples",
    "discriminator",
    "minLength",
    "maxLength",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// What a service understands of JSON Schema.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI's strict mode: results and strict tools.
    OpenAiStrict,
    /// Parameters of tools that OpenAI-style services do not enforce.
    OpenAiTool,
    /// Anthropic's `output_config.format`, and tools with `strict`.
    Anthropic,
    /// Anthropic's tools without `strict`.
    AnthropicTool,
    /// Gemini's `responseJsonSchema` and `parametersJsonSchema`.
    Gemini,
    /// Converse's `outputConfig`, and a `toolSpec` with `strict`.
    Bedrock,
    /// Converse's `toolSpec` without `strict`.
    BedrockTool,
}

/// A schema as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reduced {
    pub(crate) schema: Value,
    /// Paths of what was left out or widened, such as `$.properties.name.maxLength`.
    pub(crate) dropped: Vec<String>,
}

/// Reduces `schema` to what `dialect` understands.
pub(crate) fn reduce(dialect: Dialect, schema: &Value) -> Reduced {
    if matches!(
        dialect,
        Dialect::OpenAiTool | Dialect::AnthropicTool | Dialect::BedrockTool
    ) {
        return Reduced {
            schema: schema.clone(),
            dropped: Vec::new(),
        };
    }
    let mut dropped = Vec::new();
    let schema = node("$", schema, &mut dropped);
    Reduced { schema, dropped }
}

/// The input schema of a tool as it is sent: in `strict` where the service is asked to enforce it,
/// else in `plain`.
pub(crate) fn parameters(strict: Dialect, plain: Dialect, definition: &ToolDefinition) -> Value {
    let dialect = if definition.is_strict() {
        strict
    } else {
        plain
    };
    reduce(dialect, definition.input_schema()).schema
}

fn node(path: &str, schema: &Value, dropped: &mut Vec<String>) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let mut sent = Map::with_capacity(map.len());
    if let Some(reference) = map.get("$ref") {
        // A reference stands alone; what else its place says is a remark or is checked later.
        dropped.extend(
            map.keys()
                .filter(|keyword| *keyword != "$ref")
                .map(|keyword| format!("{path}.{keyword}")),
        );
        sent.insert("$ref".into(), reference.clone());
        return Value::Object(sent);
    }
    for (keyword, value) in map {
        let at = format!("{path}.{keyword}");
        match keyword.as_str() {
            "properties" | "$defs" | "definitions" => {
                sent.insert(keyword.clone(), named(&at, value, dropped));
            }
            "items" => {
                sent.insert(keyword.clone(), node(&at, value, dropped));
            }
            "anyOf" => {
                sent.insert(keyword.clone(), list(&at, value, dropped));
            }
            "oneOf" => {
                let alternatives = list(&at, value, dropped);
                sent.entry("anyOf").or_insert(alternatives);
                dropped.push(at);
            }
            "prefixItems" => {
                let places = list(&at, value, dropped);
                sent.entry("items").or_insert(json!({"anyOf": places}));
                dropped.push(at);
            }
            "allOf" => match value.as_array().map(Vec::as_slice) {
                Some([only]) => {
                    if let Value::Object(only) = node(&format!("{at}[0]"), only, dropped) {
                        sent.extend(only);
                    }
                }
                _ => dropped.push(at),
            },
            "format" if !is_known_format(value) => dropped.push(at),
            "pattern" if looks_around(value) => dropped.push(at),
            refused if REFUSED.contains(&refused) => dropped.push(at),
            _ => {
                sent.insert(keyword.clone(), value.clone());
            }
        }
    }
    if sent.contains_key("$ref") {
        sent.retain(|keyword, _| keyword == "$ref");
    }
    // An object without properties must still say so.
    if sent.get("type").is_some_and(|kind| kind == "object")
        && sent.get("additionalProperties") == Some(&Value::Bool(false))
    {
        sent.entry("properties").or_insert_with(|| json!({}));
        sent.entry("required").or_insert_with(|| json!([]));
    }
    Value::Object(sent)
}

fn named(path: &str, value: &Value, dropped: &mut Vec<String>) -> Value {
    let Value::Object(schemas) = value else {
        return value.clone();
    };
    let reduced = schemas.iter().map(|(name, schema)| {
        (
            name.clone(),
            node(&format!("{path}.{name}"), schema, dropped),
        )
    });
    Value::Object(reduced.collect())
}

fn list(path: &str, value: &Value, dropped: &mut Vec<String>) -> Value {
    let Value::Array(schemas) = value else {
        return value.clone();
    };
    let reduced = schemas
        .iter()
        .enumerate()
        .map(|(index, schema)| node(&format!("{path}[{index}]"), schema, dropped));
    Value::Array(reduced.collect())
}

fn is_known_format(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|format| FORMATS.contains(&format))
}

/// Grammars cannot look ahead or behind.
fn looks_around(pattern: &Value) -> bool {
    pattern.as_str().is_none_or(|pattern| {
        ["(?=", "(?!", "(?<"]
            .iter()
            .any(|part| pattern.contains(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_enforced_is_left_out_and_named() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 5, "default": "x", "format": "email"},
                "size": {"type": "integer", "enum": [1, 2], "format": "int64"},
                "next": {"anyOf": [{"$ref": "#/$defs/Next", "description": "More."}, {"type": "null"}]},
                "code": {"type": "string", "pattern": "^(?!x)"},
                "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
                "one": {"allOf": [{"$ref": "#/$defs/Next"}], "description": "One."},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["name", "size", "next", "code", "kind", "one", "pair"],
            "additionalProperties": false,
            "$defs": {"Next": {"type": "object", "additionalProperties": false}},
        });
        let reduced = reduce(Dialect::OpenAiStrict, &schema);
        assert_eq!(
            reduced.dropped,
            [
                "$.$schema",
                "$.properties.name.maxLength",
                "$.properties.name.default",
                "$.properties.size.format",
                "$.properties.next.anyOf[0].description",
                "$.properties.code.pattern",
                "$.properties.kind.oneOf",
                "$.properties.pair.prefixItems",
            ]
        );
        assert_eq!(
            reduced.schema,
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "format": "email"},
                    "size": {"type": "integer", "enum": [1, 2]},
                    "next": {"anyOf": [{"$ref": "#/$defs/Next"}, {"type": "null"}]},
                    "code": {"type": "string"},
                    "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]},
                    "one": {"$ref": "#/$defs/Next"},
                    "pair": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                },
                "required": ["name", "size", "next", "code", "kind", "one", "pair"],
                "additionalProperties": false,
                "$defs": {"Next": {"type": "object", "additionalProperties": false,
                    "properties": {}, "required": []}},
            })
        );
    }

    #[test]
    fn a_plain_schema_is_sent_as_it_is() {
        let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}},
            "required": ["a"], "additionalProperties": false});
        assert_eq!(
            reduce(Dialect::OpenAiStrict, &schema),
            Reduced {
                schema: schema.clone(),
                dropped: vec![]
            }
        );
    }
}
