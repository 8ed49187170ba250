//! References, definitions and recursion.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::keywords::is_remark;
use super::rules::Recursion;

/// The definitions that the compiled schema refers to.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    entries: Vec<Definition>,
}

#[derive(Debug)]
struct Definition {
    target: String,
    name: String,
    cyclic: bool,
}

impl Definitions {
    /// Whether a compiled schema refers to a definition that contains itself, other than inside
    /// the properties of an object.
    pub(super) fn leads_into_a_cycle(&self, compiled: &Value) -> bool {
        match compiled {
            Value::Object(map) => map.iter().any(|(keyword, value)| match keyword.as_str() {
                "properties" => false,
                "$ref" => self.entries.iter().any(|entry| {
                    entry.cyclic && value.as_str() == Some(&format!("#/$defs/{}", entry.name))
                }),
                _ => self.leads_into_a_cycle(value),
            }),
            Value::Array(values) => values.iter().any(|value| self.leads_into_a_cycle(value)),
            _ => false,
        }
    }
}

impl<'a> Compiler<'a> {
    /// What a reference within the schema means.
    pub(super) fn resolve(&self, target: &str) -> Option<&'a Value> {
        let pointer = target.strip_prefix('#')?;
        self.root.pointer(&unescaped(pointer))
    }

    /// The reference of a schema that is nothing else, if the service understands it.
    pub(super) fn kept_reference(&mut self, path: &str, map: &Map<String, Value>) -> Option<Value> {
        let target = map.get("$ref")?.as_str()?;
        self.resolve(target)?;
        let cyclic = self.is_cyclic(target);
        if cyclic && self.rules.recursion == Recursion::Refused {
            return None;
        }
        let beside: Vec<&String> = map
            .keys()
            .filter(|keyword| !matches!(keyword.as_str(), "$ref" | "$defs" | "definitions"))
            .collect();
        let only_remarks = beside.iter().all(|keyword| is_remark(keyword));
        // Unfolded, a schema keeps what is said beside the reference.
        let unfold = if only_remarks {
            !beside.is_empty() && !cyclic
        } else {
            self.unfoldings(target) < self.levels
        };
        if unfold && !self.is_exhausted() {
            return None;
        }
        for keyword in beside {
            self.drop(&format!("{path}.{keyword}"));
        }
        if target == "#" && self.rules.root_reference {
            return Some(json!({"$ref": "#"}));
        }
        let name = self.definition(target, cyclic);
        Some(json!({"$ref": format!("#/$defs/{name}")}))
    }

    /// How often `target` is being unfolded.
    pub(super) fn unfoldings(&self, target: &str) -> usize {
        self.unfolding.iter().filter(|open| *open == target).count()
    }

    /// The name under which `target` is sent.
    fn definition(&mut self, target: &str, cyclic: bool) -> String {
        let entries = &mut self.definitions.entries;
        if let Some(known) = entries.iter().find(|entry| entry.target == target) {
            return known.name.clone();
        }
        let last = unescaped(target.rsplit('/').next().unwrap_or_default());
        let kept = |letter: char| match letter {
            letter if letter.is_ascii_alphanumeric() || "_-.".contains(letter) => letter,
            _ => '_',
        };
        let mut name: String = last.chars().map(kept).collect();
        if name.is_empty() || target == "#" {
            "Root".clone_into(&mut name);
        }
        while entries.iter().any(|entry| entry.name == name) {
            name.push('_');
        }
        entries.push(Definition {
            target: target.to_owned(),
            name: name.clone(),
            cyclic,
        });
        name
    }

    /// Compiles what is referred to, which may refer to more.
    pub(super) fn compile_definitions(&mut self) -> Map<String, Value> {
        let mut compiled = Map::new();
        let mut next = 0;
        while let Some(entry) = self.definitions.entries.get(next) {
            next += 1;
            let (target, name) = (entry.target.clone(), entry.name.clone());
            let Some(schema) = self.resolve(&target) else {
                continue;
            };
            self.unfolding = vec![target];
            let path = format!("$.$defs.{name}");
            let schema = match self.node(&path, schema) {
                Some(schema) => schema,
                None => {
                    self.drop(&path);
                    json!({"type": "null"})
                }
            };
            compiled.insert(name, schema);
        }
        compiled
    }

    /// Whether what `target` means contains a reference to itself.
    fn is_cyclic(&self, target: &str) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![target];
        while let Some(next) = open.pop() {
            let Some(schema) = self.resolve(next) else {
                continue;
            };
            let mut found = Vec::new();
            collect(schema, &mut found);
            for reference in found {
                if reference == target {
                    return true;
                }
                if seen.insert(reference) {
                    open.push(reference);
                }
            }
        }
        false
    }
}

/// The references in a schema, those of its definitions apart.
fn collect<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Object(map) => {
            for (keyword, value) in map {
                match keyword.as_str() {
                    "$ref" => found.extend(value.as_str()),
                    "$defs" | "definitions" | "enum" | "const" | "default" | "examples" => {}
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, found);
            }
        }
        _ => {}
    }
}

/// A fragment of a URL as text.
fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        let decoded = (byte == b'%')
            .then(|| {
                let mut ahead = rest.clone();
                let high = char::from(ahead.next()?).to_digit(16)?;
                let low = char::from(ahead.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok().map(|byte| (byte, ahead))
            })
            .flatten();
        match decoded {
            Some((decoded, ahead)) => {
                bytes.push(decoded);
                rest = ahead;
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
