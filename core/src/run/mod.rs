//! One top-level execution from start to finish.

mod active;
mod agent_stream;
mod background;
mod checkpoint;
mod conversation;
mod core;
mod event_sender;
mod execution;
mod handle;
mod invocation;
mod invocation_stream;
mod measurements;
mod notice;
mod operation;
mod outbox;
mod outcome;
mod report;
mod resource;
mod result;
mod scope;
mod stream;
mod surroundings;
mod tally;

pub use agent_stream::AgentStreamSource;
pub use background::Execution;
pub use event_sender::EventSender;
pub use handle::Run;
pub use invocation::Invocation;
pub use invocation_stream::InvocationStream;
pub use notice::{Instrument, InstrumentPhase, Notice, NoticeLevel};
pub use outbox::Item;
pub use outcome::Outcome;
pub use resource::Resource;
pub use result::{RunResult, StructuredResult};
pub use scope::Scope;
pub use stream::RunStream;

pub(crate) use self::conversation::ConversationHost;
pub(crate) use self::core::{Interruption, RunCore};
pub(crate) use checkpoint::Checkpoint;
pub(crate) use execution::{Entrypoint, execute};
pub(crate) use operation::{Operation, failure, with_usage};
pub(crate) use outbox::Outbox;
pub(crate) use surroundings::RunHooks;
