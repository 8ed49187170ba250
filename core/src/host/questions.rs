//! Questions to objects of a host that no run is around.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::RawFd;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;

use super::channel::HostFailure;
use super::signal::WakeSignal;
use crate::error::{Error, ErrorKind, Result};

/// Questions of the engine to an object of the application that lives beside runs, such as what decides about network
/// requests. A thread of the host waits for the descriptor, drains, and answers by number.
pub struct HostQuestions {
    signal: WakeSignal,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    asked: Vec<(u64, Value)>,
    waiting: HashMap<u64, oneshot::Sender<Result<Value>>>,
    closed: bool,
}

impl HostQuestions {
    /// No questions yet.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when the process is out of descriptors.
    pub fn new() -> Result<Arc<Self>> {
        let signal = WakeSignal::new().map_err(|problem| {
            Error::new(
                ErrorKind::Error,
                format!("cannot open a descriptor: {problem}; raise the limit of open files"),
            )
        })?;
        Ok(Arc::new(Self {
            signal,
            state: Mutex::default(),
        }))
    }

    /// The descriptor to wait on. It is readable when there are questions, and at the end.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.signal.fd()
    }

    /// The questions since the last time, `None` at the end.
    #[must_use]
    pub fn drain(&self) -> Option<Vec<(u64, Value)>> {
        self.signal.clear();
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        Some(std::mem::take(&mut state.asked))
    }

    /// Answers a question. An answer that nobody waits for any more is ignored.
    pub fn complete(&self, id: u64, answer: Result<Value, HostFailure>) {
        let waiting = self.state.lock().waiting.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer.map_err(Error::from));
        }
    }

    /// Ends it: whoever waits for an answer fails, and so does whoever asks later.
    pub fn close(&self) {
        let given_up = {
            let mut state = self.state.lock();
            state.closed = true;
            state.asked.clear();
            std::mem::take(&mut state.waiting)
        };
        // Outside the lock: each dropped sender wakes the task that waits.
        drop(given_up);
        self.signal.wake();
    }

    /// Begins anew after [`close`](Self::close).
    pub fn reopen(&self) {
        self.state.lock().closed = false;
    }

    /// Asks, and waits for the answer. Dropping the future withdraws the question.
    pub(crate) async fn ask(&self, question: Value) -> Result<Value> {
        let (answer, receiver) = oneshot::channel();
        let id = {
            let mut state = self.state.lock();
            if state.closed {
                return Err(ended());
            }
            state.next += 1;
            let id = state.next;
            state.asked.push((id, question));
            state.waiting.insert(id, answer);
            id
        };
        let _withdrawn = Withdrawn {
            questions: self,
            id,
        };
        self.signal.wake();
        receiver.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// Forgets a question whose answer nobody waits for.
struct Withdrawn<'a> {
    questions: &'a HostQuestions,
    id: u64,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        let mut state = self.questions.state.lock();
        state.waiting.remove(&self.id);
        state.asked.retain(|(id, _)| *id != self.id);
    }
}

fn ended() -> Error {
    Error::new(
        ErrorKind::Error,
        "the application's part of the sandbox is closed; open the sandbox, or the gateway, first",
    )
}

impl fmt::Debug for HostQuestions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostQuestions")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn answers_find_their_questions() {
        let questions = HostQuestions::new().unwrap();
        let host = async {
            loop {
                let asked = questions.drain().unwrap();
                for (id, question) in asked.into_iter().rev() {
                    questions.complete(id, Ok(json!([question])));
                    questions.complete(id, Ok(json!("late")));
                }
                tokio::task::yield_now().await;
            }
        };
        let both = async { tokio::join!(questions.ask(json!(1)), questions.ask(json!(2))) };
        let (one, two) =
            tokio::select! { answers = both => answers, () = host => panic!("it never ends") };
        assert_eq!((one.unwrap(), two.unwrap()), (json!([1]), json!([2])));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_asked() {
        let questions = HostQuestions::new().unwrap();
        let waited = tokio::time::timeout(std::time::Duration::ZERO, questions.ask(json!(1))).await;
        assert!(waited.is_err());
        assert_eq!(questions.drain(), Some(Vec::new()));
    }

    #[tokio::test]
    async fn the_end_is_told_to_both_sides() {
        let questions = HostQuestions::new().unwrap();
        let (answer, ()) = tokio::join!(questions.ask(json!(1)), async { questions.close() });
        assert!(answer.is_err() && questions.ask(json!(2)).await.is_err());
        assert_eq!(questions.drain(), None);
    }
}
