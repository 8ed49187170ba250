//! A case through the crate's own front door.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use little_ghost::{
    AskOptions, CancellationToken, Error, Invocation, Message, Participant, RunStream, Runtime,
    WorkflowContext, WorkflowInvocation, async_trait,
};
use serde_json::{Map, Value, json};

use super::super::case::Action;
use super::super::direct::Steps as Consumer;
use super::super::observation::error_value;
use super::body::Flow;
use super::case::AssemblyCase;
use super::cast::{Cast, Made, policy};
use super::notation::Notation;
use super::observation::{Observation, seen};
use crate::Scenario;

/// What is wrong with the declarations.
pub(super) fn refusal(case: &AssemblyCase) -> Option<Value> {
    Cast::new(case)
        .get(&case.ask)
        .err()
        .map(|error| error_value(&error))
}

/// The flowchart of the graph that is asked.
pub(super) fn mermaid(case: &AssemblyCase) -> String {
    match Cast::new(case).get(&case.ask).unwrap() {
        Made::Graph(graph) => graph.to_mermaid().to_owned(),
        _ => panic!("only a graph has a flowchart"),
    }
}

pub(super) async fn run(
    case: &AssemblyCase,
    runtime: Arc<Runtime>,
    scenario: &Scenario,
) -> Observation {
    let token = CancellationToken::new();
    let invocation = Invocation::from_value(&case.asked().payload()).unwrap();
    let options = AskOptions::from(invocation).with_cancellation_token(token.clone());
    let made = Cast::new(case)
        .get(&case.ask)
        .unwrap()
        .with_runtime(&runtime);
    let mut stream = stream(&made, options).unwrap();
    let mut observation = Observation::default();
    let mut consumer = Consumer::new(&case.steps);
    let mut notation = Notation::new(case, None);
    while let Some(event) = stream.next().await {
        let event = seen(&event);
        let action = notation.note(&event).and_then(|note| consumer.after(&note));
        observation.events.push(event);
        match action {
            None => {}
            Some(Action::Cancel) => token.cancel(),
            Some(Action::Signal(label)) => scenario.signal(&label).await,
            Some(Action::Break) => break,
        }
    }
    let run = stream.run();
    drop(stream);
    while run.outcome().is_none() {
        // Only after a break: the run ends in the background.
        tokio::task::yield_now().await;
    }
    observation.outcome = run.outcome().map(|outcome| outcome.as_str().to_owned());
    observation.response = run.response();
    observation.error = run.error().as_ref().map(error_value);
    observation.set_usage(run.usage());
    observation.set_result(run.result().as_deref());
    observation.state = Value::Object(run.with_state(|state| state.clone()));
    observation
}

fn stream(made: &Made, options: AskOptions) -> Result<RunStream, Error> {
    match made {
        Made::Agent(agent) => agent.stream_ask(options),
        Made::Workflow(workflow) => workflow.stream_ask(options),
        Made::Swarm(swarm) => swarm.stream_ask(options),
        Made::Graph(graph) => graph.stream_ask(options),
    }
}

/// What a body of a case works with.
pub(super) struct WorkflowFlow {
    pub(super) workflow: WorkflowContext,
    pub(super) participants: Arc<HashMap<String, Participant>>,
}

#[async_trait]
impl Flow for WorkflowFlow {
    type Call = WorkflowInvocation;
    type Failure = Error;

    fn invoke(&self, spec: &Value, input: Option<String>) -> Result<WorkflowInvocation, Error> {
        let participant = self.participants[spec["run"].as_str().unwrap()].clone();
        let mut call = self.workflow.invoke(participant).policy(policy(spec));
        if let Some(name) = spec["as"].as_str() {
            call = call.named(name);
        }
        if let Some(input) = input {
            call = call.input(input);
        }
        if let Some(history) = spec["history"].as_array() {
            call = call.history(
                history
                    .iter()
                    .map(Message::from_value)
                    .collect::<Result<_, _>>()?,
            );
        }
        if let Some(context) = spec["context"].as_object() {
            let context: Map<String, Value> = context.clone();
            call = call.context(context);
        }
        Ok(call)
    }

    async fn read(&self, call: WorkflowInvocation) -> Result<Value, Error> {
        call.output().await
    }

    async fn parallel(
        &self,
        calls: Vec<WorkflowInvocation>,
        limit: usize,
    ) -> Result<Vec<Value>, Error> {
        self.workflow.parallel(calls, limit).await
    }

    fn given(&self, name: &str, key: &str) -> Option<Value> {
        Some(match name {
            "input" => json!(self.workflow.input().text()),
            "history" => self
                .workflow
                .history()
                .iter()
                .map(|message| message.text())
                .collect(),
            "context" => self
                .workflow
                .context()
                .get(key)
                .cloned()
                .unwrap_or_default(),
            _ => return None,
        })
    }

    fn is(&self, failure: &Error, class: &str) -> bool {
        super::cast::kind(class).is_some_and(|kind| failure.is(kind))
    }

    fn class(&self, failure: &Error) -> String {
        failure.class_name().to_owned()
    }

    fn boom(&self, message: &str) -> Error {
        panic!("only hosts raise {message}")
    }
}
