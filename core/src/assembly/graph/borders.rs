//! That the parallel branches of a graph keep to themselves.

use std::collections::HashMap;

use super::plan::Fork;
use super::survey::Survey;
use crate::error::Result;

impl Survey<'_> {
    /// Fails for branches that share nodes, contain branches, or have other ways in or out.
    pub(super) fn check_regions(&self, forks: &[Fork]) -> Result<()> {
        self.check_nesting(forks)?;
        let mut owner: HashMap<usize, (usize, usize)> = HashMap::new();
        for (number, fork) in forks.iter().enumerate() {
            let source = self.name(fork.source);
            for (branch, (first, _)) in fork.firsts.iter().enumerate() {
                if *first == fork.join {
                    return self.wrong(format!(
                        "leads from {source:?} both to {:?} and to branches that end there",
                        self.name(fork.join)
                    ));
                }
                let mut region = self.network.from(*first, Some(fork.join));
                region.remove(&fork.join);
                for place in region {
                    if place == self.finish || place == fork.source {
                        return self.wrong(format!(
                            "has a branch from {source:?} that comes to {:?} before the branches meet",
                            self.name(place)
                        ));
                    }
                    if owner.insert(place, (number, branch)).is_some() {
                        return self.wrong(format!(
                            "has {:?} on more than one parallel branch",
                            self.name(place)
                        ));
                    }
                }
            }
        }
        if owner.contains_key(&self.start) {
            return self.wrong(format!(
                "starts with {:?}, which is on a parallel branch",
                self.name(self.start)
            ));
        }
        self.check_borders(forks, &owner)
    }

    fn check_nesting(&self, forks: &[Fork]) -> Result<()> {
        for fork in forks {
            for (first, _) in &fork.firsts {
                let mut region = self.network.from(*first, Some(fork.join));
                region.remove(&fork.join);
                if let Some(inner) = forks.iter().find(|inner| region.contains(&inner.source)) {
                    return self.wrong(format!(
                        "begins parallel branches at {:?}, which is on a parallel branch itself",
                        self.name(inner.source)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Branches are entered by their fork only, and left to their join only, by one way.
    fn check_borders(&self, forks: &[Fork], owner: &HashMap<usize, (usize, usize)>) -> Result<()> {
        for edge in &self.graph.edges {
            for (from, to) in edge
                .from
                .iter()
                .flat_map(|from| edge.to.iter().map(move |to| (from, to)))
            {
                let (from, to) = (self.place(from), self.place(to));
                match (owner.get(&from), owner.get(&to)) {
                    (inside, Some(branch)) if inside != Some(branch) => {
                        let opens = forks.get(branch.0).is_some_and(|fork| {
                            fork.source == from && fork.firsts.iter().any(|(first, _)| *first == to)
                        });
                        if !opens {
                            return self.strays(from, to);
                        }
                    }
                    (Some((fork, _)), None) => {
                        let Some(fork) = forks.get(*fork) else {
                            continue;
                        };
                        let only = self.network.0.get(from).is_some_and(|next| next.len() == 1);
                        let plain = edge.condition.is_none()
                            && (edge.mapper.is_none() || edge.fans_in)
                            && edge.fans_in == fork.join_edge.is_some();
                        if to != fork.join || !only || !plain {
                            return self.wrong(format!(
                                "has another route, a condition or a mapper where a branch ends at {:?}",
                                self.name(from)
                            ));
                        }
                    }
                    _ => {}
                }
            }
        }
        for edge in &self.graph.error_edges {
            let (from, to) = (self.place(&edge.from), self.place(&edge.to));
            if owner.get(&from) != owner.get(&to) {
                return self.strays(from, to);
            }
        }
        Ok(())
    }

    fn strays<T>(&self, from: usize, to: usize) -> Result<T> {
        self.wrong(format!(
            "leads from {:?} to {:?} across the border of a parallel branch",
            self.name(from),
            self.name(to)
        ))
    }
}
