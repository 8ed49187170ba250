//! The agent loop: ask the model, run its tools, until it answers.

mod builder;
mod callback;
mod contract;
mod conversation;
mod invocation;
mod limits;
mod model_call;
mod prepared;
mod selection;
mod tool_batch;
mod tool_call;

pub use builder::{Agent, AgentBuilder, AskOptions};
pub use callback::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, BeforeInvocation, BeforeModel,
    BeforeTool, Callbacks, Decision, ToolOutcome,
};
pub use limits::Limits;
pub use selection::ModelSelection;

pub(crate) use callback::CallbackChain;
pub(crate) use contract::Contract;
pub(crate) use conversation::{AgentInput, Conversation};
pub(crate) use invocation::invoke;
pub(crate) use prepared::{PreparedAgent, ToolSet};
