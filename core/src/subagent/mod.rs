//! Subagents: conversations with other agents that a model begins, goes on with, and waits for.
//!
//! A [`Manager`] belongs to one agent at work and gives its model five tools. Each subagent has an
//! [identity](identity::Identity) with a path, a queue of turns and a conversation; each turn is a
//! [part](crate::run::RunCore::part) of the run. With a session, a [`Ledger`](ledger::Ledger) keeps what
//! a later run may go on with.

mod answer;
mod caller;
mod commit;
mod cursor;
mod declaration;
mod event;
mod identity;
mod ledger;
mod limits;
mod listing;
mod manager;
mod messaging;
mod observer;
pub(crate) mod path;
mod record;
mod spawning;
mod stopping;
mod tools;
mod turn;
mod waiting;
mod worker;

pub use declaration::{Subagent, SubagentRequest};
pub use event::{SubagentEvent, SubagentEventKind};
pub use limits::SubagentLimits;

pub(crate) use caller::Caller;
pub(crate) use declaration::{Kind, Resolver, distinct};
pub(crate) use ledger::{
    commit_session_id, conversation_session_id, parent_link, registry_session_id,
};
pub(crate) use manager::{Manager, Settings};
pub(crate) use tools::definitions as tool_definitions;
