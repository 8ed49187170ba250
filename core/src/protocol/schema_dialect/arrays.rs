//! `items` and `prefixItems`.

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::merging::elements;

impl Compiler<'_> {
    /// Sends what an array says of its elements. `told` gets what only the description can say.
    pub(super) fn elements(
        &mut self,
        path: &str,
        flat: &Map<String, Value>,
        out: &mut Map<String, Value>,
        told: &mut Vec<String>,
    ) {
        let (places, rest) = elements(flat);
        let at = format!("{path}.items");
        let open = json!({});
        if places.is_empty() {
            match self.node(&at, rest.unwrap_or(&open)) {
                Some(items) => {
                    out.insert("items".into(), items);
                }
                None => self.empty(out, told),
            }
            return;
        }
        let listed = format!("{path}.prefixItems");
        let mut sent: Vec<Value> = Vec::with_capacity(places.len());
        let mut possible = true;
        for (index, place) in places.iter().enumerate() {
            match self.node(&format!("{listed}[{index}]"), place) {
                Some(place) => sent.push(place),
                None => possible = false,
            }
        }
        let closed = rest == Some(&Value::Bool(false));
        if self.rules.tuples && possible {
            out.insert("prefixItems".into(), Value::Array(sent));
            let rest = rest.map(|rest| self.node(&at, rest));
            match rest {
                None => {}
                Some(Some(rest)) => {
                    out.insert("items".into(), rest);
                }
                // The service takes schemas only here, so the length says it.
                Some(None) => {
                    let most = flat.get("maxItems").and_then(Value::as_u64);
                    let count = u64::try_from(places.len()).unwrap_or(u64::MAX);
                    out.insert("maxItems".into(), json!(most.unwrap_or(count).min(count)));
                }
            }
            return;
        }
        self.drop(&listed);
        if !closed {
            match rest {
                Some(rest) => sent.extend(self.node(&at, rest)),
                None if self.rules.closed => self.narrow(&at),
                None => {
                    out.insert("items".into(), json!({}));
                    return;
                }
            }
        }
        let mut choices: Vec<Value> = Vec::with_capacity(sent.len());
        for place in sent {
            if !choices.contains(&place) {
                choices.push(place);
            }
        }
        match choices.as_slice() {
            [] => self.empty(out, told),
            [only] => {
                out.insert("items".into(), only.clone());
            }
            _ => {
                out.insert("items".into(), json!({"anyOf": choices}));
            }
        }
    }

    /// A list that can only be empty. Services want a schema of its elements all the same.
    fn empty(&self, out: &mut Map<String, Value>, told: &mut Vec<String>) {
        out.insert("items".into(), json!({"type": "null"}));
        if self.rules.keywords.contains(&"maxItems") {
            out.insert("maxItems".into(), json!(0));
        } else {
            told.push("maxItems: 0".to_owned());
        }
    }
}
