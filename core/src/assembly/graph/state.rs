//! What conditions and mappers of a graph see.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::message::Message;
use crate::run::RunResult;

/// What conditions and input mappers see of a request on its way through a graph. A copy: nothing in it
/// changes the graph.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct GraphState {
    /// The request.
    pub input: Message,
    /// The caller's history.
    pub history: Vec<Message>,
    /// The caller's context.
    pub context: Map<String, Value>,
    /// For a condition the node that has just ended, for an input mapper the one that is about to begin.
    pub current: Option<Arc<str>>,
    /// The number of that node's execution, from one.
    pub step: u32,
    /// The failure that an error edge reacts to.
    pub error: Option<Error>,
    pub(super) order: Vec<Arc<str>>,
    pub(super) results: HashMap<Arc<str>, Arc<RunResult>>,
    pub(super) incoming: Vec<Arc<str>>,
}

impl GraphState {
    /// The latest result of the node `name`, if it has ended.
    #[must_use]
    pub fn result(&self, name: &str) -> Option<&Arc<RunResult>> {
        self.results.get(name)
    }

    /// The results of all nodes that have ended, in that order.
    pub fn results(&self) -> impl Iterator<Item = (&str, &Arc<RunResult>)> {
        self.named(&self.order)
    }

    /// The results of the immediate predecessors, in the order of their declaration.
    pub fn incoming_results(&self) -> impl Iterator<Item = (&str, &Arc<RunResult>)> {
        self.named(&self.incoming)
    }

    /// The names of the immediate predecessors, in the order of their declaration.
    pub fn predecessors(&self) -> impl Iterator<Item = &str> {
        self.incoming.iter().map(|name| &**name)
    }

    /// The predecessor's name, when exactly one node led here.
    #[must_use]
    pub fn previous(&self) -> Option<&str> {
        match self.incoming.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The predecessor's result, when exactly one node led here and it has one.
    #[must_use]
    pub fn previous_result(&self) -> Option<&Arc<RunResult>> {
        self.result(self.previous()?)
    }

    fn named<'a>(
        &'a self,
        names: &'a [Arc<str>],
    ) -> impl Iterator<Item = (&'a str, &'a Arc<RunResult>)> {
        names
            .iter()
            .filter_map(|name| Some((&**name, self.results.get(name)?)))
    }

    /// `{input, history, context, results, incoming, current, step, error?}`, as hosts get it.
    pub(crate) fn to_value(&self) -> Value {
        let results: Vec<Value> = self
            .results()
            .map(|(name, result)| json!([name, result.to_value()]))
            .collect();
        let incoming: Vec<&str> = self.incoming.iter().map(|name| &**name).collect();
        json!({
            "input": self.input.to_value(),
            "history": self.history.iter().map(Message::to_value).collect::<Vec<_>>(),
            "context": self.context, "results": results, "incoming": incoming,
            "current": self.current.as_deref(), "step": self.step,
            "error": self.error.as_ref().map(Error::to_value),
        })
    }

    pub(super) fn keep(&mut self, name: &Arc<str>, result: Arc<RunResult>) {
        self.order.retain(|known| known != name);
        self.order.push(Arc::clone(name));
        self.results.insert(Arc::clone(name), result);
    }
}
