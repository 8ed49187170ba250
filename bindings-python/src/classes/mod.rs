//! One file for each exposed class.

mod cancellation_token;
mod run;
mod runtime;
mod session_store;
mod tool_definition;

pub(crate) use cancellation_token::CancellationToken;
pub(crate) use run::{CALL, CANCELLED, DONE, EVENT, Failure, Run, host_failure};
pub(crate) use runtime::Runtime;
pub(crate) use session_store::{SessionStore, StoreCall};
pub(crate) use tool_definition::ToolDefinition;
