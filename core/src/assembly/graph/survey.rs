//! Looks whether a graph is sound, and finds its routes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::definition::{EdgeDefinition, GraphDefinition};
use super::plan::{Fork, Plan, Routes, Target};
use super::region::Network;
use crate::assembly::check_name;
use crate::error::{Error, ErrorKind, Result};

/// A graph that is being looked at.
pub(super) struct Survey<'a> {
    pub(super) graph: &'a GraphDefinition,
    places: HashMap<&'a str, usize>,
    pub(super) network: Network,
    pub(super) start: usize,
    pub(super) finish: usize,
}

impl<'a> Survey<'a> {
    pub(super) fn new(graph: &'a GraphDefinition) -> Result<Self> {
        check_name("the id of a graph", &graph.id)?;
        check_numbers(graph)?;
        let mut places = HashMap::new();
        for (place, node) in graph.nodes.iter().enumerate() {
            check_name(
                &format!("the name of a node of the graph {:?}", graph.id),
                &node.name,
            )?;
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
            if edge.from.is_empty() || edge.to.is_empty() {
                return Err(wrong(
                    graph,
                    &format!(
                        "has an edge that {}",
                        match (edge.from.first(), edge.to.first()) {
                            (Some(from), _) => format!("leads from {from:?} to no node"),
                            (None, Some(to)) => format!("leads to {to:?} from no node"),
                            (None, None) => "joins no nodes".to_owned(),
                        }
                    ),
                ));
            }
            for from in &edge.from {
                for to in &edge.to {
                    let (Some(source), Some(target)) = (places.get(&**from), places.get(&**to))
                    else {
                        let problem =
                            format!("has an edge {from:?} to {to:?}, one of which is no node");
                        return Err(wrong(graph, &problem));
                    };
                    if *source == finish {
                        return Err(wrong(graph, &format!("goes on to {to:?} after its finish")));
                    }
                    if let Some(next) = network.0.get_mut(*source) {
                        next.insert(*target);
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

    pub(super) fn plan(self) -> Result<Plan> {
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

    pub(super) fn target(&self, edge: &EdgeDefinition) -> usize {
        edge.to.first().map_or(0, |to| self.place(to))
    }

    pub(super) fn place(&self, name: &str) -> usize {
        self.places.get(name).copied().unwrap_or_default()
    }

    pub(super) fn name(&self, place: usize) -> &'a Arc<str> {
        static NONE: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "".into());
        self.graph.nodes.get(place).map_or(&NONE, |node| &node.name)
    }

    pub(super) fn wrong<T>(&self, problem: String) -> Result<T> {
        Err(wrong(self.graph, &problem))
    }
}

/// Without any step or branch nothing would ever happen.
fn check_numbers(graph: &GraphDefinition) -> Result<()> {
    if graph.max_steps == 0 {
        return Err(wrong(graph, "needs max_steps of at least 1"));
    }
    let limits = graph.edges.iter().filter_map(|edge| edge.max_concurrency);
    if limits.chain([graph.max_concurrency]).any(|most| most == 0) {
        return Err(wrong(graph, "needs a max_concurrency of at least 1"));
    }
    let astray = |edge: &&EdgeDefinition| edge.max_concurrency.is_some() && !edge.fans_out;
    if let Some(edge) = graph.edges.iter().find(astray) {
        let from = list(&edge.from);
        return Err(wrong(
            graph,
            &format!("has a max_concurrency on an edge from {from} that is no fork"),
        ));
    }
    Ok(())
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
