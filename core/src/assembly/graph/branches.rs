//! Parallel branches of a graph, on the way.

use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use super::passage::{Arrival, Passage, Walked, Way, unsound};
use super::plan::Fork;
use super::state::GraphState;
use crate::assembly::AssemblyEvent;
use crate::error::{Error, Result};

impl Passage<'_> {
    /// Walks all branches of a fork, and waits for them.
    pub(super) async fn fork(
        &self,
        number: usize,
        state: &mut GraphState,
        from: &Walked,
    ) -> Result<Arrival> {
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
        let limit = fork.max_concurrency.unwrap_or(self.graph.max_concurrency);
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
        let mut walks = pin!(stream::iter(walks).buffer_unordered(limit));
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
}
