//! JSON Schemas of tool inputs: checked once, then used for every call.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::protocol::schema_dialect::{Dialect, Reduced, Reductions};

/// Violations reported for one input; a model cannot use more than that.
const MAX_VIOLATIONS: usize = 32;

/// Type names of JSON Schema other than `object`.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "null", "number", "string"];

/// A compiled JSON Schema.
#[derive(Debug)]
pub(crate) struct InputSchema {
    value: Value,
    validator: Option<Validator>,
    reductions: Reductions,
}

impl InputSchema {
    pub(crate) fn new(tool: &str, value: Value) -> Result<Self> {
        Self::compile(&format!("input schema of tool {tool:?}"), value, false)
    }

    /// The schema of a structured result, where `format` is a rule and not a remark: what the
    /// provider could not be told is checked here.
    pub(crate) fn for_result(name: &str, value: Value) -> Result<Self> {
        Self::compile(&format!("result schema {name:?}"), value, true)
    }

    fn compile(what: &str, value: Value, formats: bool) -> Result<Self> {
        let Value::Object(map) = &value else {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "{what} must be a JSON Schema object, got {}",
                    kind_of(&value)
                ),
            ));
        };
        if map.is_empty() {
            return Ok(Self {
                value: json!({"type": "object", "properties": {}}),
                validator: None,
                reductions: Reductions::default(),
            });
        }
        let names_object = |kind: &Value| match kind {
            Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
            // What is no type name at all is the validator's to explain.
            Value::String(name) => name == "object" || !TYPES.contains(&name.as_str()),
            _ => true,
        };
        if map.get("type").is_some_and(|kind| !names_object(kind)) {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "{what} excludes objects, but its value always is one: \
                     use \"type\": \"object\" and put the values into properties"
                ),
            ));
        }
        let validator = jsonschema::options()
            .should_validate_formats(formats)
            .build(&value)
            .map_err(|problem| {
                Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "{what} is not a valid JSON Schema: {problem} (at {})",
                        path_of(problem.instance_path())
                    ),
                )
            })?;
        Ok(Self {
            value,
            validator: Some(validator),
            reductions: Reductions::default(),
        })
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// What a service is told of it that understands `dialect`.
    pub(crate) fn reduced(&self, dialect: Dialect) -> &Reduced {
        self.reductions.of(dialect, &self.value)
    }

    pub(crate) fn violations(&self, input: &Map<String, Value>) -> Vec<String> {
        let Some(validator) = &self.validator else {
            return Vec::new();
        };
        let instance = Value::Object(input.clone());
        if validator.is_valid(&instance) {
            return Vec::new();
        }
        validator
            .iter_errors(&instance)
            .take(MAX_VIOLATIONS)
            .map(|error| describe(&error))
            .collect()
    }
}

fn path_of(location: &Location) -> String {
    let mut path = String::from("$");
    for segment in location {
        match segment {
            LocationSegment::Property(name) => {
                path.push('.');
                path.push_str(&name);
            }
            LocationSegment::Index(index) => {
                path.push_str(&format!("[{index}]"));
            }
        }
    }
    path
}

fn quoted(values: &[String]) -> String {
    values
        .iter()
        .map(|value| format!("{value:?}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// One violation in words that help a model to correct the call: a path, then the rule.
fn describe(error: &ValidationError<'_>) -> String {
    let path = path_of(error.instance_path());
    let rule = match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(name) => name.to_string(),
                TypeKind::Multiple(names) => names
                    .iter()
                    .map(|name| name.to_string())
                    .collect::<Vec<_>>()
                    .join(" or "),
            };
            format!("must be {expected}, not {}", kind_of(error.instance()))
        }
        ValidationErrorKind::Enum { options } => format!("must be one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::Required { property } => format!("is missing required key {property}"),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            format!("has keys that are not allowed: {}", quoted(unexpected))
        }
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        ValidationErrorKind::MinLength { limit } => {
            format!("must have at least {limit} characters")
        }
        ValidationErrorKind::MaxLength { limit } => format!("must have at most {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("must have at least {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} items"),
        ValidationErrorKind::Pattern { pattern } => format!("must match the pattern {pattern}"),
        _ => error.to_string(),
    };
    format!("{path} {rule}")
}
