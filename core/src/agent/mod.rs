//! The agent loop: ask the model, run its tools, until it answers.

mod ask_options;
mod builder;
mod callback;
mod context_management;
mod contract;
mod conversation;
mod definition;
mod delegation;
mod features;
mod handle;
mod instructions;
mod interjection;
mod invocation;
mod limits;
mod measure;
mod model_call;
mod prepared;
mod programs;
mod selection;
mod structured;
mod tool_batch;
mod tool_call;
mod tool_loop;

pub use ask_options::AskOptions;
pub use builder::AgentBuilder;
pub use callback::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, BeforeInvocation, BeforeModel,
    BeforeTool, Callbacks, Decision, ToolOutcome,
};
pub use context_management::ContextManagement;
pub use handle::Agent;
pub use interjection::{Interjection, InterjectionResponse};
pub use limits::Limits;
pub use selection::{ModelChoice, ModelSelection};
pub use structured::{ResultSchema, ResultStrategy};
pub use tool_loop::ToolLoop;

pub(crate) use callback::CallbackChain;
pub(crate) use contract::Contract;
pub(crate) use conversation::{AgentInput, Conversation};
pub(crate) use features::Features;
pub(crate) use interjection::{Interjections, Ticket};
pub(crate) use invocation::invoke;
pub(crate) use prepared::{PreparedAgent, ToolSet};
pub(crate) use programs::{CodeModePlan, Programs};
#[cfg(feature = "fuzzing")]
pub(crate) use structured::written_result;
