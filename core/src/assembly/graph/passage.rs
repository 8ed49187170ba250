//! One request on its way through a graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use super::definition::{GraphDefinition, Mapper, NodeDefinition};
use super::input::default_input;
use super::plan::{Fork, Plan, Target};
use super::state::GraphState;
use crate::assembly::{AssemblyEvent, AssemblyKind, Composite, FailedStep, StepPlan};
use crate::error::{Error, ErrorKind, Result};
use crate::run::{Audience, RunResult};

/// One request on its way through a graph.
pub(super) struct Passage<'a> {
    graph: &'a GraphDefinition,
    plan: &'a Plan,
    composite: Composite,
    steps: AtomicU32,
}

/// The way to a node.
struct Arrival {
    node: usize,
    mapper: Option<Arc<dyn Mapper>>,
    /// The nodes whose results supply it.
    incoming: Vec<Arc<str>>,
    /// Their steps.
    predecessors: Vec<Arc<str>>,
    error: Option<Error>,
}

/// Which part of the graph is walked.
struct Way {
    branch: Option<Arc<str>>,
    /// Where the branch ends, before that node.
    until: Option<usize>,
    beside: CancellationToken,
}

/// How far a way went.
struct Walked {
    state: GraphState,
    last: Arc<str>,
    step: Arc<str>,
    result: Arc<RunResult>,
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
    async fn walk(&self, start: Arrival, mut state: GraphState, way: &Way) -> Result<Walked> {
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

    /// The one route whose condition holds, else the unconditional one.
    async fn route(&self, from: usize, state: &GraphState) -> Result<(usize, Target)> {
        let name = &self.node(from)?.name;
        let lost = |problem: &str| {
            Err(Error::new(
                ErrorKind::AssemblyRouting,
                format!("the graph {:?} {problem} from {name:?}", self.graph.id),
            ))
        };
        let Some(routes) = self.plan.routes.get(from) else {
            return lost("has no route");
        };
        let mut holding = Vec::new();
        for (edge, target) in &routes.conditional {
            let condition = self
                .graph
                .edges
                .get(*edge)
                .and_then(|edge| edge.condition.as_ref());
            if let Some(condition) = condition
                && self.composite.part.bounded(condition.holds(state)).await?
            {
                holding.push((*edge, *target));
            }
        }
        match (holding.as_slice(), routes.fallback) {
            ([only], _) => Ok(*only),
            ([], Some(fallback)) => Ok(fallback),
            ([], None) => lost("finds no route that may be taken"),
            _ => lost("finds more than one route that may be taken"),
        }
    }

    /// The way of a failure, if one is declared for it.
    async fn recover(
        &self,
        node: &NodeDefinition,
        failed: Box<FailedStep>,
        way: &Way,
    ) -> Result<Arrival> {
        let FailedStep { step, error, spoke } = *failed;
        let final_kinds = [
            ErrorKind::Cancelled,
            ErrorKind::DeadlineExceeded,
            ErrorKind::Cleanup,
        ];
        if final_kinds.into_iter().any(|kind| error.is(kind)) {
            return Err(error);
        }
        let mut matching = Vec::new();
        for edge in &self.graph.error_edges {
            if edge.from == node.name && edge.on.matches(&error).await? {
                matching.push(edge);
            }
        }
        let edge = match matching.as_slice() {
            [] => return Err(error),
            [only] => *only,
            _ => {
                return Err(Error::new(
                    ErrorKind::AssemblyRouting,
                    format!(
                        "the graph {:?} finds more than one error edge from {:?} for {}",
                        self.graph.id,
                        node.name,
                        error.class_name()
                    ),
                ));
            }
        };
        let predecessor = Arc::clone(&step.id);
        self.composite.recorder.add(step, &[]);
        let to = self.place(&edge.to)?;
        self.transition(node, to, Some(spoke), way).await?;
        Ok(Arrival {
            node: to,
            mapper: edge.mapper.clone(),
            incoming: vec![Arc::clone(&node.name)],
            predecessors: vec![predecessor],
            error: Some(error),
        })
    }

    /// Walks all branches of a fork, and waits for them.
    async fn fork(&self, number: usize, state: &mut GraphState, from: &Walked) -> Result<Arrival> {
        let fork = self.plan.forks.get(number).ok_or_else(unsound)?;
        let names: Vec<Arc<str>> = fork
            .firsts
            .iter()
            .map(|(first, _)| self.node(*first).map(|node| Arc::clone(&node.name)))
            .collect::<Result<_>>()?;
        self.composite
            .tell(AssemblyEvent::Fork {
                assembly_id: Arc::clone(&self.graph.id),
                from: Arc::clone(&from.last),
                branches: names,
            })
            .await;
        let walked = self.branches(fork, state, from).await?;
        let lasts: Vec<Arc<str>> = walked
            .iter()
            .map(|branch| Arc::clone(&branch.last))
            .collect();
        for branch in &walked {
            for name in &branch.state.order {
                if let Some(result) = branch.state.results.get(name)
                    && !from
                        .state
                        .results
                        .get(name)
                        .is_some_and(|known| Arc::ptr_eq(known, result))
                {
                    state.keep(name, Arc::clone(result));
                }
            }
        }
        self.composite
            .tell(AssemblyEvent::Join {
                assembly_id: Arc::clone(&self.graph.id),
                from: lasts.clone(),
                to: Arc::clone(&self.node(fork.join)?.name),
            })
            .await;
        Ok(Arrival {
            node: fork.join,
            mapper: fork.join_edge.and_then(|edge| self.mapper_of(edge)),
            incoming: self.declared_order(fork, lasts),
            predecessors: walked.into_iter().map(|branch| branch.step).collect(),
            error: None,
        })
    }

    async fn branches(
        &self,
        fork: &Fork,
        state: &GraphState,
        from: &Walked,
    ) -> Result<Vec<Walked>> {
        let limit = fork
            .max_concurrency
            .unwrap_or(self.graph.max_concurrency)
            .max(1);
        let beside = CancellationToken::new();
        let mut walks = Vec::with_capacity(fork.firsts.len());
        for (place, (first, edge)) in fork.firsts.iter().enumerate() {
            let way = Way {
                branch: Some(Arc::clone(&self.node(*first)?.name)),
                until: Some(fork.join),
                beside: beside.clone(),
            };
            let arrival = Arrival {
                node: *first,
                mapper: self.mapper_of(*edge),
                incoming: vec![Arc::clone(&from.last)],
                predecessors: vec![Arc::clone(&from.step)],
                error: None,
            };
            walks.push(self.branch(place, arrival, state.clone(), way));
        }
        let mut walks = std::pin::pin!(stream::iter(walks).buffer_unordered(limit));
        let mut failure = None;
        let mut walked = Vec::new();
        while let Some((place, outcome)) = walks.next().await {
            match outcome {
                Ok(branch) => walked.push((place, branch)),
                Err(error) => {
                    beside.cancel();
                    failure.get_or_insert(error);
                }
            }
        }
        walked.sort_by_key(|(place, _)| *place);
        let walked = walked.into_iter().map(|(_, branch)| branch).collect();
        failure.map_or(Ok(walked), Err)
    }

    /// Boxed, because a walk and its branches contain each other.
    fn branch(
        &self,
        place: usize,
        arrival: Arrival,
        state: GraphState,
        way: Way,
    ) -> BoxFuture<'_, (usize, Result<Walked>)> {
        async move {
            if way.beside.is_cancelled() {
                return (place, Err(Error::cancelled()));
            }
            (place, self.walk(arrival, state, &way).await)
        }
        .boxed()
    }

    /// The predecessors of a join as its edge lists them.
    fn declared_order(&self, fork: &Fork, lasts: Vec<Arc<str>>) -> Vec<Arc<str>> {
        match fork.join_edge.and_then(|edge| self.graph.edges.get(edge)) {
            Some(edge) => edge.from.clone(),
            None => lasts,
        }
    }

    /// Announces the way from `from` to `to`; of a failure, with whether its text had been seen.
    async fn transition(
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

    fn mapper_of(&self, edge: usize) -> Option<Arc<dyn Mapper>> {
        self.graph.edges.get(edge)?.mapper.clone()
    }

    fn node(&self, place: usize) -> Result<&'a NodeDefinition> {
        self.graph.nodes.get(place).ok_or_else(unsound)
    }

    fn place(&self, name: &str) -> Result<usize> {
        let mut nodes = self.graph.nodes.iter();
        nodes
            .position(|node| *node.name == *name)
            .ok_or_else(unsound)
    }
}

/// A plan and its graph do not belong together.
fn unsound() -> Error {
    Error::new(
        ErrorKind::Error,
        "a route leads nowhere although the graph was checked; this is a bug in the engine",
    )
}
