//! What an application declares about its result.

use serde_json::{Map, Value};

use super::close::close;
use super::keywords::check;
use super::shaping::Structured;
use super::strategy::ResultStrategy;
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::model::ModelCapabilities;
use crate::tool::ToolDefinition;

/// The longest result name that providers accept.
const MAX_NAME_LENGTH: usize = 64;

/// The result that an agent must return: a JSON object of a declared shape.
///
/// The schema's top level must be an object. Every object must set `additionalProperties` to false and
/// list all its properties in `required`; a value that may be absent is one that may be null.
///
/// ```
/// use little_ghost::{Agent, ResultSchema};
/// use serde_json::json;
///
/// let triage = Agent::builder("triage")
///     .result_schema(ResultSchema::new(json!({
///         "type": "object",
///         "properties": {"urgent": {"type": "boolean"}},
///         "required": ["urgent"],
///         "additionalProperties": false,
///     })).name("support_triage"))
///     .build()?;
/// # Ok::<(), little_ghost::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a schema does nothing until an agent has it"]
pub struct ResultSchema {
    schema: Value,
    name: Option<String>,
    description: Option<String>,
    strategy: ResultStrategy,
}

impl ResultSchema {
    /// A result of this JSON Schema. It is checked when the agent is built.
    pub fn new(schema: Value) -> Self {
        Self {
            schema,
            name: None,
            description: None,
            strategy: ResultStrategy::Auto,
        }
    }

    /// A result of a schema that was derived from a type: its objects are closed, and all their
    /// properties required.
    pub fn derived(schema: Value) -> Self {
        Self::new(close(schema))
    }

    /// A result that is read into `T`; see [`Run::output`](crate::Run::output).
    #[cfg(feature = "schema")]
    pub fn of<T: schemars::JsonSchema>() -> Self {
        let mut schema = schemars::schema_for!(T).to_value();
        let mut described = None;
        if let Some(map) = schema.as_object_mut() {
            map.shift_remove("$schema");
            map.shift_remove("title");
            described = map.shift_remove("description");
        }
        let mut result = Self::derived(schema);
        result.description = described.and_then(|text| text.as_str().map(str::to_owned));
        result
    }

    /// Names the result: 1 to 64 letters, digits, underscores or hyphens. By default
    /// `<agent id>_result`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Says what the result is for, as the model reads it.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Insists on one strategy.
    pub fn strategy(mut self, strategy: ResultStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Reads `{schema, name?, description?, strategy?, derived?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown key, a value of a wrong type or an unusable schema.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(unusable(format!(
                "must be an object, not {}",
                kind_of(value)
            )));
        };
        const KEYS: [&str; 5] = ["schema", "name", "description", "strategy", "derived"];
        if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(unusable(format!(
                "unknown key {key:?}; use {}",
                KEYS.join(", ")
            )));
        }
        let schema = map.get("schema").cloned().unwrap_or_default();
        let mut result = if map.get("derived") == Some(&Value::Bool(true)) {
            Self::derived(schema)
        } else {
            Self::new(schema)
        };
        result.name = text(map, "name")?;
        result.description = text(map, "description")?;
        if let Some(strategy) = text(map, "strategy")? {
            result.strategy = ResultStrategy::from_name(&strategy).ok_or_else(|| {
                unusable(format!(
                    "unknown strategy {strategy:?}; use auto, provider or tool"
                ))
            })?;
        }
        result.check()?;
        Ok(result)
    }

    /// `{schema, name, description, strategy}`, with the schema as it is enforced.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::json!({
            "schema": self.schema, "name": self.name, "description": self.description,
            "strategy": self.strategy.as_str(),
        })
    }

    /// Checks the declaration as far as that is possible without a model.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] with the path of the offending part.
    pub fn check(&self) -> Result<()> {
        self.definition("agent").map(drop)
    }

    /// Chooses the strategy for an agent called `agent_id` with these tools on this model.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unusable schema, a tool of the result's name or a model
    /// that cannot give the result.
    pub(crate) fn bind(
        &self,
        agent_id: &str,
        capabilities: &ModelCapabilities,
        target: &str,
        mut tools: impl Iterator<Item = impl AsRef<str>>,
    ) -> Result<Structured> {
        let definition = self.definition(agent_id)?;
        let first = tools.next();
        let has_tools = first.is_some();
        let clash = |tool: &dyn AsRef<str>| tool.as_ref() == definition.name();
        if first.as_ref().is_some_and(|tool| clash(tool)) || tools.any(|tool| clash(&tool)) {
            return Err(collision(definition.name()));
        }
        let strategy = self
            .strategy
            .choose(capabilities, target, has_tools)
            .map_err(unusable)?;
        Ok(Structured::new(
            definition,
            self.description.clone(),
            strategy,
        ))
    }

    fn definition(&self, agent_id: &str) -> Result<ToolDefinition> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => default_name(agent_id),
        };
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.bytes().all(allowed) {
            return Err(unusable(format!(
                "the name {name:?} is not usable: use 1 to {MAX_NAME_LENGTH} letters, digits, \
                 underscores or hyphens"
            )));
        }
        check(&self.schema).map_err(unusable)?;
        let described = self
            .description
            .as_deref()
            .filter(|text| !text.trim().is_empty());
        let description = described.unwrap_or(
            "Submits the final result. Call it exactly once, as the last action and without any \
             other call, when the work is done.",
        );
        ToolDefinition::for_result(&name, description, self.schema.clone())
    }
}

impl From<Value> for ResultSchema {
    fn from(schema: Value) -> Self {
        Self::new(schema)
    }
}

/// An ordinary tool has the name of the result.
pub(super) fn collision(name: &str) -> Error {
    unusable(format!(
        "a tool is called {name:?} like the result; give one of them another name"
    ))
}

/// `<agent id>_result`, made of what a name may have.
fn default_name(agent_id: &str) -> String {
    const SUFFIX: &str = "_result";
    let kept = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '-' => letter,
        _ => '_',
    };
    let stem: String = agent_id
        .chars()
        .map(kept)
        .take(MAX_NAME_LENGTH - SUFFIX.len())
        .collect();
    stem + SUFFIX
}

fn text(map: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(unusable(format!(
            "{key} must be a string, not {}",
            kind_of(other)
        ))),
    }
}

fn unusable(problem: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("result schema: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> ResultSchema {
        ResultSchema::new(json!({"type": "object", "additionalProperties": false}))
    }

    #[test]
    fn names_are_checked_and_may_not_clash() {
        assert!(schema().name("a b").check().is_err());
        assert!(schema().name("a".repeat(65)).check().is_err());
        assert_eq!(
            default_name("support desk::triage"),
            "support_desk__triage_result"
        );
        assert_eq!(default_name(&"x".repeat(80)).len(), 64);
        let error = schema()
            .bind(
                "triage",
                &ModelCapabilities::permissive(),
                "c:m",
                ["triage_result"].iter(),
            )
            .unwrap_err();
        assert!(error.message().contains("another name"), "{error}");
    }

    #[test]
    fn declarations_of_hosts_are_checked() {
        let good = json!({"type": "object", "additionalProperties": false});
        assert!(ResultSchema::from_value(&json!({"schema": good, "strategy": "tool"})).is_ok());
        for bad in [
            json!([]),
            json!({}),
            json!({"schema": good, "strict": true}),
            json!({"schema": good, "strategy": "guess"}),
            json!({"schema": good, "name": 3}),
        ] {
            let error = ResultSchema::from_value(&bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{bad}");
        }
    }
}
