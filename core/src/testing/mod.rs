//! A test kit for applications: models that follow a script, recorded exchanges, and failures on demand.
//!
//! It needs the feature `testing`:
//!
//! ```toml
//! [dev-dependencies]
//! little-ghost = { version = "0.1", features = ["testing"] }
//! ```
//!
//! Pick the smallest tool that shows what a test is about:
//!
//! | to test | use | what is real |
//! | --- | --- | --- |
//! | your agents, tools and callbacks | [`ScriptedModel`] | everything but the model |
//! | that prompts and settings still make the requests you looked at | [`Cassette`] | a real answer, recorded once |
//! | retries, timeouts, broken answers | [`Faults`] | everything but the fault |
//!
//! All of them are parts of a [`Runtime`](crate::Runtime), so an agent is tested without a change:
//!
//! ```
//! use little_ghost::testing::{ScriptedModel, Turn};
//! use little_ghost::{Agent, Runtime};
//! use serde_json::json;
//!
//! # mod application {
//! #     pub fn support() -> little_ghost::Result<little_ghost::Agent> {
//! #         let lookup = little_ghost::tool_with_schema(
//! #             "lookup", "Finds the answer to a question.", serde_json::json!({"type": "object"}),
//! #             |_: serde_json::Value, _| async { Ok::<_, little_ghost::Error>("30 days") },
//! #         );
//! #         little_ghost::Agent::builder("support").model("openrouter:some/model").tool(lookup).build()
//! #     }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> little_ghost::Result<()> {
//! let model = ScriptedModel::new([
//!     Turn::tool("lookup", json!({"topic": "refunds"})),
//!     Turn::text("You have 30 days."),
//! ]);
//! let runtime = Runtime::builder().model_override(model.clone()).build()?;
//! let support: Agent = application::support()?.with_runtime(runtime);
//!
//! let run = support.ask("Can I get a refund?").await?;
//!
//! assert_eq!(run.response(), "You have 30 days.");
//! let requests = model.requests();
//! let last = requests[1].messages.last().map(|message| message.to_value());
//! assert_eq!(last.unwrap_or_default()["content"][0]["content"], "30 days");
//! model.verify()?;
//! # Ok(())
//! # }
//! ```
//!
//! What is added to a [`RuntimeBuilder`](crate::RuntimeBuilder) later sees requests earlier: faults over
//! a cassette leave the recorded answers alone, and a cassette over faults records the failures.

mod cassette;
mod faults;
mod plain;
mod scripted_model;
mod turn;
mod turn_value;

#[cfg(feature = "fuzzing")]
pub(crate) use cassette::rewrite;

pub use cassette::{Cassette, CassetteBuilder, CassetteMode};
pub use faults::{Fault, Faults};
pub use scripted_model::ScriptedModel;
pub use turn::Turn;
