//! A case through `HostRun`, driven the way Ruby and Python drive it.

use std::collections::HashMap;
use std::sync::Arc;

use little_ghost::host::{
    HostCall, HostCallKind, HostFailure, HostRun, HostStart, Item, SessionOptions, check_assembly,
};
use little_ghost::{CancellationToken, Error, Invocation, Runtime};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use super::super::behaviour::Stage;
use super::super::case::Action;
use super::super::direct::Steps as Consumer;
use super::super::host::{ToolRun, failure, wait_readable};
use super::super::observation::error_value;
use super::body::{Body, Ending};
use super::case::AssemblyCase;
use super::host_flow::{Fault, HostFlow, Settlements};
use super::host_table::{Entry, Table};
use super::notation::Notation;
use super::observation::{Observation, seen};
use super::template::of_value;
use crate::Scenario;

type State = Arc<Mutex<Map<String, Value>>>;

/// The flowchart of a graph, or what is wrong with the declarations.
pub(super) fn checked(case: &AssemblyCase) -> Result<Option<String>, Value> {
    check_assembly(&Table::new(case).describe(&case.ask)).map_err(|error| error_value(&error))
}

pub(super) async fn run(
    case: &AssemblyCase,
    runtime: Arc<Runtime>,
    scenario: &Scenario,
) -> Observation {
    let mut payload = case.asked().payload();
    if case.asked().agent_events().is_none() {
        // What hosts do for a stream.
        payload["include_agent_events"] = json!(!case.agents.contains_key(&case.ask));
    }
    let invocation = Invocation::from_value(&payload).unwrap();
    let session = SessionOptions {
        id: invocation.session_id().to_owned(),
        actor_id: None,
        metadata: Map::new(),
        store: Some(Arc::clone(runtime.session_store())),
    };
    let run = Arc::new(HostRun::new(runtime, invocation, &CancellationToken::new()).unwrap());
    run.use_session(session).unwrap();
    let host = Host {
        case,
        run,
        scenario,
        runtime: Handle::current(),
        table: Arc::new(Table::new(case)),
        stage: Arc::default(),
        settlements: Arc::default(),
        parts: HashMap::new(),
    };
    // A host blocks in poll(2), which must not happen on a tokio worker.
    tokio::task::block_in_place(|| host.drive())
}

/// An agent in a part of the run.
struct Part {
    agent: String,
    state: State,
}

struct Host<'a> {
    case: &'a AssemblyCase,
    run: Arc<HostRun>,
    scenario: &'a Scenario,
    runtime: Handle,
    table: Arc<Table>,
    stage: Arc<Stage>,
    settlements: Arc<Settlements>,
    parts: HashMap<u64, Part>,
}

impl Host<'_> {
    fn drive(mut self) -> Observation {
        let own = Part {
            agent: self.case.ask.clone(),
            state: Arc::new(Mutex::new(self.case.asked().context.clone())),
        };
        self.parts.insert(0, own);
        let mut observation = Observation::default();
        let mut consumer = Consumer::new(&self.case.steps);
        let mut notation = Notation::new(self.case, None);
        let mut left = false;
        self.run.start(&HostStart::default()).unwrap();
        'run: loop {
            wait_readable(&self.run);
            for item in self.run.drain().unwrap() {
                match item {
                    Item::Done => break 'run,
                    Item::Event(event) if !left => {
                        let event = seen(&event);
                        let action = notation.note(&event).and_then(|note| consumer.after(&note));
                        observation.events.push(event);
                        left = self.follow(action);
                    }
                    Item::Call(call) => self.answer(call),
                    _ => {}
                }
            }
        }
        let report = self.run.report();
        assert!(report.raise.is_none(), "raised {:?}", report.raise);
        observation.outcome = report.outcome.map(str::to_owned);
        observation.response = report.response;
        observation.error = report.error.as_ref().map(error_value);
        observation.set_usage(report.usage);
        observation.set_result(report.result.as_deref());
        observation.state = Value::Object(self.state(&Value::Null).lock().clone());
        observation
    }

    /// Does what the consumer does; whether it leaves.
    fn follow(&self, action: Option<Action>) -> bool {
        match action {
            None => {}
            Some(Action::Cancel) => self.run.cancel(),
            Some(Action::Signal(label)) => self.runtime.block_on(self.scenario.signal(&label)),
            Some(Action::Break) => {
                self.run.interrupt(None);
                return true;
            }
        }
        false
    }

    fn answer(&mut self, call: HostCall) {
        let scope = call.payload.get("scope").cloned().unwrap_or_default();
        let answer: Result<Value, HostFailure> = match call.kind {
            HostCallKind::Entrypoint => Ok(self.entrypoint(&scope, &call.payload)),
            HostCallKind::Assembly => self.decide(&call.payload).map_err(HostFailure::from),
            HostCallKind::Tool => return self.call_tool(call.id, &scope, &call.payload),
            HostCallKind::Perform => return self.perform(call.id, call.payload),
            HostCallKind::Settled => {
                self.settlements
                    .put(scope.as_u64().unwrap_or_default(), call.payload);
                Ok(Value::Null)
            }
            HostCallKind::State => Ok(Value::Object(self.state(&scope).lock().clone())),
            HostCallKind::StateRestored => {
                let state = self.state(&scope);
                let mut merged = call.payload["state"].as_object().unwrap().clone();
                merged.extend(state.lock().clone());
                *state.lock() = merged.clone();
                Ok(Value::Object(merged))
            }
            HostCallKind::Close => Ok(Value::Null),
            kind => panic!("no case needs {kind:?}"),
        };
        self.run.complete(call.id, answer);
    }

    fn entrypoint(&mut self, scope: &Value, payload: &Value) -> Value {
        let Some(key) = payload.get("participant") else {
            if self.table.agents.contains_key(&self.case.ask) {
                return self.table.agent(&self.case.ask);
            }
            return json!({"assembly": self.table.describe(&self.case.ask)});
        };
        let Entry::Participant(agent) = self.table.entry(key) else {
            panic!("{key} is no participant");
        };
        let described = self.table.agent(&agent);
        let state = payload["context"].as_object().unwrap().clone();
        let part = Part {
            agent,
            state: Arc::new(Mutex::new(state)),
        };
        self.parts.insert(scope.as_u64().unwrap(), part);
        described
    }

    fn decide(&self, payload: &Value) -> Result<Value, Fault> {
        Ok(match self.table.entry(&payload["key"]) {
            Entry::Condition(Value::Bool(fixed)) => json!(fixed),
            Entry::Condition(spec) if spec.is_string() => return Err(Fault::boom("no decision")),
            Entry::Condition(spec) => {
                let text = of_value(spec["that"].as_str().unwrap(), &payload["state"]);
                json!(text == spec["is"])
            }
            Entry::Mapper(text) if text == "!" => return Err(Fault::boom("no input")),
            Entry::Mapper(text) => json!(of_value(&text, &payload["state"])),
            Entry::Classes(names) => {
                let fault = Fault::of(&payload["error"]);
                json!(names.iter().any(|name| fault.is(name)))
            }
            Entry::Participant(name) => panic!("{name} decides nothing"),
        })
    }

    /// Runs the body of a workflow.
    fn perform(&self, id: u64, asked: Value) {
        let Entry::Participant(name) = self.table.entry(&asked["participant"]) else {
            panic!("there is no body at {asked}");
        };
        let statements = self.table.assemblies[&name]["workflow"].clone();
        let flow = HostFlow {
            run: Arc::clone(&self.run),
            table: Arc::clone(&self.table),
            settlements: Arc::clone(&self.settlements),
            asked,
        };
        self.runtime.spawn(async move {
            let answer = match Body::new(&flow).run(&statements).await {
                Ok(Ending::Call(ticket)) => Ok(json!(ticket)),
                Ok(Ending::Other | Ending::Nothing) => Ok(Value::Null),
                Err(fault) => Err(fault.into()),
            };
            flow.run.complete(id, answer);
        });
    }

    fn call_tool(&self, id: u64, scope: &Value, payload: &Value) {
        let part = &self.parts[&scope.as_u64().unwrap_or_default()];
        let spec = self.table.tool(&part.agent, &payload["name"]);
        let input = payload["input"].as_object().unwrap().clone();
        let stage = Arc::clone(&self.stage);
        let run = ToolRun {
            run: Arc::clone(&self.run),
            state: Arc::clone(&part.state),
        };
        self.runtime.spawn(async move {
            let called = stage.perform(&spec.name, &spec.behaviour, &input, &run);
            let token = run.run.token();
            let answer = tokio::select! {
                answer = called => answer,
                () = token.cancelled() => Err(Error::cancelled()),
            };
            run.run
                .complete(id, answer.map_err(|error| failure(&error)));
        });
    }

    fn state(&self, scope: &Value) -> State {
        let scope = scope.as_u64().unwrap_or_default();
        self.parts
            .get(&scope)
            .map(|part| Arc::clone(&part.state))
            .unwrap_or_default()
    }
}
