//! One top-level execution from start to finish.

mod active;
mod checkpoint;
mod conversation;
mod core;
mod execution;
mod handle;
mod invocation;
mod notice;
mod outbox;
mod outcome;
mod report;
mod resource;
mod result;
mod scope;
mod stream;
mod surroundings;

pub use handle::Run;
pub use invocation::Invocation;
pub use notice::{Instrument, InstrumentPhase, Notice, NoticeLevel};
pub use outbox::{EventSender, Item};
pub use outcome::Outcome;
pub use resource::Resource;
pub use result::{RunResult, StructuredResult};
pub use scope::Scope;
pub use stream::RunStream;

pub(crate) use self::conversation::ConversationHost;
pub(crate) use self::core::{Interruption, RunCore};
pub(crate) use checkpoint::Checkpoint;
pub(crate) use execution::{Entrypoint, execute};
pub(crate) use outbox::Outbox;
pub(crate) use surroundings::RunHooks;
