//! The tools that a program may call, by the names that its language can write.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};

/// One tool of a [`Catalog`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogEntry {
    /// What a program calls it.
    pub name: String,
    /// What the agent calls it.
    pub canonical_name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
    /// All that the application says about it.
    pub specification: Value,
}

impl CatalogEntry {
    /// `{name, canonical_name, description, input_schema, specification}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "name": self.name, "canonical_name": self.canonical_name,
            "description": self.description, "input_schema": self.input_schema,
            "specification": self.specification,
        })
    }
}

/// The tools that a program may call, by the names that its language can write.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    definitions: Vec<CatalogEntry>,
    by_name: HashMap<String, usize>,
}

impl Catalog {
    /// The tools of `specifications`, each `{name, description, input_schema, ...}`, with the names that
    /// `normalize` makes of theirs.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a tool without a name, for a name that is in `reserved` once it is
    /// normalized, and for two tools whose names become the same.
    pub fn new(
        specifications: impl IntoIterator<Item = Value>,
        normalize: impl Fn(&str) -> String,
        reserved: &[&str],
    ) -> Result<Self> {
        let mut catalog = Self::default();
        for specification in specifications {
            let text = |key: &str| {
                let value = specification.get(key).and_then(Value::as_str);
                value.unwrap_or_default().to_owned()
            };
            let canonical_name = text("name");
            let name = normalize(&canonical_name);
            if canonical_name.is_empty() || name.is_empty() {
                return Err(unusable(
                    "a tool of the code-mode catalog has no name".into(),
                ));
            }
            if reserved.contains(&name.as_str()) {
                return Err(unusable(format!(
                    "programs cannot call the tool {canonical_name:?}: {name:?} is a name of code mode; \
                     rename it, or keep it in the conversation with except"
                )));
            }
            if let Some(other) = catalog.fetch(&name) {
                return Err(unusable(format!(
                    "programs cannot tell the tools {:?} and {canonical_name:?} apart, because both are called \
                     {name:?} there; rename one, or keep it in the conversation with except",
                    other.canonical_name
                )));
            }
            catalog
                .by_name
                .insert(name.clone(), catalog.definitions.len());
            catalog.definitions.push(CatalogEntry {
                name,
                canonical_name,
                description: text("description"),
                input_schema: specification
                    .get("input_schema")
                    .cloned()
                    .unwrap_or_else(|| json!({})),
                specification,
            });
        }
        Ok(catalog)
    }

    /// The tools, in the order of their declaration.
    #[must_use]
    pub fn definitions(&self) -> &[CatalogEntry] {
        &self.definitions
    }

    /// The tool that a program calls `name`.
    #[must_use]
    pub fn fetch(&self, name: &str) -> Option<&CatalogEntry> {
        self.definitions.get(*self.by_name.get(name)?)
    }

    /// Whether there is a tool that a program calls `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }
}

fn unusable(problem: String) -> Error {
    Error::new(ErrorKind::Configuration, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Result<Catalog> {
        let tools = names
            .iter()
            .map(|name| json!({"name": name, "description": "Does it."}));
        Catalog::new(tools, |name| name.replace('-', "_"), &["wait"])
    }

    #[test]
    fn names_are_normalized_and_kept() {
        let catalog = named(&["look-up", "send"]).unwrap();
        let found = catalog.fetch("look_up").unwrap();
        assert_eq!(found.canonical_name, "look-up");
        assert_eq!(found.input_schema, json!({}));
        assert!(!catalog.contains("look-up"));
        let names: Vec<_> = catalog
            .definitions()
            .iter()
            .map(|tool| &tool.name)
            .collect();
        assert_eq!(names, ["look_up", "send"]);
    }

    #[test]
    fn names_that_cannot_be_told_apart_are_refused() {
        for names in [&["a-b", "a_b"][..], &["wait"], &[""]] {
            assert!(
                named(names).unwrap_err().is(ErrorKind::Configuration),
                "{names:?}"
            );
        }
    }
}
