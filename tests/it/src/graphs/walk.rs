//! The way of a request through a sound graph, one node after the other.

use little_ghost::ErrorKind;

use super::case::{Case, name};

/// Executions that a graph may have.
const MAX_STEPS: usize = 20;

/// A step, and those that led to it.
type Walked = (String, Vec<String>);

/// Which nodes are asked, after which.
///
/// # Errors
/// The failure with which the request ends.
pub fn walked(case: &Case, seed: u64) -> Result<Vec<Walked>, ErrorKind> {
    let mut walk = Walk {
        case,
        seed,
        steps: Vec::new(),
    };
    walk.go(0, Vec::new(), &mut Vec::new(), None)?;
    Ok(walk.steps)
}

struct Walk<'a> {
    case: &'a Case,
    seed: u64,
    steps: Vec<Walked>,
}

impl Walk<'_> {
    /// Goes on from `node` until the finish, or before `end`, and returns the last node. `ended` has the nodes with a
    /// result.
    fn go(
        &mut self,
        node: usize,
        after: Vec<usize>,
        ended: &mut Vec<usize>,
        end: Option<usize>,
    ) -> Result<usize, ErrorKind> {
        let (mut node, mut after) = (node, after);
        loop {
            if self.steps.len() == MAX_STEPS {
                return Err(ErrorKind::AssemblyLimit);
            }
            self.steps
                .push((name(node), after.iter().map(|node| name(*node)).collect()));
            if self.case.failing.contains(&node) {
                let way = self
                    .case
                    .error_routes
                    .iter()
                    .find(|(from, _)| *from == node)
                    .unwrap();
                (node, after) = (way.1, vec![node]);
                continue;
            }
            if !ended.contains(&node) {
                ended.push(node);
            }
            if node == self.case.nodes - 1 {
                return Ok(node);
            }
            let targets = self.targets(node, ended.len(), end);
            let targets = targets.ok_or(ErrorKind::AssemblyRouting)?;
            match targets.as_slice() {
                [only] if Some(*only) == end => return Ok(node),
                [only] => (node, after) = (*only, vec![node]),
                firsts => (node, after) = self.branches(node, firsts, ended)?,
            }
        }
    }

    /// Where one goes from `node`; `None` when no route may be taken. A branch that a declared join waits for goes to its
    /// `end`.
    fn targets(&self, node: usize, ended: usize, end: Option<usize>) -> Option<Vec<usize>> {
        let own: Vec<_> = self
            .case
            .routes_from(node)
            .map(|(_, route)| route)
            .collect();
        let conditional: Vec<_> = own.iter().filter(|route| route.conditional).collect();
        let choice = Case::choice(self.seed, node, ended, conditional.len());
        if let Some(route) = conditional.get(choice) {
            return Some(route.to.clone());
        }
        let plain: Vec<usize> = own
            .iter()
            .filter(|route| !route.conditional)
            .flat_map(|route| route.to.clone())
            .collect();
        match plain.len() {
            0 => end.filter(|_| own.is_empty()).map(|end| vec![end]),
            _ => Some(plain),
        }
    }

    /// Walks the branches, and says where they meet and after which nodes.
    fn branches(
        &mut self,
        source: usize,
        firsts: &[usize],
        ended: &mut Vec<usize>,
    ) -> Result<(usize, Vec<usize>), ErrorKind> {
        let join = self.join(source, firsts);
        let mut lasts = Vec::new();
        let before = ended.clone();
        for first in firsts {
            let mut own = before.clone();
            lasts.push(self.go(*first, vec![source], &mut own, Some(join))?);
            ended.extend(own.into_iter().filter(|node| !before.contains(node)));
        }
        Ok((join, lasts))
    }

    /// The nearest node that every branch comes to without a new beginning.
    fn join(&self, source: usize, firsts: &[usize]) -> usize {
        let reached: Vec<Vec<usize>> = firsts
            .iter()
            .map(|first| self.in_order(source, *first))
            .collect();
        let common = |node: &&usize| reached.iter().all(|others| others.contains(*node));
        *reached[0].iter().find(common).unwrap()
    }

    /// Everything behind `first`, itself included, breadth first, but nothing behind `source`.
    fn in_order(&self, source: usize, first: usize) -> Vec<usize> {
        let mut found = vec![first];
        let mut place = 0;
        while place < found.len() {
            let node = found[place];
            for route in self
                .case
                .routes
                .iter()
                .filter(|route| route.from.contains(&node))
            {
                for to in &route.to {
                    if !found.contains(to) && *to != source {
                        found.push(*to);
                    }
                }
            }
            place += 1;
        }
        found
    }
}
