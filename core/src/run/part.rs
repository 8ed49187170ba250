//! A part of a run: what a participant of it has for itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value};

use super::Conversation;
use super::core::RunCore;
use super::place::Place;
use super::resource::Resources;
use crate::deadline::Deadline;
use crate::message::Message;

/// What a participant is asked, and with what.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) message: Message,
    pub(crate) history: Vec<Message>,
    /// Starts its state, which is its own.
    pub(crate) context: Map<String, Value>,
    pub(crate) settings: Map<String, Value>,
    /// When its time is up, never after the run's.
    pub(crate) deadline: Option<Deadline>,
}

impl RunCore {
    /// A part of this run that answers `request`. It has a state, a clock, an account and resources of its
    /// own; whoever makes it closes its resources. Cancelling it leaves the run at work.
    pub(crate) fn part(self: &Arc<Self>, request: Request, place: Place) -> Arc<Self> {
        self.part_with(request, place, self.root().resources.part())
    }

    /// As [`part`](Self::part), with `resources` that somebody else closes if the maker cannot.
    pub(crate) fn part_with(
        self: &Arc<Self>,
        request: Request,
        mut place: Place,
        resources: Resources,
    ) -> Arc<Self> {
        let root = Arc::clone(self.root());
        place.scope = root.scopes.fetch_add(1, Ordering::Relaxed) + 1;
        let deadline = match (request.deadline, self.invocation.deadline()) {
            (Some(own), Some(around)) => Some(own.earlier(around)),
            (own, around) => own.or(around),
        };
        let invocation = self.invocation.for_part(
            request.message,
            request.history,
            request.context,
            request.settings,
            deadline,
        );
        let token = self.work.child_token();
        Arc::new(Self {
            runtime: Arc::clone(&self.runtime),
            state: parking_lot::Mutex::new(invocation.context().clone()),
            invocation,
            work: token.child_token(),
            token,
            shutdown: self.shutdown.clone(),
            outbox: Arc::clone(&self.outbox),
            account: self.account.part(),
            operation_id: self.operation_id.clone(),
            resources,
            conversation: Conversation::default(),
            exclusive: Arc::clone(&self.exclusive),
            active: Arc::clone(&self.active),
            place,
            premises: parking_lot::Mutex::new(self.premises()),
            root: Some(root),
            scopes: 0.into(),
            hold: std::sync::OnceLock::new(),
            observer: std::sync::OnceLock::new(),
            hooks: self.hooks.clone(),
            checkpoint: parking_lot::Mutex::default(),
            result: parking_lot::Mutex::default(),
            ending: parking_lot::Mutex::default(),
            interruption: parking_lot::Mutex::default(),
            started: true.into(),
        })
    }
}
