//! One request on its way through a graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Map;
use tokio_util::sync::CancellationToken;

use super::definition::{GraphDefinition, Mapper, NodeDefinition};
use super::input::default_input;
use super::plan::{Plan, Target};
use super::state::GraphState;
use crate::assembly::{AssemblyEvent, AssemblyKind, Composite, StepPlan};
use crate::error::{Error, ErrorKind, Result};
use crate::run::{Audience, RunResult};

/// One request on its way through a graph.
pub(super) struct Passage<'a> {
    pub(super) graph: &'a GraphDefinition,
    pub(super) plan: &'a Plan,
    pub(super) composite: Composite,
    steps: AtomicU32,
}

/// The way to a node.
pub(super) struct Arrival {
    pub(super) node: usize,
    pub(super) mapper: Option<Arc<dyn Mapper>>,
    /// The nodes whose results supply it.
    pub(super) incoming: Vec<Arc<str>>,
    /// Their steps.
    pub(super) predecessors: Vec<Arc<str>>,
    pub(super) error: Option<Error>,
}

/// Which part of the graph is walked.
pub(super) struct Way {
    pub(super) branch: Option<Arc<str>>,
    /// Where the branch ends, before that node.
    pub(super) until: Option<usize>,
    pub(super) beside: CancellationToken,
}

/// How far a way went.
pub(super) struct Walked {
    pub(super) state: GraphState,
    pub(super) last: Arc<str>,
    pub(super) step: Arc<str>,
    pub(super) result: Arc<RunResult>,
}

impl<'a> Passage<'a> {
    pub(super) fn new(graph: &'a GraphDefinition, plan: &'a Plan, composite: Composite) -> Self {
        Self {
            graph,
            plan,
            composite,
            steps: AtomicU32::new(0),
        }
    }

    pub(super) async fn run(self) -> Result<Arc<RunResult>> {
        let part = &self.composite.part;
        let state = GraphState {
            input: part.invocation.message().clone(),
            history: part.history(),
            context: part.with_state(|state| state.clone()),
            current: None,
            step: 0,
            error: None,
            order: Vec::new(),
            results: std::collections::HashMap::new(),
            incoming: Vec::new(),
        };
        let start = Arrival {
            node: self.plan.start,
            mapper: None,
            incoming: Vec::new(),
            predecessors: Vec::new(),
            error: None,
        };
        let whole = Way {
            branch: None,
            until: None,
            beside: CancellationToken::new(),
        };
        let walked = self.walk(start, state, &whole).await?;
        Ok(self.composite.recorder.conclude(part, &walked.result))
    }

    /// Goes from node to node until the finish, or the end of the branch.
    pub(super) async fn walk(
        &self,
        start: Arrival,
        mut state: GraphState,
        way: &Way,
    ) -> Result<Walked> {
        let mut at = start;
        loop {
            let node = self.node(at.node)?;
            let number = self.count()?;
            state.current = Some(Arc::clone(&node.name));
            state.step = number;
            state.incoming.clone_from(&at.incoming);
            state.error = at.error.take();
            let plan = self.step(node, &at, &state, way).await?;
            let done = match self.composite.run(plan).await {
                Ok(done) => done,
                Err(failed) => {
                    at = self.recover(node, failed, way).await?;
                    continue;
                }
            };
            state.error = None;
            state.keep(&node.name, Arc::clone(&done.result));
            let ended = Walked {
                state: state.clone(),
                last: Arc::clone(&node.name),
                step: Arc::clone(&done.step.id),
                result: Arc::clone(&done.result),
            };
            if at.node == self.plan.finish {
                return Ok(ended);
            }
            // Where a branch ends there is no choice.
            if way.until.is_some() && self.is_last(at.node, way) {
                return Ok(ended);
            }
            at = match self.route(at.node, &state).await? {
                (edge, Target::Node(to)) => {
                    self.transition(node, to, None, way).await?;
                    Arrival {
                        node: to,
                        mapper: self.mapper_of(edge),
                        incoming: vec![ended.last],
                        predecessors: vec![ended.step],
                        error: None,
                    }
                }
                (_, Target::Fork(fork)) => self.fork(fork, &mut state, &ended).await?,
            };
        }
    }

    fn is_last(&self, node: usize, way: &Way) -> bool {
        let Some(until) = way.until else {
            return false;
        };
        self.plan.routes.get(node).is_none_or(|routes| {
            routes.conditional.is_empty()
                && routes
                    .fallback
                    .is_none_or(|(_, target)| target == Target::Node(until))
        })
    }

    async fn step(
        &self,
        node: &NodeDefinition,
        at: &Arrival,
        state: &GraphState,
        way: &Way,
    ) -> Result<StepPlan> {
        let part = &self.composite.part;
        let message = match at.mapper.as_ref().or(node.mapper.as_ref()) {
            Some(mapper) => part.bounded(mapper.map(state)).await?,
            None => default_input(state),
        };
        let is_final = at.node == self.plan.finish;
        Ok(StepPlan {
            participant: Arc::clone(&node.name),
            target: Arc::clone(&node.assembly),
            policy: node.policy.clone(),
            message,
            history: if node.history {
                state.history.clone()
            } else {
                Vec::new()
            },
            context: if node.context {
                state.context.clone()
            } else {
                Map::new()
            },
            audience: if is_final {
                Audience::Answer
            } else {
                Audience::Nobody
            },
            branch_id: way.branch.clone(),
            number: None,
            predecessors: at.predecessors.clone(),
            beside: way.beside.clone(),
            output: None,
        })
    }

    /// Announces the way from `from` to `to`; of a failure, with whether its text had been seen.
    pub(super) async fn transition(
        &self,
        from: &NodeDefinition,
        to: usize,
        failed: Option<bool>,
        way: &Way,
    ) -> Result<()> {
        self.composite
            .tell(AssemblyEvent::Transition {
                assembly: (Arc::clone(&self.graph.id), AssemblyKind::Graph),
                step: self.steps.load(Ordering::Relaxed),
                from: Arc::clone(&from.name),
                to: Arc::clone(&self.node(to)?.name),
                route: Some((failed.is_some(), way.branch.clone())),
                partial_text: failed.unwrap_or_default(),
            })
            .await;
        Ok(())
    }

    fn count(&self) -> Result<u32> {
        let number = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        if number <= self.graph.max_steps {
            return Ok(number);
        }
        Err(Error::new(
            ErrorKind::AssemblyLimit,
            format!(
                "the graph {:?} did not finish within {} node executions (max_steps)",
                self.graph.id, self.graph.max_steps
            ),
        ))
    }

    pub(super) fn mapper_of(&self, edge: usize) -> Option<Arc<dyn Mapper>> {
        self.graph.edges.get(edge)?.mapper.clone()
    }

    pub(super) fn node(&self, place: usize) -> Result<&'a NodeDefinition> {
        self.graph.nodes.get(place).ok_or_else(unsound)
    }

    pub(super) fn place(&self, name: &str) -> Result<usize> {
        let mut nodes = self.graph.nodes.iter();
        nodes
            .position(|node| *node.name == *name)
            .ok_or_else(unsound)
    }
}

/// A plan and its graph do not belong together.
pub(super) fn unsound() -> Error {
    Error::new(
        ErrorKind::Error,
        "a route leads nowhere although the graph was checked; this is a bug in the engine",
    )
}
