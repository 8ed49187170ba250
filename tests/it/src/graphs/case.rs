//! A graph as a list of routes between numbered nodes.

use std::fmt;

use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{Agent, Error, ErrorKind, Graph, GraphEdge};

/// A route of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// One node, or those that are waited for.
    pub from: Vec<usize>,
    /// One node, or the first ones of branches.
    pub to: Vec<usize>,
    /// Whether it is taken only sometimes.
    pub conditional: bool,
    /// Whether it says what its target is asked.
    pub mapped: bool,
}

impl Route {
    /// From one node to another, always.
    pub fn plain(from: usize, to: usize) -> Self {
        Self {
            from: vec![from],
            to: vec![to],
            conditional: false,
            mapped: false,
        }
    }
}

/// A graph. The first node is its start, the last one its finish.
#[derive(Clone, Debug)]
pub struct Case {
    /// How many nodes there are.
    pub nodes: usize,
    /// In the order of their declaration.
    pub routes: Vec<Route>,
    /// For failures.
    pub error_routes: Vec<(usize, usize)>,
    /// Nodes whose agents fail.
    pub failing: Vec<usize>,
}

impl Case {
    /// The graph of `"a>b a>c? b,c>d"`; a question mark is a condition.
    pub fn read(text: &str) -> Self {
        let number = |name: &str| usize::from(name.as_bytes()[0] - b'a');
        let ends = |side: &str| side.split(',').map(number).collect::<Vec<_>>();
        let routes: Vec<Route> = text
            .split_whitespace()
            .map(|route| {
                let (from, to) = route.trim_end_matches('?').split_once('>').unwrap();
                Route {
                    from: ends(from),
                    to: ends(to),
                    conditional: route.ends_with('?'),
                    mapped: false,
                }
            })
            .collect();
        let all = routes
            .iter()
            .flat_map(|route| route.from.iter().chain(&route.to));
        Self {
            nodes: all.max().unwrap() + 1,
            routes,
            error_routes: Vec::new(),
            failing: Vec::new(),
        }
    }

    /// The routes that begin at `node` alone, with their places.
    pub fn routes_from(&self, node: usize) -> impl Iterator<Item = (usize, &Route)> {
        let all = self.routes.iter().enumerate();
        all.filter(move |(_, route)| route.from == [node])
    }

    /// Which of its conditional routes is taken when `ended` nodes have come to a result: the engine and the walk ask
    /// the same. `count`: none of them.
    pub fn choice(seed: u64, node: usize, ended: usize, count: usize) -> usize {
        let mut rng =
            fastrand::Rng::with_seed(seed ^ ((node as u64) << 32) ^ ((ended as u64) << 48));
        rng.usize(..=count)
    }

    /// The graph, whose conditions choose by `seed`.
    ///
    /// # Errors
    /// What the engine does not accept.
    pub fn build(&self, seed: u64) -> Result<Graph, Error> {
        let good = agent(Turn::text("x"));
        let bad = agent(Turn::error(Error::new(ErrorKind::Provider, "down")));
        let names: Vec<String> = (0..self.nodes).map(name).collect();
        let mut builder = Graph::builder("random")
            .start(&names[0])
            .finish(&names[self.nodes - 1]);
        for (node, name) in names.iter().enumerate() {
            let agent = if self.failing.contains(&node) {
                &bad
            } else {
                &good
            };
            builder = builder.node(name, agent);
        }
        for (place, route) in self.routes.iter().enumerate() {
            let of = |ends: &[usize]| {
                ends.iter()
                    .map(|end| names[*end].as_str())
                    .collect::<Vec<_>>()
            };
            let (from, to) = (of(&route.from), of(&route.to));
            let mut edge = match (from.as_slice(), to.as_slice()) {
                ([from], [to]) => GraphEdge::new(from, to),
                ([from], several) => GraphEdge::fork(from, several.iter().copied()),
                (several, _) => GraphEdge::join(several.iter().copied(), to[0]),
            };
            if route.conditional {
                let node = route.from[0];
                let own = self
                    .routes_from(node)
                    .filter(|(_, route)| route.conditional);
                let places: Vec<usize> = own.map(|(place, _)| place).collect();
                let (count, own) = (
                    places.len(),
                    places.iter().position(|other| *other == place).unwrap(),
                );
                edge = edge.when(move |state| {
                    Self::choice(seed, node, state.results().count(), count) == own
                });
            }
            if route.mapped {
                edge = edge.input(|state| format!("to {:?}", state.current));
            }
            builder = builder.edge(edge);
        }
        for (from, to) in &self.error_routes {
            builder = builder.error_edge(&names[*from], &names[*to], [ErrorKind::Provider]);
        }
        builder.build()
    }
}

/// What a node is called.
pub(super) fn name(node: usize) -> String {
    format!("n{node}")
}

fn agent(turn: Turn) -> Agent {
    let model = ScriptedModel::new([turn]).repeating();
    Agent::builder("any").model(model).build().unwrap()
}

impl fmt::Display for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} nodes:", self.nodes)?;
        for route in &self.routes {
            let marks = [(route.conditional, "?"), (route.mapped, "=")];
            let marks: String = marks
                .iter()
                .filter(|(set, _)| *set)
                .map(|(_, mark)| *mark)
                .collect();
            write!(formatter, " {:?}>{:?}{marks}", route.from, route.to)?;
        }
        for (from, to) in &self.error_routes {
            write!(formatter, " {from}!{to}")?;
        }
        write!(formatter, " failing {:?}", self.failing)
    }
}
