//! One file for each exposed class.

mod cancellation_token;
mod catalog;
mod content_capture;
mod credentials;
mod network;
mod program_session;
mod prompt_resolver;
mod redactor;
mod run;
mod runtime;
mod sandbox;
mod session_store;
mod testing;
mod ticket;
mod tool_definition;

pub(crate) use cancellation_token::CancellationToken;
pub(crate) use catalog::{Catalog, Job};
pub(crate) use content_capture::ContentCapture;
pub(crate) use credentials::{AwsCredentialChain, GoogleTokenChain};
pub(crate) use network::{CommandWrapper, NetworkAuthorizer, NetworkGateway, Questions};
pub(crate) use program_session::{ProgramSession, list};
pub(crate) use prompt_resolver::PromptResolver;
pub(crate) use redactor::Redactor;
pub(crate) use run::{
    CALL, CANCELLED, DONE, EVENT, Failure, INSTRUMENT, NOTICE, Outcome, PART_OVER, Run,
    host_failure,
};
pub(crate) use runtime::Runtime;
pub(crate) use sandbox::{Process, Sandbox, Workspace};
pub(crate) use session_store::{SessionStore, StoreCall};
pub(crate) use testing::{Cassette, Faults, ScriptedModel};
pub(crate) use ticket::Ticket;
pub(crate) use tool_definition::ToolDefinition;
