//! The walk over a schema.

use serde_json::{Map, Value, json};

use super::Reduced;
use super::keywords::{
    concerns, implied, is_idle, is_remark, is_structure, looks_around, note, tell, type_of, types,
};
use super::limits;
use super::references::Definitions;
use super::rules::Rules;

/// Schemas that one schema may unfold to.
const MOST_NODES: usize = 4000;

/// Compiles one schema for one service.
pub(super) struct Compiler<'a> {
    pub(super) rules: &'static Rules,
    pub(super) root: &'a Value,
    /// How often a recursive reference is unfolded.
    pub(super) levels: usize,
    pub(super) definitions: Definitions,
    /// Targets of the references that are being unfolded, outermost first.
    pub(super) unfolding: Vec<String>,
    pub(super) enforceable: bool,
    dropped: Vec<String>,
    /// Those of `dropped` that exclude what the original allows.
    narrowed: Vec<String>,
    nodes: usize,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(rules: &'static Rules, root: &'a Value, levels: usize) -> Self {
        Self {
            rules,
            root,
            levels,
            definitions: Definitions::default(),
            unfolding: vec!["#".to_owned()],
            enforceable: true,
            dropped: Vec::new(),
            narrowed: Vec::new(),
            nodes: 0,
        }
    }

    /// The schema as it is sent, whether it unfolded to too much, and the paths where it excludes
    /// what the original allows.
    pub(super) fn run(mut self) -> (Reduced, bool, Vec<String>) {
        let root = self.root;
        let compiled = match root {
            Value::Object(map) => self.root(map),
            _ => self.node("$", root),
        };
        let mut schema = compiled.unwrap_or_else(|| {
            self.narrow("$");
            json!({"type": "object", "properties": {}, "additionalProperties": false})
        });
        let definitions = self.compile_definitions();
        if let Value::Object(schema) = &mut schema
            && !definitions.is_empty()
        {
            schema.insert("$defs".into(), Value::Object(definitions));
        }
        if let Some(limits) = &self.rules.limits
            && limits::exceeds(&schema, limits)
        {
            self.enforceable = false;
            self.drop("$");
        }
        let exhausted = self.is_exhausted();
        let reduced = Reduced {
            schema,
            dropped: self.dropped,
            enforceable: self.enforceable,
        };
        (reduced, exhausted, self.narrowed)
    }

    pub(super) fn into_dropped(self) -> Vec<String> {
        self.dropped
    }

    /// Notes that what `path` says is not sent.
    pub(super) fn drop(&mut self, path: &str) {
        if !self.dropped.iter().any(|known| known == path) {
            self.dropped.push(path.to_owned());
        }
    }

    /// Notes that `path` excludes what the original allows.
    pub(super) fn narrow(&mut self, path: &str) {
        self.drop(path);
        self.narrowed.push(path.to_owned());
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.nodes > MOST_NODES
    }

    /// Compiles the schema at `path`; `None` when there is nothing that it allows.
    pub(super) fn node(&mut self, path: &str, schema: &Value) -> Option<Value> {
        self.nodes = self.nodes.saturating_add(1);
        let depth = self.unfolding.len();
        let compiled = match schema {
            Value::Bool(false) => None,
            Value::Object(map) => self.object(path, map, depth),
            _ => self.anything(path, &Map::new()),
        };
        self.unfolding.truncate(depth);
        compiled
    }

    fn object(&mut self, path: &str, map: &Map<String, Value>, depth: usize) -> Option<Value> {
        if let Some(reference) = self.kept_reference(path, map) {
            return Some(reference);
        }
        let flat = self.flatten(path, map, depth)?;
        self.flat(path, flat)
    }

    /// Compiles a schema that has neither references nor `allOf` of its own.
    pub(super) fn flat(&mut self, path: &str, mut flat: Map<String, Value>) -> Option<Value> {
        if flat.contains_key("enum") || flat.contains_key("const") {
            return self.literals(path, &flat);
        }
        if let Some(Value::Array(choices)) = flat.shift_remove("anyOf") {
            return self.choices(path, flat, &choices);
        }
        match types(&flat) {
            Some(types) => self.typed(path, &types, &flat),
            None => match implied(&flat) {
                Some(kind) => {
                    self.narrow(&format!("{path}.type"));
                    self.typed(path, &[kind], &flat)
                }
                None => self.anything(path, &flat),
            },
        }
    }

    /// Compiles `anyOf`: the rest of the schema goes into each choice, because services disagree
    /// about keywords beside it.
    fn choices(
        &mut self,
        path: &str,
        flat: Map<String, Value>,
        choices: &[Value],
    ) -> Option<Value> {
        let (remarks, shared): (Map<_, _>, Map<_, _>) = flat
            .into_iter()
            .partition(|(keyword, _)| is_remark(keyword));
        let mut sent: Vec<Value> = Vec::with_capacity(choices.len());
        for (index, choice) in choices.iter().enumerate() {
            let at = format!("{path}.anyOf[{index}]");
            let compiled = if shared.is_empty() {
                self.node(&at, choice)
            } else {
                self.node(&at, &json!({"allOf": [choice, shared]}))
            };
            if let Some(compiled) = compiled
                && !sent.contains(&compiled)
            {
                sent.push(compiled);
            }
        }
        let only = (sent.len() == 1).then(|| sent.pop()).flatten();
        if sent.is_empty() && only.is_none() {
            return None;
        }
        let mut out = Map::new();
        let told = self.remarks(path, &remarks, &mut out);
        match only {
            None => {
                out.insert("anyOf".into(), Value::Array(sent));
            }
            Some(Value::Object(only)) if !only.contains_key("$ref") => {
                for (keyword, value) in only {
                    out.entry(keyword).or_insert(value);
                }
            }
            Some(only) if out.is_empty() && told.is_empty() => return Some(only),
            Some(only) => {
                out.insert("anyOf".into(), json!([only]));
            }
        }
        tell(&mut out, &told);
        Some(Value::Object(out))
    }

    /// Compiles a schema of known types.
    fn typed(&mut self, path: &str, types: &[&str], flat: &Map<String, Value>) -> Option<Value> {
        if types.len() > 1 && !self.rules.type_lists {
            let (remarks, shared): (Map<_, _>, Map<_, _>) = flat
                .iter()
                .map(|(keyword, value)| (keyword.clone(), value.clone()))
                .partition(|(keyword, _)| is_remark(keyword));
            let mut sent: Vec<Value> = Vec::new();
            for kind in types {
                sent.extend(self.typed(path, &[kind], &shared));
            }
            let mut out = Map::new();
            let told = self.remarks(path, &remarks, &mut out);
            match sent.len() {
                0 => return None,
                _ => out.insert("anyOf".into(), Value::Array(sent)),
            };
            tell(&mut out, &told);
            return Some(Value::Object(out));
        }
        let mut out = Map::new();
        let mut told = self.remarks(path, flat, &mut out);
        out.insert("type".into(), Value::Null);
        let mut kept: Vec<&str> = Vec::with_capacity(types.len());
        for kind in types {
            let possible = match *kind {
                "object" => self.members(path, flat, &mut out).is_some(),
                "array" => {
                    self.elements(path, flat, &mut out, &mut told);
                    true
                }
                _ => true,
            };
            if possible {
                kept.push(kind);
            }
        }
        if kept.is_empty() {
            return None;
        }
        for (keyword, value) in flat {
            if is_structure(keyword) || is_remark(keyword) || !concerns(keyword, &kept) {
                continue;
            }
            if self.takes(keyword, value) {
                // A length that the elements demand is there already, and smaller.
                out.entry(keyword.clone()).or_insert_with(|| value.clone());
            } else if !is_idle(keyword, value) {
                self.drop(&format!("{path}.{keyword}"));
                note(keyword, value, &mut told);
            }
        }
        out.insert("type".into(), type_of(&kept));
        tell(&mut out, &told);
        Some(Value::Object(out))
    }

    /// A schema that allows everything.
    pub(super) fn anything(&mut self, path: &str, flat: &Map<String, Value>) -> Option<Value> {
        let mut out = Map::new();
        let mut told = self.remarks(path, flat, &mut out);
        for (keyword, value) in flat {
            if !is_remark(keyword) && !is_idle(keyword, value) {
                self.drop(&format!("{path}.{keyword}"));
                note(keyword, value, &mut told);
            }
        }
        if self.rules.closed {
            // Objects must name their keys and lists their elements, so only the rest is left.
            self.narrow(&format!("{path}.type"));
            let rest = ["string", "number", "boolean", "null"];
            if self.rules.type_lists {
                out.insert("type".into(), json!(rest));
            } else {
                let rest: Vec<Value> = rest.iter().map(|kind| json!({"type": kind})).collect();
                out.insert("anyOf".into(), Value::Array(rest));
            }
        }
        tell(&mut out, &told);
        Some(Value::Object(out))
    }

    /// Sends the remarks that services take; returns those that go into the description.
    pub(super) fn remarks(
        &mut self,
        path: &str,
        flat: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Vec<String> {
        let mut told = Vec::new();
        for (keyword, value) in flat {
            match keyword.as_str() {
                "title" | "description" if value.is_string() => {
                    out.insert(keyword.clone(), value.clone());
                }
                keyword if is_remark(keyword) => {
                    self.drop(&format!("{path}.{keyword}"));
                    if !value.is_null() {
                        note(keyword, value, &mut told);
                    }
                }
                _ => {}
            }
        }
        told
    }

    /// Whether the service knows `keyword` with this value.
    fn takes(&self, keyword: &str, value: &Value) -> bool {
        self.rules.keywords.contains(&keyword)
            && match keyword {
                "format" => value
                    .as_str()
                    .is_some_and(|format| self.rules.formats.contains(&format)),
                "pattern" => !looks_around(value),
                "minItems" => self
                    .rules
                    .most_min_items
                    .is_none_or(|most| value.as_u64().is_some_and(|count| count <= most)),
                _ => true,
            }
    }
}
