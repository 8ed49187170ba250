//! Where the parallel branches of a graph meet.

use super::definition::EdgeDefinition;
use super::plan::Fork;
use super::survey::Survey;
use crate::error::Result;

impl Survey<'_> {
    pub(super) fn fan_ins(&self) -> impl Iterator<Item = (usize, &EdgeDefinition)> {
        self.graph
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.fans_in)
    }

    pub(super) fn find_join(&self, fork: &mut Fork) -> Result<()> {
        let source = self.name(fork.source).clone();
        let declared: Vec<(usize, &EdgeDefinition)> = self
            .fan_ins()
            .filter(|(_, edge)| self.closes(fork, edge))
            .collect();
        match declared.as_slice() {
            [(number, edge)] => {
                fork.join = self.target(edge);
                fork.join_edge = Some(*number);
                return Ok(());
            }
            [] => {}
            _ => {
                return self.wrong(format!(
                    "has more than one join for the branches from {source:?}"
                ));
            }
        }
        let firsts: Vec<usize> = fork.firsts.iter().map(|(first, _)| *first).collect();
        match self.network.meeting_points(&firsts).as_slice() {
            [join] => {
                fork.join = *join;
                Ok(())
            }
            [] => self.wrong(format!("has branches from {source:?} that never meet")),
            _ => self.wrong(format!(
                "has branches from {source:?} that meet at more than one node; declare the join by an edge from all of them"
            )),
        }
    }

    /// Whether `edge` waits for one node of each branch.
    fn closes(&self, fork: &Fork, edge: &EdgeDefinition) -> bool {
        let join = self.target(edge);
        edge.from.len() == fork.firsts.len()
            && fork.firsts.iter().all(|(first, _)| {
                let branch = self.network.from(*first, Some(join));
                edge.from
                    .iter()
                    .filter(|last| branch.contains(&self.place(last)))
                    .count()
                    == 1
            })
    }
}
