//! A case through `Agent` and `RunStream`.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use little_ghost::{
    Agent, AskOptions, CancellationToken, ContextManagement, Error, Invocation, Limits,
    ModelSelection, ResultSchema, Runtime, ToolLoop,
};
use serde_json::{Value, json};

use super::behaviour::Stage;
use super::case::{Action, Case, Step};
use super::observation::{Observation, error_value};
use super::toolbox::CaseTool;
use crate::Scenario;

pub(super) async fn run(case: &Case, runtime: Arc<Runtime>, scenario: &Scenario) -> Observation {
    let agent = match agent(case, runtime) {
        Ok(agent) => agent,
        Err(error) => return Observation::refused(&error),
    };
    let invocation = match Invocation::from_value(&case.invocation.payload()) {
        Ok(invocation) => invocation,
        Err(error) => return Observation::raised(&error),
    };
    let token = CancellationToken::new();
    let request = AskOptions::from(invocation).with_cancellation_token(token.clone());
    let mut stream = agent.stream_ask(request).expect("the runtime is given");
    let mut observation = Observation::default();
    let mut steps = Steps::new(&case.steps);
    while let Some(event) = stream.next().await {
        observation.push(&event);
        match steps.after(event.kind()) {
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
    observation.output = run
        .result()
        .map(|result| result.output())
        .unwrap_or_default();
    observation.set_usage(run.usage());
    observation.cost = json!(run.cost().map(|cost| cost.to_string()));
    observation.state = Value::Object(run.with_state(|state| state.clone()));
    observation
}

fn agent(case: &Case, runtime: Arc<Runtime>) -> Result<Agent, Error> {
    let spec = &case.agent;
    let stage = Arc::new(Stage::default());
    let mut builder = Agent::builder(&*spec.id)
        .runtime(runtime)
        .model(ModelSelection::from(spec.model.clone()))
        .limits(Limits::from_map(&spec.limits)?);
    if let Some(prompt) = &spec.system_prompt {
        builder = builder.system_prompt(prompt);
    }
    for tool in &spec.tools {
        builder = builder.tool(CaseTool::new(tool, &stage));
    }
    if let Some(schema) = &spec.result_schema {
        builder = builder.result_schema(ResultSchema::from_value(schema)?);
    }
    if let Some(options) = &spec.context_management {
        builder = builder.manage_context(ContextManagement::from_value(options)?);
    }
    if let Some(options) = &spec.tool_loop {
        builder = builder.detect_tool_loops(ToolLoop::from_value(options)?);
    }
    builder.build()
}

/// What the consumer does when it has seen an event.
pub(super) struct Steps<'a> {
    steps: &'a [Step],
    seen: HashMap<String, usize>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(steps: &'a [Step]) -> Self {
        Self {
            steps,
            seen: HashMap::new(),
        }
    }

    pub(super) fn after(&mut self, kind: &str) -> Option<Action> {
        let seen = self.seen.entry(kind.to_owned()).or_default();
        *seen += 1;
        let step = self
            .steps
            .iter()
            .find(|step| step.on == kind && step.nth == *seen);
        step.map(|step| step.action.clone())
    }
}
