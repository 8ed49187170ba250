//! The tool calls of a program, at most so many at once.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;
use uuid::Uuid;

use crate::code_mode::broker::{Answer, Broker, CallResult};
use crate::error::Result;

/// The most calls that wait for their turn. A program that asks for more is answered at once.
const MOST_WAITING: usize = 1_024;

/// A call as the program made it.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

type Work = Pin<Box<dyn Future<Output = Result<(String, CallResult)>> + Send>>;

/// The tool calls of a program.
pub(super) struct Calls {
    broker: Arc<Broker>,
    most_at_once: usize,
    most: Option<u64>,
    made: u64,
    waiting: VecDeque<Call>,
    running: FuturesUnordered<Work>,
}

impl Calls {
    pub(super) fn new(broker: Arc<Broker>, most_at_once: u64, most: Option<u64>) -> Self {
        Self {
            broker,
            most_at_once: usize::try_from(most_at_once).unwrap_or(usize::MAX).max(1),
            most,
            made: 0,
            waiting: VecDeque::new(),
            running: FuturesUnordered::new(),
        }
    }

    /// Takes a call. One that is over a limit is answered at once.
    pub(super) fn add(&mut self, call: Call) -> Option<CallResult> {
        self.made += 1;
        let refusal = if let Some(most) = self.most.filter(|most| self.made > *most) {
            format!("The program used up its {most} tool calls (tool_calls).")
        } else if self.waiting.len() >= MOST_WAITING {
            format!("The program has more than {MOST_WAITING} tool calls waiting.")
        } else {
            self.waiting.push_back(call);
            self.advance();
            return None;
        };
        Some(CallResult {
            id: call.id,
            answer: Answer::error(refusal),
        })
    }

    fn advance(&mut self) {
        while self.running.len() < self.most_at_once
            && let Some(call) = self.waiting.pop_front()
        {
            let broker = Arc::clone(&self.broker);
            self.running.push(Box::pin(async move {
                let Call {
                    id,
                    name,
                    arguments,
                } = call;
                // The program numbers its calls; others need to tell those of all programs apart.
                let public_id = Uuid::new_v4().to_string();
                let called = broker.call(&name, arguments, public_id).await?;
                let answer = called.answer;
                Ok((name, CallResult { id, answer }))
            }));
        }
    }

    /// The next call that is over, with the name of its tool. Never without running calls.
    pub(super) async fn next(&mut self) -> Result<(String, CallResult)> {
        match self.running.next().await {
            Some(result) => {
                self.advance();
                result
            }
            None => std::future::pending().await,
        }
    }
}
