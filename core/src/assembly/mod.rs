//! Several participants behind one call: what workflows, swarms and graphs share.
//!
//! An [`Assembly`] answers a [part](crate::run::RunCore::part) of a run. The smallest one is an
//! agent; the others coordinate assemblies, each of which answers a part of its own in a
//! [step](Step) with a [policy](StepPolicy).

mod agent;
mod entry;
mod event;
mod graph;
mod kind;
mod participant;
mod policy;
mod recorder;
mod step;
mod step_run;
mod swarm;
#[cfg(test)]
mod tests;
mod tool;
mod trajectory;
mod workflow;

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::executor;
use crate::host;
use crate::run::{RunCore, RunResult};

pub use event::AssemblyEvent;
pub use graph::{Graph, GraphBuilder, GraphEdge, GraphNode, GraphState};
pub use kind::AssemblyKind;
pub use participant::Participant;
pub use policy::StepPolicy;
pub use step::{Attempt, Step, StepStatus};
pub(crate) use swarm::{MemberDefinition, SwarmDefinition};
pub use swarm::{Swarm, SwarmBuilder, SwarmMember};
pub use tool::AssemblyTool;
pub use trajectory::Trajectory;
pub use workflow::{Workflow, WorkflowContext, WorkflowInvocation};
pub(crate) use workflow::{WorkflowAssembly, WorkflowBody, too_late};

pub(crate) use agent::{AgentAssembly, ask};
pub(crate) use entry::new_run;
pub(crate) use graph::{
    Condition, EdgeDefinition, ErrorEdge, GraphAssembly, GraphDefinition, Mapper, NodeDefinition,
};
pub(crate) use policy::{ErrorMatcher, named};
pub(crate) use recorder::Recorder;
pub(crate) use step_run::{Composite, FailedStep, StepPlan, StepResult};

/// What may be called like one agent.
#[async_trait]
pub(crate) trait Assembly: Send + Sync {
    /// The stable identifier, for tools, steps and telemetry.
    fn id(&self) -> &Arc<str>;

    fn kind(&self) -> AssemblyKind;

    /// What it is for, in words for models and people.
    fn description(&self) -> &str;

    /// Answers the message of `part`. `parent` is the operation that it is a part of.
    ///
    /// # Errors
    /// What kept it from an answer. What it made in `part` is closed by who made the part.
    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>>;
}

/// Fails for an identifier or a name that is blank.
///
/// # Errors
/// [`ErrorKind::Configuration`] with `what` it is of.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::new(
            ErrorKind::Configuration,
            format!("{what} is blank; give it a name, such as \"support\""),
        ));
    }
    Ok(())
}

/// How many assemblies and calls of agents as tools may be around one another. More is taken for one that
/// contains or calls itself without an end.
pub(crate) const DEEPEST: usize = 100;
/// After so many of them the next goes on in a task of its own, on a stack of its own.
const LEVELS_OF_A_STACK: usize = 4;

/// Has `assembly` answer the message of `part`. A failure of what coordinates is announced; that of
/// an agent, it announces itself.
pub(crate) async fn answer(
    assembly: &Arc<dyn Assembly>,
    part: &Arc<RunCore>,
    parent: &Arc<str>,
) -> Result<Arc<RunResult>> {
    let depth = part.place.depth;
    let answered = match part.check() {
        Ok(()) if depth > DEEPEST => Err(too_deep(assembly.kind().as_str(), assembly.id())),
        Ok(()) if depth > 0 && depth.is_multiple_of(LEVELS_OF_A_STACK) => {
            answer_apart(assembly, part, parent).await
        }
        Ok(()) => assembly.answer(part, parent).await,
        Err(error) => Err(error),
    };
    if let Err(error) = &answered
        && assembly.kind() != AssemblyKind::Agent
    {
        let event = StreamEvent::InvocationError {
            error: error.clone(),
            usage: part.account.usage(),
            metadata: Arc::default(),
        };
        part.events().send(event).await;
    }
    answered
}

/// Has `assembly` answer in a task, which ends with this future.
async fn answer_apart(
    assembly: &Arc<dyn Assembly>,
    part: &Arc<RunCore>,
    parent: &Arc<str>,
) -> Result<Arc<RunResult>> {
    let (assembly, part, parent) = (Arc::clone(assembly), Arc::clone(part), Arc::clone(parent));
    let answering = async move { assembly.answer(&part, &parent).await };
    executor::apart(host::inherit(answering)).await?
}

pub(crate) fn too_deep(kind: &str, id: &str) -> Error {
    Error::new(
        ErrorKind::AssemblyLimit,
        format!(
            "the {kind} {id:?} is inside of more than {DEEPEST} others; does one of them contain or call itself without an end?"
        ),
    )
}
