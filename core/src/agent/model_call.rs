//! One model call of an invocation: callbacks, the exchange, recovery from failures.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Conversation;
use super::contract::{Terms, Verdict};
use super::interjection::Batch;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::{Message, Role, make_whole, readable_by};
use crate::model::{ModelRequest, ModelResponse};
use crate::panics::caught;
use crate::run::EventSender;

/// How often callbacks may recover one model call from failures.
const MAX_RECOVERIES: u32 = 3;

const MODEL: &str = "the model";

/// One model call of an invocation.
pub(super) struct ModelCall<'a> {
    pub(super) conversation: &'a Arc<Conversation>,
    /// Counted from zero.
    pub(super) turn: u32,
    /// The turn that the call belongs to.
    pub(super) operation_id: &'a Arc<str>,
    /// The interjections that the request carries.
    pub(super) interjected: Option<&'a Batch>,
}

/// What came of a model call.
pub(super) struct Reply {
    /// The response, as far as others may see it.
    pub(super) response: Arc<ModelResponse>,
    pub(super) verdict: Verdict,
}

type OptionalTerms = Option<Box<dyn Terms>>;

impl ModelCall<'_> {
    /// Asks the model to go on from `messages`, which callbacks may replace.
    pub(super) async fn make(
        &self,
        messages: &mut Arc<Vec<Message>>,
        terms: &mut OptionalTerms,
    ) -> Result<Reply> {
        let callbacks = &self.conversation.agent.callbacks;
        let context = self.conversation.context();
        let mut settings = None;
        let mut recoveries = 0;
        let mut arrived = self.interjected;
        loop {
            make_whole(messages);
            let mut request = self.request(messages, settings.as_ref(), terms)?;
            if let Some(replaced) = callbacks
                .before_model(&request, self.turn, &context)
                .await?
            {
                *messages = replaced.messages;
                make_whole(messages);
                settings = Some(replaced.settings);
                request = self.request(messages, settings.as_ref(), terms)?;
            }
            self.conversation.run.checkpoint(messages).await?;
            if let Some(batch) = arrived.take() {
                let delivered = StreamEvent::AgentInterjectionDelivered {
                    interjection_ids: batch.ids.clone(),
                    batch_key: batch.batch_key.clone(),
                };
                self.conversation.events.send(delivered).await;
                for id in &batch.ids {
                    let attributes = json!({
                        "interjection_id": id, "event_kind": "interjection",
                        "operation_id": *self.conversation.operation_id,
                    });
                    let run = &self.conversation.run;
                    run.notify("agent_interjection_delivered", attributes);
                }
            }
            let started = StreamEvent::ModelStart { turn: self.turn };
            self.conversation.events.send(started).await;
            let error = match self.measured_exchange(&request, terms).await {
                Ok(response) => return self.conclude(&request, response, terms).await,
                Err(error) => error,
            };
            if recoveries == MAX_RECOVERIES || !is_recoverable(&error) {
                return Err(error);
            }
            recoveries += 1;
            let recovery = callbacks
                .after_model_error(&request, &error, self.turn, &context)
                .await?;
            let Some(replaced) = recovery else {
                return Err(error);
            };
            *messages = replaced.messages;
            settings = Some(replaced.settings);
        }
    }

    fn request(
        &self,
        messages: &Arc<Vec<Message>>,
        settings: Option<&Map<String, Value>>,
        terms: &mut OptionalTerms,
    ) -> Result<ModelRequest> {
        let mut request = self.conversation.request(Arc::clone(messages));
        if let Some(settings) = settings {
            request.settings = settings.clone();
        }
        if let Some(terms) = terms {
            terms.shape(&mut request, self.interjected.is_some())?;
        }
        Ok(request)
    }

    async fn measured_exchange(
        &self,
        request: &ModelRequest,
        terms: &OptionalTerms,
    ) -> Result<Arc<ModelResponse>> {
        let conversation = self.conversation;
        let operation = conversation.measure_model(self.operation_id, self.turn, request);
        let (events, clock) = conversation.events.timed();
        let answered = self.exchange(request, terms, &events).await;
        match &answered {
            Ok(response) => conversation.measured_model(operation, response, clock.elapsed()),
            Err(error) => conversation.fail(operation, error),
        }
        answered
    }

    /// Sends the request. Events of an answer under terms are held back until it is complete.
    async fn exchange(
        &self,
        request: &ModelRequest,
        terms: &OptionalTerms,
        events: &EventSender,
    ) -> Result<Arc<ModelResponse>> {
        self.conversation.price();
        let model = &self.conversation.agent.model;
        let readable =
            readable_by(&request.messages, model.target()).map(|messages| ModelRequest {
                messages: Arc::new(messages),
                ..request.clone()
            });
        let request = readable.as_ref().unwrap_or(request);
        let (response, shown) = match terms {
            None => {
                let response = checked(caught(MODEL, model.stream(request, events)).await?)?;
                (Arc::clone(&response), response)
            }
            Some(_) => {
                let holding = events.holding();
                let answered = caught(MODEL, model.stream(request, &holding)).await;
                let response = checked(answered.map_err(|error| explain(terms, error))?)?;
                let (released, shown) = disclose(terms, &response, holding.take_held());
                for event in released {
                    events.send(event).await;
                }
                (response, shown)
            }
        };
        events
            .send(StreamEvent::MessageStop { response: shown })
            .await;
        Ok(response)
    }

    async fn conclude(
        &self,
        request: &ModelRequest,
        response: Arc<ModelResponse>,
        terms: &mut OptionalTerms,
    ) -> Result<Reply> {
        let context = self.conversation.context();
        let response = self
            .conversation
            .agent
            .callbacks
            .after_model(request, response, self.turn, &context)
            .await?;
        check(&response)?;
        let (_, shown) = disclose(terms, &response, Vec::new());
        let stopped = StreamEvent::ModelStop {
            turn: self.turn,
            response: Arc::clone(&shown),
        };
        self.conversation.events.send(stopped).await;
        let verdict = match terms {
            Some(terms) => terms.judge(&response, self.interjected.is_some())?,
            None => Verdict::Ordinary,
        };
        Ok(Reply {
            response: shown,
            verdict,
        })
    }
}

/// The response, which a model of the application or a callback may have got wrong.
fn checked(response: ModelResponse) -> Result<Arc<ModelResponse>> {
    check(&response)?;
    Ok(Arc::new(response))
}

fn check(response: &ModelResponse) -> Result<()> {
    let role = response.message.role;
    if role == Role::Assistant {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Protocol,
        format!(
            "the message of a model response must be of role assistant, not {}",
            role.as_str()
        ),
    ))
}

fn disclose(
    terms: &OptionalTerms,
    response: &Arc<ModelResponse>,
    held: Vec<StreamEvent>,
) -> (Vec<StreamEvent>, Arc<ModelResponse>) {
    match terms {
        Some(terms) => terms.disclose(response, held),
        None => (held, Arc::clone(response)),
    }
}

fn explain(terms: &OptionalTerms, error: Error) -> Error {
    match terms {
        Some(terms) => terms.explain(error),
        None => error,
    }
}

fn is_recoverable(error: &Error) -> bool {
    ![
        ErrorKind::Cleanup,
        ErrorKind::Cancelled,
        ErrorKind::DeadlineExceeded,
    ]
    .iter()
    .any(|kind| error.is(*kind))
}
