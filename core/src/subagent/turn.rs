//! One turn of a subagent: a part of the run.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::answer;
use super::commit::Commit;
use super::declaration::Kind;
use super::event::SubagentEventKind;
use super::identity::{QueuedTurn, Response, Status};
use super::manager::Manager;
use super::messaging::unknown;
use super::observer::Observer;
use super::record::Record;
use crate::agent::PreparedAgent;
use crate::assembly::ask;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, Role};
use crate::panics::caught;
use crate::run::{Opened, Operation, Place, Request, RunCore, RunResult, failure};

/// An agent that is ready for its turn.
pub(super) struct OpenedTurn {
    pub(super) part: Arc<RunCore>,
    pub(super) agent: PreparedAgent,
}

/// What came of a turn.
pub(super) struct Ended {
    pub(super) response: Response,
    /// What the next turn goes on from.
    pub(super) history: Vec<Message>,
    pub(super) state: Map<String, Value>,
    /// What later runs may go on from, if anything.
    pub(super) record: Option<Record>,
}

impl Manager {
    /// Where in the run a turn works.
    pub(super) fn place_of(
        &self,
        path: &Arc<str>,
        conversation_id: &Arc<str>,
        kind: &Kind,
        crowded: bool,
    ) -> Place {
        let mut place = self.run.place.aside(&self.locals);
        place.agent_path = Arc::clone(path);
        place.conversation_id = Some(Arc::clone(conversation_id));
        place.is_durable = kind.persist && self.ledger.is_some();
        place.is_crowded |= crowded;
        place.patience = Some(self.limits.close_timeout);
        place
    }

    /// The part of the run for a turn.
    pub(super) fn part(
        &self,
        place: Place,
        text: &str,
        history: Vec<Message>,
        context: Map<String, Value>,
    ) -> Arc<RunCore> {
        let request = Request {
            message: Message::user(text),
            history,
            context,
            settings: self.run.invocation.settings().clone(),
            deadline: None,
        };
        self.run.part_with(request, place, self.resources.part())
    }

    /// Makes the agent ready. What it opened for a failure is closed.
    pub(super) async fn open_turn(&self, kind: &Kind, part: Arc<RunCore>) -> Result<OpenedTurn> {
        let opening = caught("a subagent", kind.entrypoint.open(&part));
        let opened = match part.bounded(opening).await {
            Ok(Opened::Agent(agent)) => Ok(*agent),
            Ok(Opened::Assembly(other)) => Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "a subagent must be an agent, not the {} {}",
                    other.kind().as_str(),
                    other.id()
                ),
            )),
            Err(error) => Err(error),
        };
        match opened {
            Ok(agent) => {
                part.warn_of_unknown(&*agent.model);
                Ok(OpenedTurn { part, agent })
            }
            Err(error) => {
                part.resources.close().await;
                Err(error)
            }
        }
    }

    /// Takes a turn of the subagent at `path`, which is its active one.
    pub(super) async fn perform(
        self: &Arc<Self>,
        path: &Arc<str>,
        mut turn: QueuedTurn,
    ) -> Result<Ended> {
        let (event, kind, token, before) = self
            .with(path, |identity| {
                let active = identity.active.as_ref();
                (
                    identity.event(SubagentEventKind::TurnStarted),
                    identity.kind.clone(),
                    active
                        .map(|active| active.token.clone())
                        .unwrap_or_default(),
                    identity.record.clone(),
                )
            })
            .ok_or_else(|| unknown(path))?;
        let operation = Operation::start(
            &self.run.outbox,
            "subagent",
            &turn.operation_id,
            turn.parent_operation_id.as_ref(),
            || {
                let mut attributes = event.to_value();
                if let Some(map) = attributes.as_object_mut() {
                    for key in ["event", "operation_id", "parent_operation_id"] {
                        map.remove(key);
                    }
                    map.insert("agent_id".into(), json!(**path));
                }
                attributes
            },
        );
        self.announce_change();
        self.tell(event).await;
        let opened = match turn.opened.take() {
            Some(opened) => Ok(opened),
            None => self.open_next(path, &kind, &turn).await,
        };
        let ended = match opened {
            Ok(opened) => {
                let part = Arc::clone(&opened.part);
                let work = self.answer(path, &turn, &kind, opened, before);
                let mut work = std::pin::pin!(work);
                let worked = tokio::select! {
                    biased;
                    () = token.cancelled() => None,
                    worked = &mut work => Some(worked),
                };
                match worked {
                    Some(worked) => worked,
                    None => {
                        part.token.cancel();
                        work.await
                    }
                }
            }
            Err(error) => Err(error),
        };
        match &ended {
            Ok(_) => operation.finish(|| json!({"outcome": "completed", "status": "idle"})),
            Err(error) => operation.finish(|| failure(error)),
        }
        ended
    }

    async fn open_next(
        &self,
        path: &Arc<str>,
        kind: &Kind,
        turn: &QueuedTurn,
    ) -> Result<OpenedTurn> {
        let (conversation_id, history, state) = self
            .with(path, |identity| {
                (
                    Arc::clone(&identity.conversation_id),
                    identity.history.clone(),
                    identity.state.clone(),
                )
            })
            .ok_or_else(|| unknown(path))?;
        let place = self.place_of(path, &conversation_id, kind, turn.crowded);
        let part = self.part(place, &turn.text, history, state);
        self.open_turn(kind, part).await
    }

    async fn answer(
        self: &Arc<Self>,
        path: &Arc<str>,
        turn: &QueuedTurn,
        kind: &Kind,
        opened: OpenedTurn,
        before: Option<Record>,
    ) -> Result<Ended> {
        let OpenedTurn { part, agent } = opened;
        part.observe(Arc::new(Observer {
            manager: Arc::downgrade(self),
            path: Arc::clone(path),
        }));
        let answered = match part.check() {
            Ok(()) => self.converse(&part, turn, kind, agent).await,
            Err(error) => Err(error),
        };
        if let Some(problem) = part.resources.close().await {
            return Err(problem);
        }
        let (result, state) = answered?;
        self.conclude(path, turn, kind, result, state, before).await
    }

    async fn converse(
        &self,
        part: &Arc<RunCore>,
        turn: &QueuedTurn,
        kind: &Kind,
        agent: PreparedAgent,
    ) -> Result<(Arc<RunResult>, Map<String, Value>)> {
        let asked = ask(part, &turn.operation_id, agent);
        let result = caught("a subagent", asked).await?;
        let state = part.bounded(kind.entrypoint.final_state(part)).await?;
        Ok((result, state))
    }

    async fn conclude(
        &self,
        path: &Arc<str>,
        turn: &QueuedTurn,
        kind: &Kind,
        result: Arc<RunResult>,
        state: Map<String, Value>,
        before: Option<Record>,
    ) -> Result<Ended> {
        let limit = self.limits.max_response_chars;
        let response = answer::response(&result, turn.number, limit).ok_or_else(|| {
            Error::new(
                ErrorKind::StructuredResult,
                format!("the structured result of {path} is longer than {limit} characters"),
            )
        })?;
        let said = result.messages.iter();
        let history = said
            .filter(|message| message.role != Role::System)
            .cloned()
            .collect();
        let record = match self.ledger.as_ref().filter(|_| kind.persist) {
            None => None,
            Some(ledger) => {
                let noted = self.with(path, |identity| {
                    identity.change_to(Status::Persisting);
                    let active = identity.active.as_mut();
                    let interjections =
                        active.map(|active| std::mem::take(&mut active.interjections));
                    (
                        Arc::clone(&identity.conversation_id),
                        interjections.unwrap_or_default(),
                    )
                });
                let (conversation_id, interjections) = noted.ok_or_else(|| unknown(path))?;
                self.announce_change();
                let commit = Commit {
                    path,
                    conversation_id: &conversation_id,
                    kind: &kind.kind,
                    turn: turn.number,
                    before: before.as_ref(),
                    said: answer::transcript(&turn.text, interjections, &result),
                    state: &state,
                };
                Some(ledger.commit(commit).await?)
            }
        };
        Ok(Ended {
            response,
            history,
            state,
            record,
        })
    }
}
