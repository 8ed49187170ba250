//! Graphs for Rust callers.

use std::sync::Arc;

use async_trait::async_trait;

use super::definition::{
    Condition, EdgeDefinition, ErrorEdge, GraphDefinition, Mapper, NodeDefinition,
};
use super::state::GraphState;
use super::{Graph, GraphAssembly};
use crate::assembly::entry::Entry;
use crate::assembly::{Participant, StepPolicy, named};
use crate::error::{ErrorKind, Result};
use crate::message::Message;
use crate::panics::caught_call;
use crate::prompt::PromptLocals;
#[cfg(feature = "prompts")]
use crate::run::Run;

/// Declares a [`Graph`].
#[must_use]
pub struct GraphBuilder(GraphDefinition);

/// A participant of a graph and how it takes part; made from a reference to an assembly.
#[must_use]
pub struct GraphNode {
    participant: Participant,
    policy: StepPolicy,
    history: bool,
    context: bool,
    mapper: Option<Arc<dyn Mapper>>,
}

impl<T: Into<Participant>> From<T> for GraphNode {
    fn from(participant: T) -> Self {
        Self {
            participant: participant.into(),
            policy: StepPolicy::default(),
            history: false,
            context: false,
            mapper: None,
        }
    }
}

impl GraphNode {
    /// A node that asks `participant`.
    pub fn new(participant: impl Into<Participant>) -> Self {
        Self::from(participant.into())
    }

    /// How long an execution may take and how often it is tried.
    pub fn policy(mut self, policy: StepPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Gives it the caller's history.
    pub fn with_history(mut self) -> Self {
        self.history = true;
        self
    }

    /// Gives it the caller's context.
    pub fn with_context(mut self) -> Self {
        self.context = true;
        self
    }

    /// Says what it is asked, unless the route that leads to it does.
    pub fn input<M: Into<Message>>(
        mut self,
        mapper: impl Fn(&GraphState) -> M + Send + Sync + 'static,
    ) -> Self {
        self.mapper = Some(Arc::new(MapperFunction(move |state: &GraphState| {
            mapper(state).into()
        })));
        self
    }
}

/// A route between nodes.
#[must_use]
pub struct GraphEdge(EdgeDefinition);

impl From<(&str, &str)> for GraphEdge {
    fn from((from, to): (&str, &str)) -> Self {
        Self::new(from, to)
    }
}

impl GraphEdge {
    /// From one node to another.
    pub fn new(from: &str, to: &str) -> Self {
        Self::of(vec![from.into()], vec![to.into()])
    }

    /// From one node to several, which run in parallel.
    pub fn fork<'a>(from: &str, to: impl IntoIterator<Item = &'a str>) -> Self {
        let mut edge = Self::of(vec![from.into()], to.into_iter().map(Into::into).collect());
        edge.0.fans_out = true;
        edge
    }

    /// From the last nodes of parallel branches to the node that waits for all of them.
    pub fn join<'a>(from: impl IntoIterator<Item = &'a str>, to: &str) -> Self {
        let mut edge = Self::of(from.into_iter().map(Into::into).collect(), vec![to.into()]);
        edge.0.fans_in = true;
        edge
    }

    fn of(from: Vec<Arc<str>>, to: Vec<Arc<str>>) -> Self {
        Self(EdgeDefinition {
            from,
            to,
            condition: None,
            mapper: None,
            max_concurrency: None,
            fans_out: false,
            fans_in: false,
        })
    }

    /// Takes the route only when `condition` holds.
    pub fn when(mut self, condition: impl Fn(&GraphState) -> bool + Send + Sync + 'static) -> Self {
        self.0.condition = Some(Arc::new(ConditionFunction(condition)));
        self
    }

    /// Says what the node at the end is asked.
    pub fn input<M: Into<Message>>(
        mut self,
        mapper: impl Fn(&GraphState) -> M + Send + Sync + 'static,
    ) -> Self {
        self.0.mapper = Some(Arc::new(MapperFunction(move |state: &GraphState| {
            mapper(state).into()
        })));
        self
    }

    /// Of a [`fork`](Self::fork): the most branches at work at once, at least 1.
    pub fn max_concurrency(mut self, branches: usize) -> Self {
        self.0.max_concurrency = Some(branches);
        self
    }
}

struct ConditionFunction<F>(F);

#[async_trait]
impl<F: Fn(&GraphState) -> bool + Send + Sync> Condition for ConditionFunction<F> {
    async fn holds(&self, state: &GraphState) -> Result<bool> {
        caught_call("a condition of a graph", || Ok((self.0)(state)))
    }
}

struct MapperFunction<F>(F);

#[async_trait]
impl<F: Fn(&GraphState) -> Message + Send + Sync> Mapper for MapperFunction<F> {
    async fn map(&self, state: &GraphState) -> Result<Message> {
        caught_call("an input mapper of a graph", || Ok((self.0)(state)))
    }
}

impl GraphBuilder {
    pub(super) fn new(id: String) -> Self {
        Self(GraphDefinition {
            id: id.into(),
            description: String::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            error_edges: Vec::new(),
            start: None,
            finish: None,
            max_steps: GraphDefinition::MAX_STEPS,
            max_concurrency: GraphDefinition::MAX_CONCURRENCY,
            locals: PromptLocals::default(),
        })
    }

    /// Says what it is for, where it serves as a tool.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.0.description = description.into();
        self
    }

    /// Adds a node.
    pub fn node(mut self, name: &str, node: impl Into<GraphNode>) -> Self {
        let node = node.into();
        self.0.nodes.push(NodeDefinition {
            name: name.into(),
            assembly: node.participant.0,
            policy: node.policy,
            history: node.history,
            context: node.context,
            mapper: node.mapper,
        });
        self
    }

    /// Adds a route: a [`GraphEdge`], or a pair of names.
    pub fn edge(mut self, edge: impl Into<GraphEdge>) -> Self {
        self.0.edges.push(edge.into().0);
        self
    }

    /// Leads failures of `kinds` at the node `from` to the node `to`, once no attempt is left.
    pub fn error_edge(
        self,
        from: &str,
        to: &str,
        kinds: impl IntoIterator<Item = ErrorKind>,
    ) -> Self {
        self.failure(from, to, kinds, None)
    }

    /// As [`error_edge`](Self::error_edge), with what the node at the end is asked.
    pub fn error_edge_with_input<M: Into<Message>>(
        self,
        from: &str,
        to: &str,
        kinds: impl IntoIterator<Item = ErrorKind>,
        mapper: impl Fn(&GraphState) -> M + Send + Sync + 'static,
    ) -> Self {
        let mapper = MapperFunction(move |state: &GraphState| mapper(state).into());
        self.failure(from, to, kinds, Some(Arc::new(mapper)))
    }

    fn failure(
        mut self,
        from: &str,
        to: &str,
        kinds: impl IntoIterator<Item = ErrorKind>,
        mapper: Option<Arc<dyn Mapper>>,
    ) -> Self {
        self.0.error_edges.push(ErrorEdge {
            from: from.into(),
            to: to.into(),
            on: named(kinds),
            mapper,
        });
        self
    }

    /// The node that begins.
    pub fn start(mut self, node: &str) -> Self {
        self.0.start = Some(node.into());
        self
    }

    /// The node whose answer is that of the graph.
    pub fn finish(mut self, node: &str) -> Self {
        self.0.finish = Some(node.into());
        self
    }

    /// The most executions of nodes, at least 1; 20 by default.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.0.max_steps = steps;
        self
    }

    /// The most branches at work at once, at least 1; 8 by default.
    pub fn max_concurrency(mut self, branches: usize) -> Self {
        self.0.max_concurrency = branches;
        self
    }

    /// A value that templates of the nodes' agents may use by `name`. Where one declares the same name, its own value counts.
    #[cfg(feature = "prompts")]
    pub fn prompt_local(mut self, name: impl Into<String>, value: impl serde::Serialize) -> Self {
        self.0.locals.add(name.into(), value);
        self
    }

    /// As [`prompt_local`](Self::prompt_local), with a function that gives the value in each run. Its error fails the run.
    #[cfg(feature = "prompts")]
    pub fn prompt_local_with(
        mut self,
        name: impl Into<String>,
        resolve: impl Fn(&Run) -> Result<serde_json::Value> + Send + Sync + 'static,
    ) -> Self {
        self.0.locals.add_resolver(name.into(), resolve);
        self
    }

    /// The graph.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) with the first thing that is wrong with nodes or routes; as
    /// [`AgentBuilder::build`](crate::AgentBuilder::build) for prompt locals.
    pub fn build(self) -> Result<Graph> {
        self.0.locals.check()?;
        let assembly = GraphAssembly::new(self.0)?;
        let mermaid = assembly.to_mermaid().into();
        Ok(Graph {
            entry: Entry::new(Arc::new(assembly)),
            mermaid,
        })
    }
}
