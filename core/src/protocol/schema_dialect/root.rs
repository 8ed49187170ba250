//! The whole schema, which many services want to be one object.

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::keywords::{is_remark, types};

impl Compiler<'_> {
    pub(super) fn root(&mut self, map: &Map<String, Value>) -> Option<Value> {
        let depth = self.unfolding.len();
        let compiled = if self.rules.object_root {
            let flat = self.flatten("$", map, depth)?;
            let united = self.united("$", flat)?;
            self.flat("$", united)
        } else if map.contains_key("$ref") {
            let flat = self.flatten("$", map, depth)?;
            self.flat("$", flat)
        } else {
            self.node("$", &Value::Object(map.clone()))
        };
        self.unfolding.truncate(depth);
        compiled
    }

    /// A choice of objects as the one object that has all their properties.
    pub(super) fn united(
        &mut self,
        path: &str,
        mut flat: Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        for keyword in ["not", "enum", "const"] {
            if flat.shift_remove(keyword).is_some() {
                self.drop(&format!("{path}.{keyword}"));
            }
        }
        let choices = match flat.shift_remove("anyOf") {
            Some(Value::Array(choices)) => choices,
            _ => {
                flat.insert("type".into(), json!("object"));
                return Some(flat);
            }
        };
        let at = format!("{path}.anyOf");
        self.narrow(&at);
        let (remarks, shared): (Map<_, _>, Map<_, _>) = flat
            .into_iter()
            .partition(|(keyword, _)| is_remark(keyword));
        let mut members: Vec<Map<String, Value>> = Vec::with_capacity(choices.len());
        for (index, choice) in choices.into_iter().enumerate() {
            let both = Map::from_iter([("allOf".to_owned(), json!([shared, choice]))]);
            let depth = self.unfolding.len();
            let at = format!("{at}[{index}]");
            let member = self
                .flatten(&at, &both, depth)
                .filter(|flat| types(flat).is_none_or(|types| types.contains(&"object")))
                .and_then(|flat| self.united(&at, flat));
            self.unfolding.truncate(depth);
            members.extend(member);
        }
        let mut united = remarks;
        united.insert("type".into(), json!("object"));
        united.insert("properties".into(), Value::Object(properties(&members)));
        united.insert("required".into(), json!(required(&members)));
        let is_closed = |member: &Map<String, Value>| {
            member.get("additionalProperties") == Some(&Value::Bool(false))
                && !member.contains_key("patternProperties")
        };
        if members.iter().all(is_closed) {
            united.insert("additionalProperties".into(), json!(false));
        }
        Some(united)
    }
}

/// Every property that one of the objects has.
fn properties(members: &[Map<String, Value>]) -> Map<String, Value> {
    let mut all: Map<String, Value> = Map::new();
    let each = members
        .iter()
        .filter_map(|member| member.get("properties").and_then(Value::as_object))
        .flatten();
    for (name, schema) in each {
        match all.get_mut(name) {
            None => {
                all.insert(name.clone(), json!({"anyOf": [schema]}));
            }
            Some(Value::Object(known)) => {
                if let Some(Value::Array(choices)) = known.get_mut("anyOf")
                    && !choices.contains(schema)
                {
                    choices.push(schema.clone());
                }
            }
            Some(_) => {}
        }
    }
    for schema in all.values_mut() {
        let only = match schema
            .get("anyOf")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([only]) => only.clone(),
            _ => continue,
        };
        *schema = only;
    }
    all
}

/// The properties that all of the objects require.
fn required(members: &[Map<String, Value>]) -> Vec<Value> {
    let mut lists = members.iter().map(|member| {
        member
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    });
    let first = lists.next().unwrap_or_default();
    lists.fold(first, |common, list| {
        common
            .into_iter()
            .filter(|name| list.contains(name))
            .collect()
    })
}
