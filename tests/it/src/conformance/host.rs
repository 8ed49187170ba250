//! A case through `HostRun`, driven the way Ruby and Python drive it: wait for the descriptor,
//! drain, run user code, answer.

use std::sync::Arc;

use little_ghost::host::{HostCallKind, HostFailure, HostRun, HostStart, Item, SessionOptions};
use little_ghost::{CancellationToken, Error, ErrorKind, HostException, Invocation, Runtime};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use super::behaviour::{Stage, Surroundings};
use super::case::{Action, Case};
use super::direct::Steps;
use super::observation::{Observation, error_value};
use crate::Scenario;

pub(super) async fn run(case: &Case, runtime: Arc<Runtime>, scenario: &Scenario) -> Observation {
    let invocation = match Invocation::from_value(&case.invocation.payload()) {
        Ok(invocation) => invocation,
        Err(error) => return Observation::raised(&error),
    };
    let session = SessionOptions {
        id: invocation.session_id().to_owned(),
        actor_id: invocation.actor_id().map(str::to_owned),
        metadata: Map::new(),
        store: Some(Arc::clone(runtime.session_store())),
    };
    let run = Arc::new(HostRun::new(runtime, invocation, &CancellationToken::new()).unwrap());
    run.use_session(session).unwrap();
    let handle = Handle::current();
    // A host blocks in poll(2), which must not happen on a tokio worker.
    tokio::task::block_in_place(|| Host::new(case, run, scenario, handle).drive())
}

struct Host<'a> {
    case: &'a Case,
    run: Arc<HostRun>,
    scenario: &'a Scenario,
    runtime: Handle,
    stage: Arc<Stage>,
    state: Arc<Mutex<Map<String, Value>>>,
}

/// What a tool reaches of its run.
pub(super) struct ToolRun {
    pub(super) run: Arc<HostRun>,
    pub(super) state: Arc<Mutex<Map<String, Value>>>,
}

impl Surroundings for ToolRun {
    fn with_state(&self, change: &mut (dyn FnMut(&mut Map<String, Value>) + Send)) {
        change(&mut self.state.lock());
    }

    fn token(&self) -> CancellationToken {
        self.run.token()
    }
}

impl<'a> Host<'a> {
    fn new(case: &'a Case, run: Arc<HostRun>, scenario: &'a Scenario, runtime: Handle) -> Self {
        Self {
            case,
            run,
            scenario,
            runtime,
            stage: Arc::default(),
            state: Arc::new(Mutex::new(case.invocation.context.clone())),
        }
    }

    fn drive(&self) -> Observation {
        let mut observation = Observation::default();
        let mut steps = Steps::new(&self.case.steps);
        let mut left = false;
        self.run.start(&HostStart::default()).unwrap();
        'run: loop {
            wait_readable(&self.run);
            for item in self.run.drain().unwrap() {
                match item {
                    Item::Done => break 'run,
                    Item::Event(event) if !left => {
                        observation.push(&event);
                        match steps.after(event.kind()) {
                            None => {}
                            Some(Action::Cancel) => self.run.cancel(),
                            Some(Action::Signal(label)) => {
                                self.runtime.block_on(self.scenario.signal(&label));
                            }
                            Some(Action::Break) => {
                                left = true;
                                self.run.interrupt(None);
                            }
                        }
                    }
                    Item::Call(call) => match call.kind {
                        HostCallKind::Entrypoint => {
                            self.run.complete(call.id, Ok(self.entrypoint()));
                        }
                        HostCallKind::Tool => self.call_tool(call.id, &call.payload),
                        HostCallKind::Close => self.run.complete(call.id, Ok(Value::Null)),
                        HostCallKind::State => {
                            let state = self.state.lock().clone();
                            self.run.complete(call.id, Ok(Value::Object(state)));
                        }
                        HostCallKind::StateRestored => {
                            let mut state = self.state.lock();
                            let mut merged = call.payload["state"].as_object().unwrap().clone();
                            merged.extend(state.clone());
                            *state = merged.clone();
                            drop(state);
                            self.run.complete(call.id, Ok(Value::Object(merged)));
                        }
                        kind => panic!("no case needs {kind:?}"),
                    },
                    _ => {}
                }
            }
        }
        let report = self.run.report();
        observation.outcome = report.outcome.map(str::to_owned);
        observation.response = report.response;
        observation.output = report
            .result
            .map(|result| result.output())
            .unwrap_or_default();
        observation.error = report.error.as_ref().map(error_value);
        observation.raised = report.raise.as_ref().map(error_value);
        observation.set_usage(report.usage);
        observation.cost = json!(report.cost.map(|cost| cost.to_string()));
        observation.state = Value::Object(self.state.lock().clone());
        observation
    }

    fn entrypoint(&self) -> Value {
        let spec = &self.case.agent;
        let tools: Vec<Value> = spec
            .tools
            .iter()
            .map(|tool| {
                let mut value = json!({
                    "name": tool.name, "description": tool.description,
                    "exclusive": tool.exclusive,
                });
                if !tool.input_schema.is_null() {
                    value["input_schema"] = tool.input_schema.clone();
                }
                value
            })
            .collect();
        json!({
            "agent_id": spec.id, "model": spec.model, "system_prompt": spec.system_prompt,
            "tools": tools, "limits": spec.limits, "result_schema": spec.result_schema,
            "context_management": spec.context_management, "tool_loop": spec.tool_loop,
        })
    }

    fn call_tool(&self, id: u64, payload: &Value) {
        let spec = self
            .case
            .agent
            .tools
            .iter()
            .find(|tool| payload["name"] == tool.name);
        let spec = spec.expect("the engine calls a declared tool").clone();
        let input = payload["input"].as_object().unwrap().clone();
        let stage = Arc::clone(&self.stage);
        let run = ToolRun {
            run: Arc::clone(&self.run),
            state: Arc::clone(&self.state),
        };
        let work = async move {
            let called = stage.perform(&spec.name, &spec.behaviour, &input, &run);
            let token = run.run.token();
            let answer = tokio::select! {
                answer = called => answer,
                () = token.cancelled() => Err(Error::cancelled()),
            };
            run.run
                .complete(id, answer.map_err(|error| failure(&error)));
        };
        if payload["concurrent"] == true {
            self.runtime.spawn(work);
        } else {
            self.runtime.block_on(work);
        }
    }
}

pub(super) fn failure(error: &Error) -> HostFailure {
    let exception = error.host_exception().cloned().unwrap_or(HostException {
        id: 1,
        class: error.class_name().to_owned(),
    });
    HostFailure {
        kind: match error.kind() {
            kind @ (ErrorKind::Tool | ErrorKind::Cancelled) => kind,
            _ => ErrorKind::Host,
        },
        exception,
        message: error.message().to_owned(),
        status: None,
        body: None,
    }
}

pub(super) fn wait_readable(run: &HostRun) {
    /// Far longer than any case takes.
    const PATIENCE: Timespec = Timespec {
        tv_sec: 30,
        tv_nsec: 0,
    };
    let descriptor = borrowed(run);
    let mut descriptors = [PollFd::new(&descriptor, PollFlags::IN)];
    let ready = poll(&mut descriptors, Some(&PATIENCE)).unwrap();
    assert!(ready > 0, "nothing happened for 30 s");
}

fn borrowed(run: &HostRun) -> std::os::fd::BorrowedFd<'_> {
    // SAFETY: the descriptor is open as long as `run` is.
    #[expect(
        unsafe_code,
        reason = "the engine hands out a raw descriptor, as hosts need it"
    )]
    unsafe {
        std::os::fd::BorrowedFd::borrow_raw(run.fd())
    }
}
