//! Tools: what a model may call, and what a call returns.

mod absence;
mod cache;
mod context;
mod definition;
mod function;
mod outcome;
mod provider;
mod schema;
mod truncation;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub use context::RunContext;
pub use definition::ToolDefinition;
#[cfg(feature = "schema")]
pub use function::tool;
pub use function::{FunctionTool, IntoTool, ToolFailure, tool_with_schema};
pub(crate) use outcome::{failure_text, input_error_text, unknown_tool_text, value_text};
pub use provider::ToolProvider;
pub use truncation::{
    APPROX_BYTES_PER_TOKEN, approx_bytes_for_tokens, approx_token_count,
    approx_tokens_from_byte_count, truncate_middle_with_token_budget,
};

use crate::error::Result;

/// An operation that a model may call.
///
/// [`tool`] builds one from a typed async closure; implement the trait when a
/// tool has state of its own.
///
/// ```
/// use little_ghost::{Error, Result, RunContext, Tool, ToolDefinition, async_trait};
/// use serde_json::{Map, Value, json};
///
/// struct HelpCenter(ToolDefinition);
///
/// #[async_trait]
/// impl Tool for HelpCenter {
///     fn definition(&self) -> &ToolDefinition {
///         &self.0
///     }
///
///     async fn call(&self, input: Map<String, Value>, _context: &RunContext) -> Result<Value> {
///         match input.get("topic").and_then(Value::as_str) {
///             Some("refunds") => Ok(json!("Refunds are available within 30 days.")),
///             _ => Err(Error::tool("no such topic")),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn definition(&self) -> &ToolDefinition;

    /// Runs the operation. `input` has been checked against the input schema.
    ///
    /// A string is given to the model as it is, null as empty text, anything else as compact
    /// JSON. When the run is cancelled or reaches its deadline, the future is dropped.
    ///
    /// # Errors
    /// [`Error::tool`](crate::Error::tool) for an expected failure whose message the model may
    /// read; of any other error the model sees only the class name. Errors of kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled),
    /// [`DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded) and
    /// [`Cleanup`](crate::ErrorKind::Cleanup) end the run.
    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value>;
}
