//! The only door to Ruby and Python.
//!
//! Core never calls into a host language. Everything a host supplies is a trait
//! object here; a channel turns each use of it into a [`HostCall`] item in the run's
//! queue and awaits the answer. The host drains the queue with [`HostRun::drain`], runs user
//! code on its own thread, fiber or task, and answers with [`HostRun::complete`].

mod assembly;
mod assembly_code;
mod assembly_fields;
mod callbacks;
mod channel;
mod code_mode;
mod credentials;
mod current;
mod door;
mod dormant;
mod entrypoint;
mod hooks;
mod inquiry;
mod job;
mod model;
mod model_event;
mod models;
mod network;
mod participant;
mod parts;
mod questions;
mod run;
mod sandbox;
mod session;
mod signal;
mod start;
mod store;
mod subagents;
mod substitute;
mod substituted_model;
mod ticket;
mod transport;
mod workflow;

pub use assembly::{check_assembly, check_nesting};
pub use channel::{HostCall, HostCallKind, HostFailure};
pub use code_mode::{
    HostProgramSession, code_mode_catalog, code_mode_check, code_mode_instructions,
    code_mode_limits,
};
pub use credentials::{HostAwsCredentials, HostGoogleCredentials, Patience};

pub use inquiry::HostInquiry;
pub use job::HostJob;
pub use models::{ModelRegistration, register_model};
pub use network::{HostAuthorizer, HostGateway, network_decision, network_request};
pub use questions::HostQuestions;
pub use run::{HostRun, RunReport};
pub use sandbox::{
    HostCommandWrapper, ProcessHandle, SandboxHandle, WorkspaceHandle, intersect_capabilities,
    normalize_sandbox_value, probe_sandbox, sandbox_feature, sandbox_tools, start_process,
};
pub use session::SessionOptions;
pub use signal::WakeSignal;
pub use start::HostStart;
pub use store::{HostStore, StoreCall, persistable_messages, plan_write};
pub use subagents::{
    agent_path, check_subagent_limits, subagent_limits, subagent_session, subagent_tools,
};
pub use ticket::HostTicket;

pub(crate) use current::inherit;
#[cfg(feature = "testing")]
pub(crate) use current::scripted_turn;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::message::Message;
pub use crate::run::{Instrument, InstrumentPhase, Item, Notice, NoticeLevel, Scope};

/// Refuses a conversation, an array of messages, with attachments that a model is known not to take.
///
/// # Errors
/// [`UnsupportedInput`](crate::ErrorKind::UnsupportedInput), or what a message that is none gives.
pub fn check_attachments(messages: &Value, details: &crate::catalog::ModelDetails) -> Result<()> {
    let messages: Vec<Message> = match messages {
        Value::Array(messages) => messages
            .iter()
            .map(Message::from_value)
            .collect::<Result<_>>()?,
        _ => Vec::new(),
    };
    crate::provider::check_modalities(&messages, details)
}

/// What a model reads about a failed call: the message of a `ToolError`, else the class name.
#[must_use]
pub fn tool_failure_text(error: &Error) -> String {
    crate::tool::failure_text(error)
}

/// What a model reads about input that violates the schema.
#[must_use]
pub fn tool_input_error_text(violations: &[String]) -> String {
    crate::tool::input_error_text(violations)
}

/// What a model reads of a tool's value.
#[must_use]
pub fn tool_value_text(value: &Value) -> String {
    crate::tool::value_text(value)
}

/// Checks what an agent declares before there is a run: `{result_schema?, context_management?,
/// tool_loop?}`, as the entrypoint answers them.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for an unusable result schema,
/// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for an option out of range.
pub fn check_agent(declared: &Map<String, Value>) -> Result<()> {
    crate::agent::Features::from_map(declared).map(drop)
}

/// Cancels every host run of this process; for interpreter exit.
pub fn cancel_all() {
    crate::executor::cancel_all();
}

/// Panics, so that a binding can prove that a panic becomes an exception.
#[expect(clippy::panic, reason = "panicking is its purpose")]
pub fn provoke_panic() {
    panic!("provoked by a test");
}

/// Called in a forked child. Threads and connections of the parent are keyed by its pid and are
/// never touched here; what is left to do is to let go of the parent's session locks.
pub fn after_fork_in_child() {
    crate::session::forget_locks_in_child();
}
