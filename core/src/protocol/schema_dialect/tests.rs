use serde_json::{Value, json};

use super::*;

fn compiled(dialect: Dialect, schema: &Value) -> Value {
    reduce(dialect, schema).schema
}

#[test]
fn what_cannot_be_enforced_is_left_out_named_and_told() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 5, "default": "x", "format": "email"},
            "size": {"type": "integer", "enum": [1, 2]},
            "next": {"anyOf": [{"$ref": "#/$defs/Next", "description": "More."}, {"type": "null"}]},
            "code": {"type": "string", "description": "A code.", "pattern": "^(?!x)"},
            "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
            "one": {"allOf": [{"$ref": "#/$defs/Next"}], "description": "One."},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": false},
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
            "$.properties.name.default",
            "$.properties.name.maxLength",
            "$.properties.code.pattern",
            "$.properties.kind.oneOf",
            "$.properties.pair.prefixItems",
        ]
    );
    let next = json!({"type": "object", "properties": {}, "required": [],
        "additionalProperties": false});
    let described = |text: &str| {
        let mut next = next.clone();
        next["description"] = json!(text);
        next
    };
    assert_eq!(
        reduced.schema,
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "format": "email",
                    "description": "{default: \"x\", maxLength: 5}"},
                "size": {"type": "integer", "enum": [1, 2]},
                "next": {"anyOf": [described("More."), {"type": "null"}]},
                "code": {"type": "string", "description": "A code.\n\n{pattern: \"^(?!x)\"}"},
                "kind": {"anyOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
                "one": described("One."),
                "pair": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            },
            "required": ["name", "size", "next", "code", "kind", "one", "pair"],
            "additionalProperties": false,
        })
    );
    assert!(reduced.enforceable);
}

#[test]
fn a_plain_schema_is_sent_as_it_is() {
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}},
        "required": ["a"], "additionalProperties": false});
    let reduced = reduce(Dialect::OpenAiStrict, &schema);
    assert_eq!(reduced.schema, schema);
    assert_eq!(reduced.dropped, [""; 0]);
}

/// What every vendor's users stumble over, in one schema.
fn troublesome() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/definitions/Node"},
            "name": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
            "level": {"type": "integer", "enum": [1, 2, 3]},
            "mixed": {"enum": ["a", 1, true, null]},
            "when": {"type": "string", "format": "date-time"},
            "link": {"type": "string", "format": "uri"},
            "limit": {"type": "integer", "minimum": 1, "default": 10},
            "options": {"type": "object"},
            "version": {"const": 2},
        },
        "required": ["tree", "name", "level", "mixed", "when", "link", "limit", "version"],
        "additionalProperties": false,
        "definitions": {"Node": {
            "type": "object",
            "properties": {
                "label": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/definitions/Node"}},
            },
            "required": ["label"],
            "additionalProperties": false,
        }},
    })
}

#[test]
fn openai_gets_every_property_required_and_nothing_it_does_not_know() {
    let reduced = reduce(Dialect::OpenAiStrict, &troublesome());
    assert_eq!(
        reduced.schema,
        json!({
            "type": "object",
            "properties": {
                "tree": {"$ref": "#/$defs/Node"},
                "name": {"anyOf": [{"type": "string", "description": "{minLength: 1}"}, {"type": "null"}]},
                "level": {"type": "integer", "enum": [1, 2, 3]},
                "mixed": {"type": ["string", "integer", "boolean", "null"], "enum": ["a", 1, true, null]},
                "when": {"type": "string", "format": "date-time"},
                "link": {"type": "string", "description": "{format: \"uri\"}"},
                "limit": {"type": "integer", "minimum": 1, "description": "{default: 10}"},
                "options": {"type": ["object", "null"], "properties": {}, "required": [],
                    "additionalProperties": false},
                "version": {"type": "integer", "const": 2},
            },
            "required": ["tree", "name", "level", "mixed", "when", "link", "limit", "options", "version"],
            "additionalProperties": false,
            "$defs": {"Node": {
                "type": "object",
                "properties": {
                    "label": {"type": "string"},
                    "children": {"type": ["array", "null"], "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["label", "children"],
                "additionalProperties": false,
            }},
        })
    );
    // An object of free keys would come back empty.
    assert!(!reduced.enforceable);
    assert!(
        reduced
            .dropped
            .contains(&"$.properties.options.additionalProperties".to_owned())
    );
}

#[test]
fn anthropic_gets_recursion_unfolded_and_bare_literals() {
    let reduced = reduce(Dialect::Anthropic, &troublesome());
    let schema = &reduced.schema;
    assert_eq!(schema["required"].as_array().unwrap().len(), 8);
    assert_eq!(schema["properties"]["level"], json!({"enum": [1, 2, 3]}));
    assert_eq!(
        schema["properties"]["mixed"],
        json!({"enum": ["a", 1, true, null]})
    );
    assert_eq!(schema["properties"]["version"], json!({"const": 2}));
    assert_eq!(
        schema["properties"]["link"],
        json!({"type": "string", "format": "uri"})
    );
    assert_eq!(
        schema["properties"]["limit"]["description"],
        "{default: 10, minimum: 1}"
    );
    // The innermost children can only be none.
    let mut node = &schema["properties"]["tree"];
    let mut levels = 0;
    while node["properties"]
        .get("children")
        .is_some_and(|list| list["items"]["type"] == "object")
    {
        node = &node["properties"]["children"]["items"];
        levels += 1;
    }
    assert_eq!(levels, LEVELS - 1);
    assert_eq!(
        node["properties"]["children"],
        json!({"type": "array", "items": {"type": "null"}, "description": "{maxItems: 0}"})
    );
    assert!(
        reduced
            .dropped
            .iter()
            .any(|path| path.ends_with("children.items.$ref"))
    );
    assert!(!schema.to_string().contains("$ref"));
    assert_eq!(compiled(Dialect::Bedrock, &troublesome()), *schema);
}

#[test]
fn gemini_gets_no_const_and_recursion_only_where_it_is_optional() {
    let mut schema = troublesome();
    schema["definitions"]["Node"]["required"] = json!(["label", "children"]);
    let reduced = reduce(Dialect::Gemini, &schema);
    let properties = &reduced.schema["properties"];
    assert_eq!(
        properties["version"],
        json!({"type": "integer", "enum": [2]})
    );
    assert_eq!(
        properties["mixed"],
        json!({"anyOf": [{"type": ["string", "integer"], "enum": ["a", 1]},
            {"type": "boolean"}, {"type": "null"}]})
    );
    assert_eq!(properties["options"], json!({"type": "object"}));
    assert_eq!(
        reduced.schema["$defs"]["Node"]["required"],
        json!(["label"])
    );
    assert_eq!(
        reduced.schema["$defs"]["Node"]["properties"]["children"],
        json!({"type": "array", "items": {"$ref": "#/$defs/Node"}})
    );
    assert!(
        !reduced.schema["required"]
            .as_array()
            .unwrap()
            .contains(&json!("tree"))
    );
    for lost in [
        "$.$defs.Node.required",
        "$.required",
        "$.properties.mixed.enum",
    ] {
        assert!(
            reduced.dropped.contains(&lost.to_owned()),
            "{lost}: {:?}",
            reduced.dropped
        );
    }
}

#[test]
fn tools_that_are_not_enforced_keep_all_but_what_services_refuse() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "tags": {"type": "array"},
            "extra": {"type": "object", "additionalProperties": {"type": "string"}},
            "items": {"type": "string", "minLength": 2, "default": {"type": "object"}},
        },
        "if": {"required": ["tags"]}, "then": {"required": ["extra"]},
    });
    for dialect in [
        Dialect::OpenAiTool,
        Dialect::AnthropicTool,
        Dialect::BedrockTool,
    ] {
        let reduced = reduce(dialect, &schema);
        assert_eq!(
            reduced.schema,
            json!({
                "type": "object",
                "properties": {
                    "tags": {"type": "array", "items": {}},
                    "extra": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
                    "items": {"type": "string", "minLength": 2, "default": {"type": "object"}},
                },
                "if": {"required": ["tags"]}, "then": {"required": ["extra"]},
            })
        );
        assert_eq!(reduced.dropped, ["$.$schema"]);
    }
}

#[test]
fn a_choice_of_objects_becomes_one_object_where_tools_need_that() {
    let schema = json!({
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
            {"$ref": "#/$defs/B"},
        ],
        "$defs": {"B": {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}},
    });
    let reduced = reduce(Dialect::AnthropicTool, &schema);
    assert_eq!(
        reduced.schema,
        json!({
            "type": "object",
            "properties": {
                "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]},
                "x": {"type": "integer"},
            },
            "required": ["kind"],
            "$defs": {"B": {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}},
        })
    );
    assert_eq!(reduced.dropped, ["$.oneOf", "$.anyOf"]);
}

#[test]
fn several_schemas_in_one_place_are_merged() {
    let schema = json!({
        "type": "object",
        "properties": {"age": {"allOf": [
            {"type": "number", "minimum": 1}, {"$ref": "#/$defs/Whole", "maximum": 9}, {"minimum": 3},
        ]}},
        "allOf": [
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            {"required": ["age"]},
        ],
        "$defs": {"Whole": {"type": "integer", "maximum": 20}},
    });
    let reduced = reduce(Dialect::Gemini, &schema);
    assert_eq!(
        reduced.schema,
        json!({
            "type": "object",
            "properties": {
                "age": {"type": "integer", "minimum": 3, "maximum": 9},
                "b": {"type": "string"},
            },
            "required": ["age", "b"],
        })
    );
    assert_eq!(reduced.dropped, [""; 0]);
}

#[test]
fn keywords_beside_a_choice_go_into_the_choices() {
    let schema = json!({"type": "object", "properties": {"v": {
        "type": "string", "description": "A value.", "anyOf": [{"enum": ["a", 1]}, {"pattern": "^b"}]}},
        "required": ["v"], "additionalProperties": false});
    let reduced = reduce(Dialect::OpenAiStrict, &schema);
    assert_eq!(
        reduced.schema["properties"]["v"],
        json!({"description": "A value.",
            "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "pattern": "^b"}]})
    );
    let other = compiled(
        Dialect::Anthropic,
        &json!({"type": "object", "properties": {
        "v": {"type": ["string", "array"], "items": {"type": "integer"}, "minItems": 3}},
        "additionalProperties": false}),
    );
    assert_eq!(
        other["properties"]["v"],
        json!({"anyOf": [{"type": "string"},
            {"type": "array", "items": {"type": "integer"}, "description": "{minItems: 3}"}]})
    );
}

#[test]
fn keys_by_pattern_stay_possible_where_objects_may_be_open() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": false});
    let open = reduce(Dialect::Gemini, &schema);
    assert_eq!(
        open.schema["additionalProperties"],
        json!({"type": "integer"})
    );
    assert_eq!(open.dropped, ["$.patternProperties"]);
    assert!(!reduce(Dialect::OpenAiStrict, &schema).enforceable);
}

#[test]
fn the_whole_may_be_a_reference_and_refer_to_itself() {
    let schema = json!({"$ref": "#/$defs/T", "$defs": {"T": {"type": "object",
        "properties": {"in": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["in"], "additionalProperties": false}}});
    let openai = reduce(Dialect::OpenAiStrict, &schema);
    assert_eq!(
        openai.schema,
        json!({"type": "object", "properties": {"in": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
            "required": ["in"], "additionalProperties": false})
    );
    let gemini = compiled(Dialect::Gemini, &schema);
    assert_eq!(
        gemini["properties"]["in"]["anyOf"][0],
        json!({"$ref": "#/$defs/Root"})
    );
    assert_eq!(gemini["required"], Value::Null);
    let text = compiled(Dialect::Anthropic, &schema).to_string();
    assert!(
        !text.contains("$ref") && text.matches("\"in\"").count() > 3,
        "{text}"
    );
}

#[test]
fn what_unfolds_to_too_much_unfolds_less() {
    let many: serde_json::Map<String, Value> = (0..12)
        .map(|at| (format!("p{at}"), json!({"$ref": "#/$defs/N"})))
        .collect();
    let schema = json!({"type": "object", "properties": many,
        "$defs": {"N": {"type": "object", "properties": many, "additionalProperties": false}}});
    let reduced = reduce(Dialect::Anthropic, &schema);
    assert!(reduced.schema.to_string().len() < 200_000);
    assert!(reduced.dropped.iter().any(|path| path.ends_with("$ref")));
}

#[test]
fn a_schema_larger_than_the_service_takes_is_not_enforced() {
    let mut schema = json!({"type": "string"});
    for _ in 0..11 {
        schema = json!({"type": "object", "properties": {"in": schema}, "required": ["in"],
            "additionalProperties": false});
    }
    let reduced = reduce(Dialect::OpenAiStrict, &schema);
    assert!(!reduced.enforceable);
    assert_eq!(reduced.dropped, ["$"]);
}
