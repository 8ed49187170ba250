//! What is accepted as a graph, and what is said about the rest.

use std::sync::Arc;

use super::{Graph, GraphEdge};
use crate::agent::Agent;
use crate::error::Result;

fn agent(id: &str) -> Agent {
    Agent::builder(id).model("a:b").build().unwrap()
}

/// A graph from `"a>b c"` (routes), starting at the first name and finishing at `z`.
fn graph(routes: &str) -> Result<Graph> {
    let mut builder = Graph::builder("g");
    let mut names: Vec<&str> = Vec::new();
    let mut edges = Vec::new();
    for route in routes.split_whitespace() {
        let conditional = route.ends_with('?');
        let (from, to) = route.trim_end_matches('?').split_once('>').unwrap();
        let (from, to): (Vec<&str>, Vec<&str>) =
            (from.split(',').collect(), to.split(',').collect());
        for name in from.iter().chain(&to) {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let mut edge = match (from.as_slice(), to.as_slice()) {
            ([from], [to]) => GraphEdge::new(from, to),
            ([from], several) => GraphEdge::fork(from, several.iter().copied()),
            (several, [to]) => GraphEdge::join(several.iter().copied(), to),
            _ => unreachable!(),
        };
        if conditional {
            edge = edge.when(|_| true);
        }
        edges.push(edge);
    }
    for name in &names {
        builder = builder.node(name, &agent(name));
    }
    for edge in edges {
        builder = builder.edge(edge);
    }
    builder.start(names[0]).finish("z").build()
}

#[test]
fn edges_of_nothing_and_numbers_below_one_are_refused() {
    let (a, z) = (agent("a"), agent("z"));
    let base = || {
        let nodes = Graph::builder("g").node("a", &a).node("z", &z);
        nodes.start("a").finish("z").edge(("a", "z"))
    };
    assert!(base().build().is_ok());
    for (builder, problem) in [
        (base().max_steps(0), "max_steps of at least 1"),
        (base().max_concurrency(0), "max_concurrency of at least 1"),
        (
            base().edge(GraphEdge::fork("a", ["z"]).max_concurrency(0)),
            "max_concurrency of at least 1",
        ),
        (
            base().edge(GraphEdge::new("a", "z").max_concurrency(2)),
            "on an edge from \"a\" that is no fork",
        ),
        (
            base().edge(GraphEdge::fork("a", [])),
            "leads from \"a\" to no node",
        ),
        (
            base().edge(GraphEdge::join([], "z")),
            "leads to \"z\" from no node",
        ),
    ] {
        let error = builder.build().unwrap_err();
        assert!(error.message().contains(problem), "{error}");
    }
}

#[test]
fn sound_graphs_are_accepted() {
    for routes in [
        "a>z",
        "a>b? a>z b>z",
        "a>b b>a? b>z",
        "a>b a>c b>z c>z",
        "a>b,c b>z c>z",
        "a>b,c b,c>z",
        "a>b,c b>d d,c>e e>z",
        "a>b a>c b>d d>e c>e e>z",
        "a>b,c? a>z b>d c>d d>z",
        "a>b a>c b>b1? b>b2 b1>d b2>d c>d d>z",
    ] {
        assert!(graph(routes).is_ok(), "{routes}: {:?}", graph(routes).err());
    }
}

#[test]
fn what_is_wrong_with_others_is_said() {
    for (routes, problem) in [
        ("a>b b>a", "finish"),
        ("a>z b>z", "never comes to \"b\""),
        ("a>z z>a", "goes on to \"a\" after its finish"),
        ("a>b? a>z", "no route from \"b\""),
        (
            "a>b a>c c>c2? c>c3 b>c2 b>c3? c2>z c3>z",
            "more than one node",
        ),
        ("a>b? a>c a>d b>z c>z d>z", "not clear"),
        ("a>b,c a>d b>z c>z d>z", "not clear"),
        ("a>b a>b b>z", "same node twice"),
        ("a>b a>z b>z", "both to"),
        ("a>b a>c b>d b>e d>f e>f f>z c>z", "parallel branch itself"),
        ("a>b b,c>z b>c? b>z", "without parallel branches"),
        ("a>b a>c b>d? b>e c>d d>z e>z", "before the branches meet"),
    ] {
        let error = graph(routes).err().map(|error| error.message().to_owned());
        let said = error.unwrap_or_else(|| panic!("{routes} was accepted"));
        assert!(said.contains(problem), "{routes}: {said}");
    }
}

#[test]
fn a_picture_shows_forks_and_joins() {
    let graph = graph("a>b a>c b>d c>d d>e? d>z e>z").unwrap();
    let lines: Vec<&str> = graph.to_mermaid().lines().collect();
    assert_eq!(
        lines,
        [
            "flowchart TD",
            "  n_a[a]",
            "  n_b[b]",
            "  n_c[c]",
            "  n_d[d]",
            "  n_e[e]",
            "  n_z[z]",
            "  START((start)) --> n_a",
            "  n_a -->|fork| n_b",
            "  n_a -->|fork| n_c",
            "  n_b -->|join| n_d",
            "  n_c -->|join| n_d",
            "  n_d -->|condition| n_e",
            "  n_d --> n_z",
            "  n_e --> n_z",
            "  n_z --> FINISH((finish))",
        ]
    );
    let _: Arc<str> = graph.id().into();
}

#[test]
fn a_picture_keeps_apart_what_is_named_alike() {
    let leaf = agent("leaf");
    let odd = "x]-->\"y\"\n z";
    let graph = Graph::builder("named")
        .node("a-b", &leaf)
        .node("a_b", &leaf)
        .node(odd, &leaf)
        .node("end", &leaf)
        .start("a-b")
        .edge(GraphEdge::new("a-b", "a_b"))
        .edge(GraphEdge::new("a_b", odd))
        .edge(GraphEdge::new(odd, "end"))
        .finish("end")
        .build()
        .unwrap();
    let lines: Vec<&str> = graph.to_mermaid().lines().collect();
    assert_eq!(
        lines,
        [
            "flowchart TD",
            "  n_a_b[a-b]",
            "  n_a_b_[a_b]",
            "  n_x_____y___z[\"x#93;#45;#45;#62;#34;y#34;#10; z\"]",
            "  n_end[\"end\"]",
            "  START((start)) --> n_a_b",
            "  n_a_b --> n_a_b_",
            "  n_a_b_ --> n_x_____y___z",
            "  n_x_____y___z --> n_end",
            "  n_end --> FINISH((finish))",
        ]
    );
}
