//! Reachability in a graph, by position of nodes.

use std::collections::BTreeSet;

/// Successors of each node.
pub(super) struct Network(pub(super) Vec<BTreeSet<usize>>);

impl Network {
    /// Everything that `start` leads to, itself included, without going on from `until`.
    pub(super) fn from(&self, start: usize, until: Option<usize>) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut next = vec![start];
        while let Some(node) = next.pop() {
            if !seen.insert(node) || Some(node) == until {
                continue;
            }
            next.extend(self.0.get(node).into_iter().flatten());
        }
        seen
    }

    /// The first nodes that all of `firsts` lead to: those that no other common node leads to.
    pub(super) fn meeting_points(&self, firsts: &[usize]) -> Vec<usize> {
        let mut reached = firsts.iter().map(|first| self.from(*first, None));
        let Some(mut common) = reached.next() else {
            return Vec::new();
        };
        for other in reached {
            common = common.intersection(&other).copied().collect();
        }
        let leads = |from: usize, to: usize| {
            self.0
                .get(from)
                .into_iter()
                .flatten()
                .any(|next| self.from(*next, None).contains(&to))
        };
        common
            .iter()
            .copied()
            .filter(|point| {
                !common
                    .iter()
                    .any(|other| other != point && leads(*other, *point))
            })
            .collect()
    }
}
