//! Graphs: declared routes between participants.

mod borders;
mod branches;
mod builder;
mod definition;
mod input;
mod joins;
mod mermaid;
mod passage;
mod plan;
mod region;
mod routing;
mod state;
mod survey;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;

use super::entry::{Entry, callable};
use super::{Assembly, AssemblyKind, Composite};
use crate::error::Result;
use crate::run::{RunCore, RunResult};

pub use builder::{GraphBuilder, GraphEdge, GraphNode};
pub(crate) use definition::{
    Condition, EdgeDefinition, ErrorEdge, GraphDefinition, Mapper, NodeDefinition,
};
pub use state::GraphState;

use passage::Passage;
use plan::Plan;

/// Participants at named nodes, and the routes between them.
///
/// ```no_run
/// use little_ghost::{Agent, Graph, GraphEdge};
///
/// # async fn example(triage: Agent, billing: Agent, support: Agent) -> little_ghost::Result<()> {
/// let graph = Graph::builder("support_flow")
///     .node("triage", &triage)
///     .node("billing", &billing)
///     .node("respond", &support)
///     .start("triage")
///     .edge(GraphEdge::new("triage", "billing").when(|state| {
///         state.result("triage").is_some_and(|result| result.text() == "billing")
///     }))
///     .edge(("triage", "respond"))
///     .edge(("billing", "respond"))
///     .finish("respond")
///     .build()?;
/// let run = graph.ask("Why was I charged twice?").await?;
/// println!("{}", run.response());
/// # Ok(())
/// # }
/// ```
///
/// Several unconditional edges from one node run in parallel and meet at their first unambiguous
/// common successor, which gets the results of all.
#[derive(Clone)]
pub struct Graph {
    entry: Entry,
    mermaid: Arc<str>,
}

callable!(Graph, mermaid);

impl Graph {
    /// Starts a graph of that identifier.
    pub fn builder(id: impl Into<String>) -> GraphBuilder {
        GraphBuilder::new(id.into())
    }

    /// The declared routes as source of a Mermaid flowchart.
    #[must_use]
    pub fn to_mermaid(&self) -> &str {
        &self.mermaid
    }
}

/// A graph that was found to be sound.
pub(crate) struct GraphAssembly {
    definition: GraphDefinition,
    plan: Plan,
}

impl GraphAssembly {
    /// Checks `definition`.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) with the first thing that is wrong.
    pub(crate) fn new(definition: GraphDefinition) -> Result<Self> {
        let plan = Plan::new(&definition)?;
        Ok(Self { definition, plan })
    }

    /// The routes as source of a Mermaid flowchart.
    pub(crate) fn to_mermaid(&self) -> String {
        mermaid::render(&self.definition, &self.plan)
    }
}

#[async_trait]
impl Assembly for GraphAssembly {
    fn id(&self) -> &Arc<str> {
        &self.definition.id
    }

    fn kind(&self) -> AssemblyKind {
        AssemblyKind::Graph
    }

    fn description(&self) -> &str {
        &self.definition.description
    }

    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>> {
        let composite = Composite::new(self, &self.definition.locals, part, parent)?;
        Passage::new(&self.definition, &self.plan, composite)
            .run()
            .await
    }
}
