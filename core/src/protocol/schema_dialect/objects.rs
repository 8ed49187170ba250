//! Objects and their properties.

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::rules::Recursion;

impl Compiler<'_> {
    /// Sends what an object says of its properties; `None` when a required one is impossible.
    pub(super) fn members(
        &mut self,
        path: &str,
        flat: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Option<()> {
        let empty = Map::new();
        let declared = flat
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let additional = flat.get("additionalProperties");
        let patterns = flat.get("patternProperties").and_then(Value::as_object);
        let mut required: Vec<&str> = Vec::new();
        for name in flat
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let Some(name) = name.as_str()
                && !required.contains(&name)
            {
                required.push(name);
            }
        }
        let mut properties = Map::with_capacity(declared.len());
        let mut sent_required: Vec<&str> = Vec::new();
        let undeclared = required
            .iter()
            .filter(|name| !declared.contains_key(**name));
        let open = json!({});
        let undeclared = undeclared.map(|name| (*name, additional.unwrap_or(&open)));
        let declared_schemas = declared
            .iter()
            .map(|(name, schema)| (name.as_str(), schema));
        for (name, schema) in declared_schemas.chain(undeclared) {
            let is_required = required.contains(&name);
            let at = format!("{path}.properties.{name}");
            let Some(compiled) = self.node(&at, schema) else {
                if is_required {
                    return None;
                }
                if !self.rules.closed {
                    properties.insert(name.to_owned(), json!({}));
                    self.drop(&at);
                } else if schema != &Value::Bool(false) {
                    self.narrow(&at);
                }
                continue;
            };
            let compiled = match (is_required, self.rules.all_required) {
                (false, true) => nullable(compiled),
                _ => compiled,
            };
            if self.rules.all_required || is_required {
                let endless = self.rules.recursion == Recursion::Optional
                    && self.definitions.leads_into_a_cycle(&compiled);
                if endless {
                    self.drop(&format!("{path}.required"));
                } else {
                    sent_required.push(name);
                }
            }
            properties.insert(name.to_owned(), compiled);
        }
        let is_free = properties.is_empty();
        if !is_free || path == "$" || self.rules.closed {
            out.insert("properties".into(), Value::Object(properties));
        }
        if !sent_required.is_empty() || self.rules.all_required {
            out.insert("required".into(), json!(sent_required));
        }
        if self.rules.closed {
            self.close(path, additional, patterns, is_free);
            out.insert("additionalProperties".into(), json!(false));
        } else if let Some(others) = self.others(path, additional, patterns) {
            out.insert("additionalProperties".into(), others);
        }
        Some(())
    }

    /// Notes what is lost where an object can have no other keys than its properties.
    fn close(
        &mut self,
        path: &str,
        additional: Option<&Value>,
        patterns: Option<&Map<String, Value>>,
        is_free: bool,
    ) {
        if let Some(patterns) = patterns
            && !patterns.is_empty()
        {
            self.narrow(&format!("{path}.patternProperties"));
            self.enforceable = false;
        }
        match additional {
            Some(Value::Bool(false)) => {}
            // Keys that nobody named are most often not wanted, only not excluded.
            None if !is_free => self.narrow(&format!("{path}.additionalProperties")),
            None if patterns.is_some() => {}
            _ => {
                self.narrow(&format!("{path}.additionalProperties"));
                self.enforceable = false;
            }
        }
    }

    /// What other keys may hold, where a service lets objects have them.
    fn others(
        &mut self,
        path: &str,
        additional: Option<&Value>,
        patterns: Option<&Map<String, Value>>,
    ) -> Option<Value> {
        let at = format!("{path}.additionalProperties");
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        let Some(patterns) = patterns else {
            return match additional? {
                Value::Bool(open) => Some(json!(open)),
                schema => Some(self.node(&at, schema).unwrap_or(json!(false))),
            };
        };
        let listed = format!("{path}.patternProperties");
        self.drop(&listed);
        match additional {
            None | Some(Value::Bool(true)) => return None,
            _ => {}
        }
        let mut choices: Vec<Value> = Vec::new();
        for (pattern, schema) in patterns {
            choices.extend(self.node(&format!("{listed}.{pattern}"), schema));
        }
        if let Some(schema @ Value::Object(_)) = additional {
            choices.extend(self.node(&at, schema));
        }
        match choices.len() {
            0 => Some(json!(false)),
            1 => choices.pop(),
            _ => Some(json!({"anyOf": choices})),
        }
    }
}

/// A compiled schema that allows null too.
fn nullable(schema: Value) -> Value {
    let Value::Object(mut map) = schema else {
        return schema;
    };
    let admits = |kind: &Value| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
        kind => kind == "null",
    };
    if map.get("type").is_some_and(admits) {
        return Value::Object(map);
    }
    if let Some(constant) = map.shift_remove("const") {
        map.insert("enum".into(), json!([constant]));
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.push(Value::Null);
    }
    match map.get_mut("type") {
        Some(Value::Array(kinds)) => kinds.push(json!("null")),
        Some(kind) => *kind = json!([kind.take(), "null"]),
        None => match map.get_mut("anyOf") {
            Some(Value::Array(choices)) => {
                let null = json!({"type": "null"});
                let admitted = choices
                    .iter()
                    .any(|choice| choice.get("type").is_some_and(admits));
                if !admitted {
                    choices.push(null);
                }
            }
            _ => return json!({"anyOf": [map, {"type": "null"}]}),
        },
    }
    Value::Object(map)
}
