//! A case, as it is written in a file.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use little_ghost::{Runtime, Session, Snapshot};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::case::{ErrorSpec, SessionSpec, Step};

/// One case. Unknown fields are refused, so that a misspelt expectation cannot pass unnoticed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssemblyCase {
    /// Unique over all files.
    pub name: String,
    /// Why it matters, in one sentence.
    pub about: String,
    /// `"hosts"`: what Rust's types rule out.
    pub only: Option<String>,
    #[serde(default)]
    pub(super) agents: Map<String, Value>,
    #[serde(default)]
    pub(super) assemblies: Map<String, Value>,
    /// The agent or assembly that is asked.
    pub(super) ask: String,
    pub(super) session: Option<SessionSpec>,
    pub(super) invocation: Option<InvocationSpec>,
    #[serde(default)]
    pub(super) answers: Map<String, Value>,
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    pub(super) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InvocationSpec {
    pub(super) message: Value,
    #[serde(default)]
    history: Vec<Value>,
    #[serde(default)]
    settings: Map<String, Value>,
    #[serde(default)]
    pub(super) context: Map<String, Value>,
    pub(super) session_id: Option<String>,
    deadline_in: Option<f64>,
    /// Left to the door when it is `"default"`.
    #[serde(default)]
    pub(super) include_agent_events: Value,
}

impl InvocationSpec {
    /// Whether the events of every agent are asked for, wrapped; `None` leaves it to the door.
    pub(super) fn agent_events(&self) -> Option<bool> {
        (self.include_agent_events != "default").then_some(self.include_agent_events == true)
    }

    /// The payload that hosts send, with an absolute deadline.
    pub(super) fn payload(&self) -> Value {
        let mut payload = json!({
            "message": self.message, "history": self.history,
            "settings": self.settings, "context": self.context,
        });
        if let Some(id) = &self.session_id {
            payload["session_id"] = json!(id);
        }
        if let Some(wanted) = self.agent_events() {
            payload["include_agent_events"] = json!(wanted);
        }
        if let Some(seconds) = self.deadline_in {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            payload["deadline_at"] = json!(now.as_secs_f64() + seconds);
        }
        payload
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// How the declarations are refused.
    pub(super) invalid: Option<ErrorSpec>,
    pub(super) mermaid: Option<Value>,
    #[serde(default)]
    pub(super) events: Vec<Value>,
    #[serde(default)]
    pub(super) agents: Map<String, Value>,
    #[serde(default)]
    pub(super) requests: Map<String, Value>,
    #[serde(default)]
    pub(super) bodies: Map<String, Value>,
    #[serde(default)]
    pub(super) broken_off: Vec<String>,
    pub(super) outcome: Option<String>,
    #[serde(default)]
    pub(super) response: Value,
    pub(super) output: Option<Value>,
    #[serde(default)]
    pub(super) usage: Vec<Value>,
    pub(super) error: Option<ErrorSpec>,
    #[serde(default)]
    pub(super) steps: Vec<Value>,
    #[serde(default)]
    pub(super) concurrent: Vec<(String, String, bool)>,
    #[serde(default)]
    pub(super) session: Map<String, Value>,
    pub(super) state: Option<Value>,
}

impl AssemblyCase {
    /// What coordinates `id`: `"workflow"`, `"swarm"` or `"graph"`.
    pub(super) fn kind(&self, id: &str) -> &str {
        let parts = self.assemblies.get(id).and_then(Value::as_object);
        parts
            .and_then(|parts| parts.keys().next())
            .map_or("", String::as_str)
    }

    /// The request. Panics when the case has none.
    pub(super) fn asked(&self) -> &InvocationSpec {
        self.invocation
            .as_ref()
            .expect("the case has an invocation")
    }

    /// Writes what the store has before the run.
    pub(super) async fn prepare_session(&self, runtime: &Runtime) {
        let Some(spec) = &self.session else { return };
        let snapshot = json!({"messages": spec.messages, "state": spec.state});
        let snapshot = Snapshot::from_value(&snapshot).unwrap();
        let session = self.open_session(runtime).unwrap();
        session.replace(snapshot).await.unwrap();
    }

    /// What the store has after the run.
    pub(super) async fn found_session(&self, runtime: &Runtime) -> Value {
        let Some(session) = self.open_session(runtime) else {
            return Value::Null;
        };
        let snapshot = session.load().await.unwrap();
        snapshot.map_or(Value::Null, |snapshot| snapshot.to_value())
    }

    fn open_session(&self, runtime: &Runtime) -> Option<Session> {
        let id = self.asked().session_id.as_ref()?;
        Some(Session::new(id, Arc::clone(runtime.session_store())))
    }
}

/// Every case of several agents in `tests/conformance`, in order of file and place.
pub fn load() -> Vec<AssemblyCase> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    let mut cases: Vec<AssemblyCase> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let all: Vec<Value> = serde_json::from_str(&text).unwrap();
        for value in all.into_iter().filter(|value| value.get("ask").is_some()) {
            let name = value["name"].clone();
            let case = serde_json::from_value(value);
            cases.push(case.unwrap_or_else(|problem| panic!("{name}: {problem}")));
        }
    }
    let mut names: Vec<&str> = cases.iter().map(|case| &*case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), cases.len(), "two cases have the same name");
    cases
}
