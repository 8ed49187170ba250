//! The walk over a schema.

use serde_json::{Map, Value, json};

use super::Reduced;
use super::limits;
use super::references::Definitions;
use super::rules::Rules;

/// Schemas that one schema may unfold to.
const MOST_NODES: usize = 4000;

/// The types of JSON Schema.
const TYPES: [&str; 7] = [
    "object", "array", "string", "integer", "number", "boolean", "null",
];

/// Keywords that describe and do not constrain.
const REMARKS: [&str; 14] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "discriminator",
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$dynamicAnchor",
];

/// Rules that a model can follow when it reads them in the description.
const TOLD: [&str; 14] = [
    "default",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
];

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

/// The types that a schema names, without repetition; `None` when it names none.
pub(super) fn types(map: &Map<String, Value>) -> Option<Vec<&'static str>> {
    let known = |name: &Value| TYPES.into_iter().find(|known| name == known);
    let mut types: Vec<&str> = match map.get("type")? {
        Value::Array(names) => names.iter().filter_map(known).collect(),
        name => known(name).into_iter().collect(),
    };
    if types.contains(&"number") {
        types.retain(|kind| *kind != "integer");
    }
    Some(types)
}

/// The type that the keywords of an untyped schema are about.
fn implied(map: &Map<String, Value>) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().any(|name| map.contains_key(*name));
    let object = [
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
    ];
    if has(&object) {
        Some("object")
    } else if has(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        Some("array")
    } else if has(&["minLength", "maxLength", "pattern", "format"]) {
        Some("string")
    } else if has(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        Some("number")
    } else {
        None
    }
}

pub(super) fn is_remark(keyword: &str) -> bool {
    REMARKS.contains(&keyword)
}

/// Keywords that objects and arrays are compiled from.
fn is_structure(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
    )
}

/// Whether `keyword` says anything about values of these types.
fn concerns(keyword: &str, types: &[&str]) -> bool {
    let has = |kind: &str| types.contains(&kind);
    match keyword {
        "minLength" | "maxLength" | "pattern" => has("string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            has("number") || has("integer")
        }
        "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains" | "maxContains"
        | "unevaluatedItems" => has("array"),
        "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "unevaluatedProperties" => has("object"),
        _ => true,
    }
}

/// Whether a keyword with this value allows everything anyway.
fn is_idle(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "minItems" | "minProperties" => value.as_u64() == Some(0),
        "uniqueItems" => value == &Value::Bool(false),
        "unevaluatedProperties"
        | "unevaluatedItems"
        | "propertyNames"
        | "additionalProperties"
        | "items" => value == &Value::Bool(true),
        // Without effect in a schema of this kind.
        "nullable" => true,
        _ => false,
    }
}

pub(super) fn type_of(types: &[&str]) -> Value {
    match types {
        [only] => json!(only),
        several => json!(several),
    }
}

/// Grammars cannot look ahead or behind.
fn looks_around(pattern: &Value) -> bool {
    pattern.as_str().is_none_or(|pattern| {
        ["(?=", "(?!", "(?<"]
            .iter()
            .any(|part| pattern.contains(part))
    })
}

/// Notes a rule for the description, if a model can make something of it.
pub(super) fn note(keyword: &str, value: &Value, told: &mut Vec<String>) {
    if TOLD.contains(&keyword) {
        told.push(format!("{keyword}: {value}"));
    }
}

/// Adds rules to the description.
pub(super) fn tell(out: &mut Map<String, Value>, told: &[String]) {
    if told.is_empty() {
        return;
    }
    let rules = format!("{{{}}}", told.join(", "));
    let text = match out.get("description").and_then(Value::as_str) {
        Some(description) if !description.is_empty() => format!("{description}\n\n{rules}"),
        _ => rules,
    };
    out.insert("description".into(), text.into());
}
