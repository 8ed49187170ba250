//! The arguments of a tool, as its schema has them.

use serde_json::Value;

/// One argument.
pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) is_required: bool,
}

impl<'a> Property<'a> {
    /// The arguments of an input schema: the required ones first, otherwise in its order.
    pub(super) fn all(schema: &'a Value) -> Vec<Self> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut all: Vec<Self> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Self {
                name,
                schema,
                is_required: required.contains(&name.as_str()),
            })
            .collect();
        all.sort_by_key(|property| !property.is_required);
        all
    }

    /// `type, required. Description. default 3, at least 1`, for a comment.
    pub(super) fn remark(&self) -> String {
        let need = if self.is_required {
            "required"
        } else {
            "optional"
        };
        let mut remark = format!("{}, {need}.", kind(self.schema));
        if let Some(description) = self.schema.get("description").and_then(Value::as_str) {
            let words: Vec<&str> = description.split_whitespace().collect();
            remark.push(' ');
            remark.push_str(&words.join(" "));
        }
        let constraints: Vec<String> = CONSTRAINTS
            .iter()
            .filter_map(|(key, words)| Some(format!("{words} {}", self.schema.get(*key)?)))
            .collect();
        if !constraints.is_empty() {
            remark.push_str(&format!(" ({})", constraints.join(", ")));
        }
        remark
    }
}

const CONSTRAINTS: &[(&str, &str)] = &[
    ("default", "default"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
    ("minLength", "minimum length"),
    ("maxLength", "maximum length"),
    ("minItems", "minimum items"),
    ("maxItems", "maximum items"),
    ("pattern", "pattern"),
];

/// What a value of a schema is, in words of JSON.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(members) = schema.get("enum").and_then(Value::as_array) {
        let members: Vec<String> = members.iter().map(Value::to_string).collect();
        return format!("one of {}", members.join(" | "));
    }
    if let Some(only) = schema.get("const") {
        return format!("always {only}");
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => match schema.get("items") {
            Some(items) => format!("array of {}", kind(items)),
            None => "array".into(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => {
            let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"));
            match alternatives.and_then(Value::as_array) {
                Some(kinds) => kinds.iter().map(kind).collect::<Vec<_>>().join(" or "),
                None => "any value".into(),
            }
        }
    }
}
