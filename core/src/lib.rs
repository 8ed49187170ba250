//! Agents, tools and streaming for ordinary applications.
mod deadline;
mod error;
mod event;
pub mod host;
mod http;
mod message;
mod model;
mod protocol;
pub mod provider;
mod run;
mod tool;

pub use deadline::Deadline;
pub use error::{Error, ErrorKind, HostException, Result, Retry};
pub use event::{ModelRetry, StreamEvent};
pub use message::{
    Attachment, Content, Message, Reasoning, Role, ToolResult, ToolResultContent, ToolStatus,
    ToolUse, Usage,
};
pub use model::{
    Model, ModelCapabilities, ModelRequest, ModelResponse, OutputSchema, StopReason, ToolChoice,
};
pub use run::{EventSender, RunResult};
pub use tool::ToolDefinition;
