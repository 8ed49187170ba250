//! Which way a graph goes on.

use std::sync::Arc;

use super::definition::NodeDefinition;
use super::passage::{Arrival, Passage, Way};
use super::plan::Target;
use super::state::GraphState;
use crate::assembly::FailedStep;
use crate::error::{Error, ErrorKind, Result};

impl Passage<'_> {
    /// The one route whose condition holds, else the unconditional one.
    pub(super) async fn route(&self, from: usize, state: &GraphState) -> Result<(usize, Target)> {
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
            (several, _) => {
                let edges = several
                    .iter()
                    .filter_map(|(edge, _)| self.graph.edges.get(*edge));
                let targets: Vec<_> = edges.flat_map(|edge| &edge.to).collect();
                lost(&format!(
                    "finds more than one route that may be taken (to {targets:?})"
                ))
            }
        }
    }

    /// The way of a failure, if one is declared for it.
    pub(super) async fn recover(
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
}
