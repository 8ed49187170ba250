//! A case, as it is written in a file.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One case. Unknown fields are refused, so that a misspelt expectation cannot pass unnoticed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique over all files.
    pub name: String,
    /// Why it matters, in one sentence.
    pub about: String,
    #[serde(default)]
    pub(super) provider: Map<String, Value>,
    pub(super) models: Option<Map<String, Value>>,
    pub(super) default_model: Option<String>,
    #[serde(default)]
    pub(super) agent: AgentSpec,
    /// The conversation that the store has before the run, under the invocation's session id.
    pub(super) session: Option<SessionSpec>,
    pub(super) invocation: InvocationSpec,
    #[serde(default)]
    exchanges: Vec<Value>,
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    pub(super) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AgentSpec {
    pub(super) id: String,
    pub(super) model: Value,
    pub(super) system_prompt: Option<String>,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) limits: Map<String, Value>,
    pub(super) result_schema: Option<Value>,
    pub(super) context_management: Option<Value>,
    pub(super) tool_loop: Option<Value>,
}

impl AgentSpec {
    /// The name of the structured result.
    pub(super) fn result_name(&self) -> String {
        let declared = self.result_schema.as_ref();
        match declared.and_then(|schema| schema["name"].as_str()) {
            Some(name) => name.to_owned(),
            None => format!("{}_result", self.id),
        }
    }
}

impl Default for AgentSpec {
    fn default() -> Self {
        Self {
            id: "support".to_owned(),
            model: crate::MODEL.into(),
            system_prompt: None,
            tools: Vec::new(),
            limits: Map::new(),
            result_schema: None,
            context_management: None,
            tool_loop: None,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolSpec {
    pub(super) name: String,
    #[serde(default = "description")]
    pub(super) description: String,
    #[serde(default)]
    pub(super) input_schema: Value,
    #[serde(default)]
    pub(super) exclusive: bool,
    pub(super) behaviour: Behaviour,
}

fn description() -> String {
    "A tool of the test.".to_owned()
}

/// What a tool does when it is called. Exactly one of these.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum Behaviour {
    Return(Value),
    Echo,
    ToolError(String),
    Raise(Foreign),
    Cancel,
    CancelRun,
    AddState(Map<String, Value>),
    ReadState(String),
    After(String),
    Meet(usize),
    Running,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Foreign {
    pub(super) class: String,
    pub(super) message: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionSpec {
    #[serde(default)]
    pub(super) messages: Vec<Value>,
    #[serde(default)]
    pub(super) state: Map<String, Value>,
    pub(super) actor_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InvocationSpec {
    #[serde(default)]
    pub(super) message: Value,
    #[serde(default)]
    pub(super) history: Vec<Value>,
    #[serde(default)]
    pub(super) settings: Map<String, Value>,
    #[serde(default)]
    pub(super) context: Map<String, Value>,
    run_id: Option<String>,
    pub(super) session_id: Option<String>,
    actor_id: Option<String>,
    deadline_in: Option<f64>,
}

impl InvocationSpec {
    /// The payload that hosts send, with an absolute deadline.
    pub(super) fn payload(&self) -> Value {
        let mut payload = json!({
            "message": self.message, "history": self.history,
            "settings": self.settings, "context": self.context,
        });
        if let Some(id) = &self.run_id {
            payload["run_id"] = json!(id);
        }
        if let Some(id) = &self.session_id {
            payload["session_id"] = json!(id);
        }
        if let Some(id) = &self.actor_id {
            payload["actor_id"] = json!(id);
        }
        if let Some(seconds) = self.deadline_in {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            payload["deadline_at"] = json!(now.unwrap_or(Duration::ZERO).as_secs_f64() + seconds);
        }
        payload
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) on: String,
    #[serde(default = "one")]
    pub(super) nth: usize,
    #[serde(rename = "do")]
    pub(super) action: Action,
}

fn one() -> usize {
    1
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Cancel,
    Break,
    Signal(String),
}

/// Tells null from nothing at all.
fn given<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) events: Option<Vec<Value>>,
    pub(super) requests: Requests,
    pub(super) outcome: Option<String>,
    pub(super) response: Option<Value>,
    pub(super) usage: Option<Value>,
    /// A decimal, or null when it is not known.
    #[serde(default, deserialize_with = "given")]
    pub(super) cost: Option<Value>,
    pub(super) error: Option<ErrorSpec>,
    pub(super) raises: Option<ErrorSpec>,
    pub(super) state: Option<Value>,
    /// What the store has after the run; only the given parts are compared.
    pub(super) session: Option<Map<String, Value>>,
    /// The value of the result.
    pub(super) output: Option<Value>,
    #[serde(default)]
    pub(super) model: ModelFacts,
    /// Front doors may refuse the declaration when the agent is built, with the same error.
    #[serde(default)]
    pub(super) may_refuse_early: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ModelFacts {
    pub(super) target: String,
    pub(super) role: Option<String>,
}

impl Default for ModelFacts {
    fn default() -> Self {
        Self {
            target: crate::MODEL.to_owned(),
            role: None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorSpec {
    pub(super) class: String,
    #[serde(default)]
    pub(super) message_contains: Vec<String>,
    #[serde(default)]
    pub(super) message_omits: Vec<String>,
    pub(super) status: Option<u16>,
}

/// How many requests, or each of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Requests {
    Count(usize),
    List(Vec<RequestSpec>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestSpec {
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) headers: Map<String, Value>,
    pub(super) body: Option<Value>,
    #[serde(default)]
    pub(super) body_includes: Map<String, Value>,
    #[serde(default)]
    pub(super) disconnected: bool,
}

impl Expect {
    pub(super) fn disconnects(&self) -> usize {
        match &self.requests {
            Requests::Count(_) => 0,
            Requests::List(list) => list.iter().filter(|spec| spec.disconnected).count(),
        }
    }
}

impl Case {
    pub(super) fn script(&self) -> Value {
        json!({"exchanges": self.exchanges})
    }

    /// Whether the model speaks the Responses API.
    pub(super) fn is_responses(&self) -> bool {
        self.provider.get("api").and_then(Value::as_str) == Some("responses")
    }
}

/// Every case of one agent in `tests/conformance`, in order of file and place.
pub fn load() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let mut cases: Vec<Case> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let read: Vec<Value> = serde_json::from_str(&text)
            .unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        for value in read.into_iter().filter(|value| value.get("ask").is_none()) {
            let name = value["name"].clone();
            let case = serde_json::from_value(value);
            cases.push(case.unwrap_or_else(|problem| panic!("{name}: {problem}")));
        }
    }
    for (position, case) in cases.iter().enumerate() {
        let earlier = cases[..position]
            .iter()
            .find(|other| other.name == case.name);
        assert!(earlier.is_none(), "two cases are named {:?}", case.name);
    }
    cases
}
