//! What a model is told about a tool.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::schema::InputSchema;
use super::{absence, cache};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::schema_dialect::{Dialect, Reduced};

/// The longest tool name that providers accept.
const MAX_NAME_LENGTH: usize = 64;

/// Name, description and input schema of a tool; checked when it is built.
#[derive(Clone, Debug)]
pub struct ToolDefinition {
    name: Arc<str>,
    description: Arc<str>,
    schema: Arc<InputSchema>,
    exclusive: bool,
    strict: bool,
}

impl ToolDefinition {
    /// Checks and builds a definition. `input_schema` must be a JSON Schema object; an empty
    /// object accepts any input.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a bad name, a blank description or a schema that is not
    /// a valid JSON Schema.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Result<Self> {
        Self::build(
            name.into(),
            description.into(),
            input_schema,
            InputSchema::new,
        )
    }

    fn build(
        name: String,
        description: String,
        schema: Value,
        compile: fn(&str, Value) -> Result<InputSchema>,
    ) -> Result<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.bytes().all(allowed) {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "tool name {name:?} is not usable: use 1 to {MAX_NAME_LENGTH} letters, \
                     digits, underscores or hyphens"
                ),
            ));
        }
        if description.trim().is_empty() {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "tool {name:?} has no description: say what it does, so that a model knows when to call it"
                ),
            ));
        }
        let schema = compile(&name, schema)?;
        Ok(Self {
            name: name.into(),
            description: description.into(),
            schema: Arc::new(schema),
            exclusive: false,
            strict: false,
        })
    }

    /// As [`ToolDefinition::new`], reusing the compiled schema of an equal earlier definition.
    ///
    /// # Errors
    /// As [`ToolDefinition::new`].
    pub fn cached(name: &str, description: &str, input_schema: Value) -> Result<Self> {
        Self::known(name, description, &input_schema)
    }

    /// As [`ToolDefinition::cached`], of a schema that is only copied the first time.
    pub(crate) fn known(name: &str, description: &str, input_schema: &Value) -> Result<Self> {
        cache::fetch(
            "tool",
            name,
            description,
            input_schema,
            |name, text, schema| Self::build(name, text, schema, InputSchema::new),
        )
    }

    /// The definition that stands for a structured result: checked against `schema`, formats included.
    pub(crate) fn for_result(name: &str, description: &str, schema: Value) -> Result<Self> {
        cache::fetch(
            "result",
            name,
            description,
            &schema,
            |name, text, schema| {
                Self::build(name, text, schema, InputSchema::for_result)
                    .map(|built| built.strict(true))
            },
        )
    }

    /// Makes calls take the run-wide exclusive lock.
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        self.exclusive = exclusive;
        self
    }

    /// Asks the provider to enforce the schema while it generates the arguments.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The name the model calls.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model reads about the tool.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the input, as declared.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        self.schema.value()
    }

    /// The schema as a service is told that understands `dialect`.
    pub(crate) fn reduced(&self, dialect: Dialect) -> &Reduced {
        self.schema.reduced(dialect)
    }

    /// Whether calls take the run-wide exclusive lock.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Whether the provider is asked to enforce the schema.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Every violation of the schema by `input`, each starting with a path such as `$.name`.
    #[must_use]
    pub fn violations(&self, input: &Map<String, Value>) -> Vec<String> {
        self.schema.violations(input)
    }

    /// The input as it was meant: a service that enforces a strict tool's schema may give null for
    /// an optional property, because it wants every property to be there. Such nulls are taken
    /// out where the schema does not allow them.
    pub(crate) fn without_nulls<'a>(
        &self,
        input: &'a Map<String, Value>,
    ) -> Cow<'a, Map<String, Value>> {
        if self.strict {
            absence::without_nulls(self.schema.value(), input)
        } else {
            Cow::Borrowed(input)
        }
    }

    /// `{name, description, input_schema}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "name": *self.name, "description": *self.description,
            "input_schema": self.schema.value(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_excludes_objects_is_refused() {
        for schema in [
            json!({"type": "string"}),
            json!({"type": ["null", "array"]}),
        ] {
            let error = ToolDefinition::new("echo", "Echoes.", schema).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.message().contains("excludes objects"), "{error}");
        }
        for schema in [
            json!({"type": ["null", "object"]}),
            json!({"properties": {}}),
            json!({}),
        ] {
            assert!(ToolDefinition::new("echo", "Echoes.", schema).is_ok());
        }
    }
}
