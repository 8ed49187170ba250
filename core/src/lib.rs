//! LLM agents inside ordinary applications.
//!
//! An [`Agent`] is a model with instructions and tools. [`Agent::ask`] answers one request
//! and returns the ended [`Run`]; [`Agent::stream_ask`] yields [`StreamEvent`]s as the answer arrives.
//!
//! ```no_run
//! use futures_util::StreamExt;
//! use little_ghost::{Agent, StreamEvent};
//!
//! # async fn example() -> little_ghost::Result<()> {
//! let support = Agent::builder("customer_support")
//!     .model("openrouter:openai/gpt-5.6-luna")
//!     .system_prompt("Answer customer questions clearly and concisely.")
//!     .build()?;
//!
//! let mut stream = support.stream_ask("Can I get a refund?")?;
//! while let Some(event) = stream.next().await {
//!     if let StreamEvent::TextDelta { text } = event {
//!         print!("{text}");
//!     }
//! }
//! let run = stream.finish().await?;
//! println!("\n{} tokens", run.usage().total_tokens());
//! # Ok(())
//! # }
//! ```
//!
//! Everything a caller can supply is a trait: [`Tool`], [`Model`], [`Provider`](provider::Provider),
//! [`Resource`]. The Ruby gem and the Python package run on this crate through [`host`].

#![warn(missing_docs)]

mod agent;
mod assembly;
pub mod catalog;
pub mod code_mode;
pub mod config;
mod cost;
pub mod credential;
mod deadline;
mod error;
mod event;
mod executor;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod host;
mod http;
pub mod lookup;
mod message;
mod model;
pub mod network;
mod panics;
pub mod prompt;
mod protocol;
pub mod provider;
mod run;
mod runtime;
pub mod sandbox;
mod session;
mod subagent;
pub mod support;
pub mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
mod tool;
pub mod tools;
mod workspace;

pub use agent::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, Agent, AgentBuilder, AskOptions,
    BeforeInvocation, BeforeModel, BeforeTool, Callbacks, ContextManagement, Decision,
    Interjection, InterjectionResponse, Limits, ModelChoice, ModelSelection, ResultSchema,
    ResultStrategy, ToolLoop, ToolOutcome,
};
pub use assembly::{
    AssemblyEvent, AssemblyKind, AssemblyTool, Attempt, Graph, GraphBuilder, GraphEdge, GraphNode,
    GraphState, Participant, Step, StepPolicy, StepStatus, Swarm, SwarmBuilder, SwarmMember,
    Trajectory, Workflow, WorkflowContext, WorkflowInvocation,
};
pub use async_trait::async_trait;
pub use cost::Cost;
pub use deadline::Deadline;
pub use error::{Error, ErrorKind, HostException, Result, Retry};
pub use event::{ModelRetry, StreamEvent};
pub use message::{
    Attachment, Content, Message, Reasoning, Role, ToolResult, ToolResultContent, ToolStatus,
    ToolUse, Usage,
};
pub use model::{
    Model, ModelCapabilities, ModelRequest, ModelResponse, ModelStream, OutputSchema, StopReason,
    ToolChoice,
};
#[cfg(feature = "prompts")]
pub use prompt::PromptResolver;
pub use prompt::TrustedPath;
pub use run::{
    AgentStreamSource, AgentStreamStep, EventSender, Execution, Invocation, InvocationStream,
    Outcome, Resource, Run, RunResult, RunStream, StructuredResult,
};
pub use runtime::{Runtime, RuntimeBuilder};
pub use sandbox::Sandbox;
pub use serde_json::json;
pub use session::{
    FilesystemStore, MemoryStore, Session, SessionGuard, SessionKey, SessionStore, Snapshot,
};
pub use subagent::{Subagent, SubagentEvent, SubagentEventKind, SubagentLimits, SubagentRequest};
pub use tokio_util::sync::CancellationToken;
#[cfg(feature = "schema")]
pub use tool::tool;
pub use tool::{
    APPROX_BYTES_PER_TOKEN, FunctionTool, IntoTool, RunContext, Tool, ToolDefinition, ToolFailure,
    ToolProvider, approx_bytes_for_tokens, approx_token_count, approx_tokens_from_byte_count,
    tool_with_schema, truncate_middle_with_token_budget,
};
pub use workspace::{Workspace, WorkspaceBuilder, WorkspaceProvider, WorkspaceSource};
