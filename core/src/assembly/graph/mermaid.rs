//! A graph as a Mermaid flowchart.

use super::definition::GraphDefinition;
use super::plan::{Plan, Target};

/// The declared routes. Those that end branches are shown as the join that they are.
pub(super) fn render(graph: &GraphDefinition, plan: &Plan) -> String {
    let mut lines = vec!["flowchart TD".to_owned()];
    for node in &graph.nodes {
        lines.push(format!("  {}[{}]", id(&node.name), node.name));
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

fn id(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|character| {
            if character.is_alphanumeric() || character == '_' {
                character
            } else {
                '_'
            }
        })
        .collect();
    format!("n_{name}")
}
