//! What an agent asks of a model, and what a model answers.

mod capabilities;
mod model_stream;
mod request;
mod request_value;
mod response;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub use capabilities::ModelCapabilities;
pub use model_stream::ModelStream;
pub use request::{ModelRequest, OutputSchema, ToolChoice};
pub use response::{ModelResponse, StopReason};

use crate::error::Result;
use crate::run::EventSender;

/// An executable model: a provider connection together with a model id.
///
/// The engine's own implementation is built by a
/// [`ModelResolver`](crate::provider::ModelResolver); applications may write their own.
///
/// ```
/// use std::sync::Arc;
/// use little_ghost::{
///     Agent, EventSender, Message, Model, ModelRequest, ModelResponse, Result, StopReason,
///     StreamEvent, Usage, async_trait,
/// };
///
/// struct Parrot;
///
/// #[async_trait]
/// impl Model for Parrot {
///     fn target(&self) -> &str {
///         "own:parrot"
///     }
///
///     async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
///         let text = request.messages.last().map(Message::text).unwrap_or_default();
///         let model = self.model_id().to_owned();
///         events.send(StreamEvent::MessageStart { id: None, model }).await;
///         events.send(StreamEvent::TextDelta { text: text.clone() }).await;
///         Ok(ModelResponse {
///             message: Message::assistant(text),
///             stop_reason: StopReason::EndTurn,
///             usage: Usage::default(),
///             metadata: Default::default(),
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let parrot: Arc<dyn Model> = Arc::new(Parrot);
/// let agent = Agent::builder("parrot").model(parrot).build()?;
/// assert_eq!(agent.ask("Hello!").await?.response(), "Hello!");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Model: Send + Sync {
    /// Canonical `connection:model-id`.
    fn target(&self) -> &str;

    /// The provider's own identifier, without the connection.
    fn model_id(&self) -> &str {
        self.target()
            .split_once(':')
            .map_or(self.target(), |(_, id)| id)
    }

    /// The role that selected this model, when one did.
    fn role(&self) -> Option<&str> {
        None
    }

    /// What the model can do.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::permissive()
    }

    /// Facts about the model: limits, modalities, prices. Empty when nothing is known.
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }

    /// Paths of what the service cannot be told of a result schema. The engine checks the result
    /// against the whole schema all the same, and warns of the parts.
    fn unsupported_schema(&self, _schema: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Answers one request.
    ///
    /// Implementations send every event from `message_start` to `usage` through `events`, in
    /// order, and return the complete response; the engine itself announces `message_stop`.
    /// Cancellation and the deadline drop the returned future, so an implementation needs to do
    /// nothing about them but hold no resource that outlives the future.
    ///
    /// # Errors
    /// A kind under [`ErrorKind::Provider`](crate::ErrorKind::Provider) for a failed request.
    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse>;
}
