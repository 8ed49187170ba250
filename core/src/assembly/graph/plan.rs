//! The routes of a graph, found to be sound and ready to be followed.

use std::collections::BTreeSet;

use super::definition::GraphDefinition;
use super::region::Network;
use super::survey::Survey;
use crate::error::Result;

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To a node.
    Node(usize),
    /// Into the branches of a fork.
    Fork(usize),
}

/// The routes from one node, by position of their edges.
#[derive(Debug, Default)]
pub(super) struct Routes {
    pub(super) conditional: Vec<(usize, Target)>,
    pub(super) fallback: Option<(usize, Target)>,
}

/// Parallel branches between two nodes.
#[derive(Debug)]
pub(super) struct Fork {
    pub(super) source: usize,
    /// The first node of each branch, and the edge that leads there.
    pub(super) firsts: Vec<(usize, usize)>,
    pub(super) join: usize,
    /// The edge that declares the join, if one does.
    pub(super) join_edge: Option<usize>,
    pub(super) max_concurrency: Option<usize>,
}

/// The routes of a sound graph.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) start: usize,
    pub(super) finish: usize,
    pub(super) routes: Vec<Routes>,
    pub(super) forks: Vec<Fork>,
}

impl Plan {
    pub(super) fn new(graph: &GraphDefinition) -> Result<Self> {
        Survey::new(graph)?.plan()
    }

    /// The nodes on the branches of `fork`.
    pub(super) fn branches_of(&self, graph: &GraphDefinition, fork: &Fork) -> BTreeSet<usize> {
        let place = |name: &str| graph.nodes.iter().position(|node| *node.name == *name);
        let mut network = Network(vec![BTreeSet::new(); graph.nodes.len()]);
        for edge in &graph.edges {
            for from in edge.from.iter().filter_map(|from| place(from)) {
                if let Some(next) = network.0.get_mut(from) {
                    next.extend(edge.to.iter().filter_map(|to| place(to)));
                }
            }
        }
        let mut inside: BTreeSet<usize> = fork
            .firsts
            .iter()
            .flat_map(|(first, _)| network.from(*first, Some(fork.join)))
            .collect();
        inside.remove(&fork.join);
        inside
    }
}
