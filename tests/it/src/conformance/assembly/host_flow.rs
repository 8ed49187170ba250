//! What the body of a workflow works with in a host.

use std::collections::HashMap;
use std::sync::Arc;

use little_ghost::host::{HostFailure, HostRun};
use little_ghost::{Error, ErrorKind, HostException, async_trait};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::body::Flow;
use super::cast::kind;
use super::host_table::Table;
use super::template::text_of;

/// The `settled` calls of a run that came, by scope and number.
#[derive(Default)]
pub(super) struct Settlements {
    came: Mutex<HashMap<(u64, u64), Value>>,
    changed: Notify,
}

impl Settlements {
    pub(super) fn put(&self, scope: u64, payload: Value) {
        let number = payload["settled"].as_u64().unwrap();
        self.came.lock().insert((scope, number), payload);
        self.changed.notify_waiters();
    }

    async fn take(&self, scope: u64, number: u64) -> Value {
        loop {
            let changed = self.changed.notified();
            if let Some(payload) = self.came.lock().remove(&(scope, number)) {
                return payload;
            }
            changed.await;
        }
    }
}

/// An exception, as a host sees it.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    class: String,
    message: String,
    status: Option<u16>,
}

impl Fault {
    /// An exception of the application.
    pub(super) fn boom(message: &str) -> Self {
        Self {
            class: "Boom".into(),
            message: message.into(),
            status: None,
        }
    }

    /// Of an error as the engine tells it.
    pub(super) fn of(error: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            class: text(error.get("host_class").unwrap_or(&error["kind"])),
            message: text(&error["message"]),
            status: error["status"]
                .as_u64()
                .and_then(|status| u16::try_from(status).ok()),
        }
    }

    /// Whether it is of that class, or of one below.
    pub(super) fn is(&self, class: &str) -> bool {
        let mut own = kind(&self.class);
        while let Some(candidate) = own {
            if candidate.name() == class {
                return true;
            }
            own = candidate.parent();
        }
        self.class == class
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::of(&error.to_value())
    }
}

impl From<Fault> for HostFailure {
    fn from(fault: Fault) -> Self {
        Self {
            kind: kind(&fault.class).unwrap_or(ErrorKind::Host),
            exception: HostException {
                id: 1,
                class: fault.class,
            },
            message: fault.message,
            status: fault.status,
            body: None,
        }
    }
}

/// What the body of one `perform` call works with.
pub(super) struct HostFlow {
    pub(super) run: Arc<HostRun>,
    pub(super) table: Arc<Table>,
    pub(super) settlements: Arc<Settlements>,
    /// The payload of the call.
    pub(super) asked: Value,
}

impl HostFlow {
    fn scope(&self) -> u64 {
        self.asked["scope"].as_u64().unwrap_or_default()
    }
}

#[async_trait]
impl Flow for HostFlow {
    type Call = u64;
    type Failure = Fault;

    fn invoke(&self, spec: &Value, input: Option<String>) -> Result<u64, Fault> {
        let call = json!({
            "participant": self.table.describe(spec["run"].as_str().unwrap()), "name": spec.get("as"),
            "message": input, "history": spec.get("history"), "context": spec.get("context"),
            "policy": self.table.policy(spec),
        });
        Ok(self.run.invoke(self.scope(), &call)?)
    }

    async fn read(&self, ticket: u64) -> Result<Value, Fault> {
        Ok(self.parallel(vec![ticket], 1).await?.remove(0))
    }

    async fn parallel(
        &self,
        tickets: Vec<u64>,
        max_concurrency: usize,
    ) -> Result<Vec<Value>, Fault> {
        let number = self.run.settle(self.scope(), &tickets, max_concurrency)?;
        let mut payload = self.settlements.take(self.scope(), number).await;
        match payload.get("error") {
            Some(error) => Err(Fault::of(error)),
            None => Ok(serde_json::from_value(payload["outputs"].take()).unwrap()),
        }
    }

    fn given(&self, name: &str, key: &str) -> Option<Value> {
        Some(match name {
            "input" => json!(text_of(&self.asked["message"])),
            "history" => self.asked["history"]
                .as_array()?
                .iter()
                .map(text_of)
                .collect(),
            "context" => self.asked["context"][key].clone(),
            _ => return None,
        })
    }

    fn is(&self, failure: &Fault, class: &str) -> bool {
        failure.is(class)
    }

    fn class(&self, failure: &Fault) -> String {
        failure.class.clone()
    }

    fn boom(&self, message: &str) -> Fault {
        Fault::boom(message)
    }
}
