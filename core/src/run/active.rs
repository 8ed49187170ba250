//! The agents at work in a run, as interjections find them.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;

use crate::agent::{Conversation, Interjection, Interjections};
use crate::error::{Error, ErrorKind, Result};

#[derive(Debug)]
struct Active {
    operation_id: Arc<str>,
    parent_operation_id: Arc<str>,
    /// Whether it works for a tool call, so that only those who name it speak to it.
    is_aside: bool,
    interjections: Arc<Interjections>,
}

/// The invocations of a run that take interjections.
#[derive(Debug, Default)]
pub(crate) struct ActiveInvocations(Mutex<Vec<Active>>);

impl ActiveInvocations {
    /// Opens the conversation's queue until the guard is dropped.
    pub(crate) fn enter<'a>(&'a self, conversation: &'a Conversation) -> Attendance<'a> {
        self.0.lock().push(Active {
            operation_id: Arc::clone(&conversation.operation_id),
            parent_operation_id: Arc::clone(&conversation.parent_operation_id),
            is_aside: conversation.run.place.is_aside,
            interjections: Arc::clone(&conversation.interjections),
        });
        Attendance {
            all: self,
            conversation,
        }
    }

    /// The queue that `interjection` belongs into.
    pub(crate) fn find(&self, interjection: &Interjection) -> Result<Arc<Interjections>> {
        let active = self.0.lock();
        let target = interjection.target_operation_id.as_deref();
        let mut matching = active.iter().filter(|entry| match target {
            Some(target) => *entry.parent_operation_id == *target,
            None => !entry.is_aside,
        });
        match (matching.next(), matching.next()) {
            (Some(only), None) => Ok(Arc::clone(&only.interjections)),
            (Some(_), Some(_)) => Err(refused(
                "several agents are at work; say which one by target_operation_id",
            )),
            (None, _) if target.is_none() || active.is_empty() => Err(refused(
                "no agent is at work: interjections are possible from its invocation_start until its answer",
            )),
            (None, _) => Err(refused(
                "no agent is at work under that target_operation_id",
            )),
        }
    }
}

fn refused(problem: &str) -> Error {
    Error::new(ErrorKind::AgentInterjection, problem)
}

/// Keeps an invocation's queue open.
pub(crate) struct Attendance<'a> {
    all: &'a ActiveInvocations,
    conversation: &'a Conversation,
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        self.all
            .0
            .lock()
            .retain(|entry| entry.operation_id != self.conversation.operation_id);
        let run = &self.conversation.run;
        for id in self.conversation.interjections.close() {
            run.outbox.notify(
                "agent_interjection_failed",
                || json!({"interjection_id": id, "event_kind": "interjection"}),
            );
        }
    }
}
