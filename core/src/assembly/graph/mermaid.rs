//! A graph as a Mermaid flowchart.

use std::borrow::Cow;
use std::collections::HashMap;

use super::definition::GraphDefinition;
use super::plan::{Plan, Target};

/// The declared routes. Those that end branches are shown as the join that they are.
pub(super) fn render(graph: &GraphDefinition, plan: &Plan) -> String {
    let mut lines = vec!["flowchart TD".to_owned()];
    let ids = ids(graph);
    let id = |name: &str| ids.get(name).map_or("", String::as_str);
    for node in &graph.nodes {
        lines.push(format!("  {}[{}]", id(&node.name), label(&node.name)));
    }
    if let Some(start) = &graph.start {
        lines.push(format!("  START((start)) --> {}", id(start)));
    }
    for (number, edge) in graph.edges.iter().enumerate() {
        let forks = plan.routes.iter().any(|routes| {
            let fork = |(_, target): &(usize, Target)| match target {
                Target::Fork(fork) => plan
                    .forks
                    .get(*fork)
                    .is_some_and(|fork| fork.firsts.iter().any(|(_, edge)| *edge == number)),
                Target::Node(_) => false,
            };
            routes.fallback.iter().any(fork) || routes.conditional.iter().any(fork)
        });
        let joins = edge.fans_in || ends_branch(graph, plan, number);
        let arrow = match (forks, joins, edge.condition.is_some()) {
            (_, true, _) => "-->|join|",
            (true, _, _) => "-->|fork|",
            (_, _, true) => "-->|condition|",
            _ => "-->",
        };
        for from in &edge.from {
            for to in &edge.to {
                lines.push(format!("  {} {arrow} {}", id(from), id(to)));
            }
        }
    }
    for edge in &graph.error_edges {
        lines.push(format!("  {} -.->|error| {}", id(&edge.from), id(&edge.to)));
    }
    if let Some(finish) = &graph.finish {
        lines.push(format!("  {} --> FINISH((finish))", id(finish)));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Whether the edge is one by which the branches of an inferred fork meet.
fn ends_branch(graph: &GraphDefinition, plan: &Plan, number: usize) -> bool {
    let Some(edge) = graph.edges.get(number) else {
        return false;
    };
    let place = |name: &str| graph.nodes.iter().position(|node| *node.name == *name);
    let (Some(from), Some(to)) = (
        edge.from.first().and_then(|from| place(from)),
        edge.to.first().and_then(|to| place(to)),
    ) else {
        return false;
    };
    plan.forks
        .iter()
        .filter(|fork| fork.join == to && fork.join_edge.is_none())
        .any(|fork| fork.source != from && plan.branches_of(graph, fork).contains(&from))
}

/// What stands for each node, by its name; no two are alike.
fn ids(graph: &GraphDefinition) -> HashMap<&str, String> {
    let mut ids = HashMap::new();
    for node in &graph.nodes {
        let mut id = id(&node.name);
        while ids.values().any(|other| *other == id) {
            id.push('_');
        }
        ids.insert(&*node.name, id);
    }
    ids
}

fn id(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || character == '_';
    let name = name
        .chars()
        .map(|other| if plain(other) { other } else { '_' });
    format!("n_{}", name.collect::<String>())
}

/// The name as Mermaid shows it. Only words stand there as they are, of which `end` is none: it is a keyword.
fn label(name: &str) -> Cow<'_, str> {
    let plain =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | ' ');
    if name.chars().all(plain) && !name.split(' ').any(|word| word == "end") {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            plain if plain == ' ' || plain.is_alphanumeric() => quoted.push(plain),
            other => quoted.push_str(&format!("#{};", u32::from(other))),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}
