//! The routes of a graph, found to be sound and ready to be followed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::definition::{EdgeDefinition, GraphDefinition};
use super::region::Network;
use crate::error::{Error, ErrorKind, Result};

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
}

/// A graph that is being looked at.
struct Survey<'a> {
    graph: &'a GraphDefinition,
    places: HashMap<&'a str, usize>,
    network: Network,
    start: usize,
    finish: usize,
}

impl<'a> Survey<'a> {
    fn new(graph: &'a GraphDefinition) -> Result<Self> {
        let mut places = HashMap::new();
        for (place, node) in graph.nodes.iter().enumerate() {
            if places.insert(&*node.name, place).is_some() {
                return Err(wrong(
                    graph,
                    &format!("has two nodes called {:?}", node.name),
                ));
            }
        }
        if graph.nodes.is_empty() {
            return Err(wrong(graph, "has no nodes"));
        }
        let end = |what: &str, name: &Option<Arc<str>>| {
            let Some(name) = name else {
                return Err(wrong(graph, &format!("has no {what}")));
            };
            places.get(&**name).copied().ok_or_else(|| {
                wrong(
                    graph,
                    &format!("has {name:?} as {what}, which is no node of it"),
                )
            })
        };
        let (start, finish) = (end("start", &graph.start)?, end("finish", &graph.finish)?);
        let mut network = Network(vec![BTreeSet::new(); graph.nodes.len()]);
        for edge in &graph.edges {
            for from in &edge.from {
                for to in &edge.to {
                    let (Some(from), Some(to)) = (places.get(&**from), places.get(&**to)) else {
                        let problem =
                            format!("has an edge {from:?} to {to:?}, one of which is no node");
                        return Err(wrong(graph, &problem));
                    };
                    if *from == finish {
                        return Err(wrong(graph, &format!("goes on to {to:?} after its finish")));
                    }
                    if let Some(next) = network.0.get_mut(*from) {
                        next.insert(*to);
                    }
                }
            }
        }
        for edge in &graph.error_edges {
            if !places.contains_key(&*edge.from) || !places.contains_key(&*edge.to) {
                let problem = format!(
                    "has an error edge {:?} to {:?}, one of which is no node",
                    edge.from, edge.to
                );
                return Err(wrong(graph, &problem));
            }
        }
        Ok(Self {
            graph,
            places,
            network,
            start,
            finish,
        })
    }

    fn plan(self) -> Result<Plan> {
        self.check_reach()?;
        let mut forks = Vec::new();
        let mut routes = Vec::with_capacity(self.graph.nodes.len());
        for place in 0..self.graph.nodes.len() {
            routes.push(self.routes(place, &mut forks)?);
        }
        let mut joins: BTreeSet<usize> = self.fan_ins().map(|(edge, _)| edge).collect();
        for fork in &mut forks {
            self.find_join(fork)?;
            if let Some(edge) = fork.join_edge {
                joins.remove(&edge);
            }
        }
        if let Some(edge) = joins.first().and_then(|edge| self.graph.edges.get(*edge)) {
            return self.wrong(format!(
                "joins {} without parallel branches that end there",
                list(&edge.from)
            ));
        }
        self.check_regions(&forks)?;
        Ok(Plan {
            start: self.start,
            finish: self.finish,
            routes,
            forks,
        })
    }

    fn check_reach(&self) -> Result<()> {
        let mut all = Network(self.network.0.clone());
        for edge in &self.graph.error_edges {
            if let Some(next) = all.0.get_mut(self.place(&edge.from)) {
                next.insert(self.place(&edge.to));
            }
        }
        let reached = all.from(self.start, None);
        if !reached.contains(&self.finish) {
            return self.wrong("never comes to its finish".into());
        }
        for (place, node) in self.graph.nodes.iter().enumerate() {
            if !reached.contains(&place) {
                return self.wrong(format!("never comes to {:?}", node.name));
            }
            let goes_on = self
                .network
                .0
                .get(place)
                .is_some_and(|next| !next.is_empty());
            if place != self.finish && !goes_on {
                return self.wrong(format!("has no route from {:?}", node.name));
            }
        }
        Ok(())
    }

    /// The routes from `place`, and the forks that begin there.
    fn routes(&self, place: usize, forks: &mut Vec<Fork>) -> Result<Routes> {
        let name = self.name(place);
        let own: Vec<(usize, &EdgeDefinition)> = self
            .graph
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| !edge.fans_in && edge.from.first() == Some(name))
            .collect();
        let mut routes = Routes::default();
        let mut fork = |edges: Vec<(usize, usize)>, limit| {
            forks.push(Fork {
                source: place,
                firsts: edges,
                join: place,
                join_edge: None,
                max_concurrency: limit,
            });
            Target::Fork(forks.len() - 1)
        };
        let (conditional, plain): (Vec<_>, Vec<_>) = own
            .into_iter()
            .partition(|(_, edge)| edge.condition.is_some());
        for (number, edge) in &conditional {
            let target = match self.group(*number, edge)? {
                Some(group) => fork(group, edge.max_concurrency),
                None => Target::Node(self.target(edge)),
            };
            routes.conditional.push((*number, target));
        }
        let groups = plain.iter().filter(|(_, edge)| edge.fans_out).count();
        match plain.as_slice() {
            [] => {}
            [(number, edge)] => {
                let target = match self.group(*number, edge)? {
                    Some(group) => fork(group, edge.max_concurrency),
                    None => Target::Node(self.target(edge)),
                };
                routes.fallback = Some((*number, target));
            }
            several if groups > 0 || !conditional.is_empty() => {
                return self.wrong(format!(
                    "has {} unconditional routes from {name:?}, so that it is not clear which one to take",
                    several.len()
                ));
            }
            several => {
                let group: Vec<(usize, usize)> = several
                    .iter()
                    .map(|(number, edge)| (self.target(edge), *number))
                    .collect();
                self.check_distinct(place, &group)?;
                let first = several.first().map_or(0, |(number, _)| *number);
                routes.fallback = Some((first, fork(group, None)));
            }
        }
        Ok(routes)
    }

    /// The branches of an edge to several nodes.
    fn group(&self, number: usize, edge: &EdgeDefinition) -> Result<Option<Vec<(usize, usize)>>> {
        if !edge.fans_out {
            return Ok(None);
        }
        let group: Vec<(usize, usize)> =
            edge.to.iter().map(|to| (self.place(to), number)).collect();
        self.check_distinct(edge.from.first().map_or(0, |from| self.place(from)), &group)?;
        Ok(Some(group))
    }

    fn check_distinct(&self, source: usize, group: &[(usize, usize)]) -> Result<()> {
        let distinct: BTreeSet<usize> = group.iter().map(|(first, _)| *first).collect();
        if distinct.len() < group.len() {
            return self.wrong(format!(
                "leads from {:?} to the same node twice",
                self.name(source)
            ));
        }
        Ok(())
    }

    fn fan_ins(&self) -> impl Iterator<Item = (usize, &EdgeDefinition)> {
        self.graph
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.fans_in)
    }

    fn find_join(&self, fork: &mut Fork) -> Result<()> {
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

    fn check_regions(&self, forks: &[Fork]) -> Result<()> {
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

    fn target(&self, edge: &EdgeDefinition) -> usize {
        edge.to.first().map_or(0, |to| self.place(to))
    }

    fn place(&self, name: &str) -> usize {
        self.places.get(name).copied().unwrap_or_default()
    }

    fn name(&self, place: usize) -> &'a Arc<str> {
        static NONE: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "".into());
        self.graph.nodes.get(place).map_or(&NONE, |node| &node.name)
    }

    fn wrong<T>(&self, problem: String) -> Result<T> {
        Err(wrong(self.graph, &problem))
    }
}

fn wrong(graph: &GraphDefinition, problem: &str) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("the graph {:?} {problem}", graph.id),
    )
}

fn list(names: &[Arc<str>]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

impl Plan {
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
