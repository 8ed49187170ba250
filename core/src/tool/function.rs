//! Tools from closures.

use std::any::type_name;
use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::outcome::input_error_text;
use super::{RunContext, Tool, ToolDefinition};
use crate::error::{Error, ErrorKind, HostException, Result};

type BoxedCall = dyn Fn(Map<String, Value>, RunContext) -> Pin<Box<dyn Future<Output = Result<Value>> + Send>>
    + Send
    + Sync;

/// A tool made from a closure; see [`tool`](crate::tool).
pub struct FunctionTool {
    definition: ToolDefinition,
    call: Box<BoxedCall>,
}

impl FunctionTool {
    /// Makes calls take the run-wide exclusive lock, so that they never overlap.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.definition = self.definition.exclusive(true);
        self
    }
}

impl std::fmt::Debug for FunctionTool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FunctionTool")
            .field("name", &self.definition.name())
            .finish()
    }
}

#[async_trait]
impl Tool for FunctionTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        (self.call)(input, context.clone()).await
    }
}

/// What a closure may fail with: an [`Error`], or any other error of the application.
pub trait ToolFailure {
    /// The engine's error. Errors that are not [`Error`] keep their text from the model.
    fn into_error(self) -> Error;
}

impl<E> ToolFailure for E
where
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    fn into_error(self) -> Error {
        let boxed: Box<dyn StdError + Send + Sync> = self.into();
        match boxed.downcast::<Error>() {
            Ok(error) => *error,
            Err(foreign) => {
                let name = type_name::<E>();
                let class = name.rsplit("::").next().unwrap_or(name).to_owned();
                Error::host(HostException { id: 0, class }, foreign.to_string())
            }
        }
    }
}

/// Builds a tool from a typed async closure; the input schema comes from the input type.
///
/// ```
/// use little_ghost::{Error, RunContext, tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Lookup {
///     /// What to look up.
///     topic: String,
/// }
///
/// let help_center = tool(
///     "help_center_lookup",
///     "Look up a help center entry by topic.",
///     |input: Lookup, _context: RunContext| async move {
///         match input.topic.as_str() {
///             "refunds" => Ok("Refunds are available within 30 days."),
///             _ => Err(Error::tool("no such topic")),
///         }
///     },
/// )?;
/// # Ok::<(), little_ghost::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Configuration`] as [`ToolDefinition::new`].
#[cfg(feature = "schema")]
pub fn tool<Input, Output, Failure, Call, Answer>(
    name: impl Into<String>,
    description: impl Into<String>,
    call: Call,
) -> Result<FunctionTool>
where
    Input: DeserializeOwned + schemars::JsonSchema + Send + 'static,
    Output: Serialize,
    Failure: ToolFailure,
    Call: Fn(Input, RunContext) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = std::result::Result<Output, Failure>> + Send + 'static,
{
    let mut schema = schemars::schema_for!(Input).to_value();
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("$schema");
        map.shift_remove("title");
    }
    tool_with_schema(name, description, schema, call)
}

/// Builds a tool from an async closure and an explicit JSON Schema.
///
/// # Errors
/// [`ErrorKind::Configuration`] as [`ToolDefinition::new`].
pub fn tool_with_schema<Input, Output, Failure, Call, Answer>(
    name: impl Into<String>,
    description: impl Into<String>,
    input_schema: Value,
    call: Call,
) -> Result<FunctionTool>
where
    Input: DeserializeOwned + Send + 'static,
    Output: Serialize,
    Failure: ToolFailure,
    Call: Fn(Input, RunContext) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = std::result::Result<Output, Failure>> + Send + 'static,
{
    let definition = ToolDefinition::new(name, description, input_schema)?;
    let boxed = move |input: Map<String, Value>, context: RunContext| {
        let answer = serde_json::from_value(Value::Object(input))
            .map_err(|problem| Error::tool(input_error_text(&[problem.to_string()])))
            .map(|input| call(input, context));
        Box::pin(async move {
            let value = answer?.await.map_err(ToolFailure::into_error)?;
            serde_json::to_value(value).map_err(|problem| {
                Error::new(
                    ErrorKind::Error,
                    format!("the tool's value is not JSON: {problem}"),
                )
            })
        }) as Pin<Box<dyn Future<Output = Result<Value>> + Send>>
    };
    Ok(FunctionTool {
        definition,
        call: Box::new(boxed),
    })
}

/// Anything an agent builder takes as a tool.
pub trait IntoTool {
    /// The tool, or why there is none.
    ///
    /// # Errors
    /// What building the tool failed with.
    fn into_tool(self) -> Result<Arc<dyn Tool>>;
}

impl<T: Tool + 'static> IntoTool for T {
    fn into_tool(self) -> Result<Arc<dyn Tool>> {
        Ok(Arc::new(self))
    }
}

impl IntoTool for Arc<dyn Tool> {
    fn into_tool(self) -> Result<Arc<dyn Tool>> {
        Ok(self)
    }
}

impl<T: IntoTool> IntoTool for Result<T> {
    fn into_tool(self) -> Result<Arc<dyn Tool>> {
        self.and_then(IntoTool::into_tool)
    }
}
