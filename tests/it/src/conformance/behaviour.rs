//! What the tools of a case do.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use little_ghost::{CancellationToken, Error, HostException};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::case::Behaviour;

/// Nothing waits longer than this: a tool that waits in vain must fail its case.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the tools of one run know of each other.
#[derive(Default)]
pub(super) struct Stage {
    calls: Mutex<Calls>,
    changed: Notify,
}

#[derive(Default)]
struct Calls {
    running: usize,
    met: usize,
    finished: HashSet<String>,
}

/// The part of a run that a tool can reach.
pub(super) trait Surroundings: Sync {
    fn with_state(&self, change: &mut (dyn FnMut(&mut Map<String, Value>) + Send));
    fn token(&self) -> CancellationToken;
}

impl Stage {
    /// Performs `behaviour` as the tool `name`.
    pub(super) async fn perform(
        self: &Arc<Self>,
        name: &str,
        behaviour: &Behaviour,
        input: &Map<String, Value>,
        run: &dyn Surroundings,
    ) -> Result<Value, Error> {
        let running = {
            let mut calls = self.calls.lock();
            calls.running += 1;
            calls.running
        };
        let result = self.act(behaviour, input, run, running).await;
        let mut calls = self.calls.lock();
        calls.running -= 1;
        calls.finished.insert(name.to_owned());
        drop(calls);
        self.changed.notify_waiters();
        result
    }

    async fn act(
        &self,
        behaviour: &Behaviour,
        input: &Map<String, Value>,
        run: &dyn Surroundings,
        running: usize,
    ) -> Result<Value, Error> {
        match behaviour {
            Behaviour::Return(value) => Ok(value.clone()),
            Behaviour::Echo => Ok(input.clone().into()),
            Behaviour::ToolError(message) => Err(Error::tool(message.clone())),
            Behaviour::Raise(foreign) => {
                let exception = HostException {
                    id: 7,
                    class: foreign.class.clone(),
                };
                Err(Error::host(exception, foreign.message.clone()))
            }
            Behaviour::Cancel => Err(Error::cancelled()),
            Behaviour::CancelRun => {
                run.token().cancel();
                std::future::pending().await
            }
            Behaviour::AddState(more) => {
                run.with_state(&mut |state| state.extend(more.clone()));
                Ok(Value::Null)
            }
            Behaviour::ReadState(key) => {
                let mut value = Value::Null;
                run.with_state(&mut |state| value = state.get(key).cloned().unwrap_or_default());
                Ok(value)
            }
            Behaviour::After(other) => {
                self.until(|calls| calls.finished.contains(other)).await;
                Ok(json!(format!("after {other}")))
            }
            Behaviour::Meet(count) => {
                self.calls.lock().met += 1;
                self.changed.notify_waiters();
                self.until(|calls| calls.met >= *count).await;
                Ok(json!("met"))
            }
            Behaviour::Running => Ok(json!(running)),
        }
    }

    async fn until(&self, holds: impl Fn(&Calls) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if holds(&self.calls.lock()) {
                    return;
                }
                changed.await;
            }
        };
        timeout(PATIENCE, wait)
            .await
            .expect("the other tools never came");
    }
}
