//! Which graphs are sound, said as plainly as possible: everything is looked up in tables of who can come to whom.
//!
//! It shares nothing with the engine but the rules of the documentation.

use super::case::{Case, Route};

/// Who leads to whom; `table[a][b]`.
type Table = Vec<Vec<bool>>;

/// Parallel branches: where they begin, and where they meet.
struct Fork {
    source: usize,
    firsts: Vec<usize>,
    /// Whether it is written as one route.
    written: bool,
    join: usize,
    /// The route that declares the join.
    join_route: Option<usize>,
    /// The nodes of each branch.
    branches: Vec<Vec<usize>>,
}

/// Says what is wrong with a graph.
///
/// # Errors
/// The first thing that is.
pub fn checked(case: &Case) -> Result<(), &'static str> {
    let finish = case.nodes - 1;
    let next = successors(case);
    if next[finish].iter().any(|leads| *leads) {
        return Err("a route after the finish");
    }
    if (0..finish).any(|node| next[node].iter().all(|leads| !leads)) {
        return Err("a dead end");
    }
    let mut with_errors = next.clone();
    for (from, to) in &case.error_routes {
        with_errors[*from][*to] = true;
    }
    if closure(&with_errors)[0]
        .iter()
        .enumerate()
        .any(|(node, reached)| node != 0 && !reached)
    {
        return Err("a node that is never reached");
    }
    let mut forks = Vec::new();
    for node in 0..case.nodes {
        collect_forks(case, node, &mut forks)?;
    }
    for fork in &mut forks {
        find_join(case, &next, fork)?;
    }
    for (place, route) in case.routes.iter().enumerate() {
        let used = forks.iter().any(|fork| fork.join_route == Some(place));
        if route.from.len() > 1 && !used {
            return Err("a join without a fork");
        }
    }
    for fork in &mut forks {
        fork.branches = fork
            .firsts
            .iter()
            .map(|first| until(&next, *first, fork.join))
            .collect();
    }
    check_branches(case, &forks, finish)?;
    check_borders(case, &next, &forks)
}

fn successors(case: &Case) -> Table {
    let mut table = vec![vec![false; case.nodes]; case.nodes];
    for route in &case.routes {
        for from in &route.from {
            for to in &route.to {
                table[*from][*to] = true;
            }
        }
    }
    table
}

/// Who can come to whom by one route or more.
fn closure(table: &Table) -> Table {
    let mut reach = table.clone();
    let size = reach.len();
    for through in 0..size {
        for from in 0..size {
            for to in 0..size {
                if reach[from][through] && reach[through][to] {
                    reach[from][to] = true;
                }
            }
        }
    }
    reach
}

/// The nodes that one comes to from `first`, itself included, without `join` and what is only behind it.
fn until(next: &Table, first: usize, join: usize) -> Vec<usize> {
    if first == join {
        return Vec::new();
    }
    let mut without = next.clone();
    for row in &mut without {
        row[join] = false;
    }
    let reach = closure(&without);
    (0..next.len())
        .filter(|node| *node == first || reach[first][*node])
        .collect()
}

fn collect_forks(case: &Case, node: usize, forks: &mut Vec<Fork>) -> Result<(), &'static str> {
    let own: Vec<&Route> = case.routes_from(node).map(|(_, route)| route).collect();
    let mut fork = |firsts: Vec<usize>, written| {
        forks.push(Fork {
            source: node,
            firsts,
            written,
            join: 0,
            join_route: None,
            branches: Vec::new(),
        });
    };
    for route in own.iter().filter(|route| route.to.len() > 1) {
        fork(route.to.clone(), true);
    }
    let plain: Vec<&&Route> = own.iter().filter(|route| !route.conditional).collect();
    if plain.len() < 2 {
        return Ok(());
    }
    let competing = own.len() > plain.len() || plain.iter().any(|route| route.to.len() > 1);
    if competing {
        return Err("several unconditional routes that compete");
    }
    let firsts: Vec<usize> = plain.iter().map(|route| route.to[0]).collect();
    if (1..firsts.len()).any(|place| firsts[..place].contains(&firsts[place])) {
        return Err("the same branch twice");
    }
    fork(firsts, false);
    Ok(())
}

fn find_join(case: &Case, next: &Table, fork: &mut Fork) -> Result<(), &'static str> {
    let mut declared = Vec::new();
    for (place, route) in case.routes.iter().enumerate() {
        if route.from.len() != fork.firsts.len() || route.from.len() < 2 {
            continue;
        }
        let join = route.to[0];
        let one_of_each = fork.firsts.iter().all(|first| {
            let mut branch = until(next, *first, join);
            branch.push(join);
            route
                .from
                .iter()
                .filter(|last| branch.contains(last))
                .count()
                == 1
        });
        if one_of_each {
            declared.push((place, join));
        }
    }
    match declared.as_slice() {
        [(place, join)] => {
            (fork.join, fork.join_route) = (*join, Some(*place));
            return Ok(());
        }
        [] => {}
        _ => return Err("more than one join"),
    }
    let reach = closure(next);
    let met = |node: usize| {
        fork.firsts
            .iter()
            .all(|first| *first == node || reach[*first][node])
    };
    let common: Vec<usize> = (0..next.len()).filter(|node| met(*node)).collect();
    let first_of = |node: usize| {
        !common
            .iter()
            .any(|other| *other != node && reach[*other][node])
    };
    let meetings: Vec<usize> = common
        .iter()
        .copied()
        .filter(|node| first_of(*node))
        .collect();
    match meetings.as_slice() {
        [only] => {
            fork.join = *only;
            Ok(())
        }
        [] => Err("branches that never meet"),
        _ => Err("branches that meet at more than one node"),
    }
}

fn check_branches(case: &Case, forks: &[Fork], finish: usize) -> Result<(), &'static str> {
    let mut owned = vec![0; case.nodes];
    for fork in forks {
        if fork.firsts.contains(&fork.join) {
            return Err("a branch of nothing");
        }
        for node in fork.branches.iter().flatten() {
            owned[*node] += 1;
            if *node == finish || *node == fork.source || *node == 0 {
                return Err("a branch with the source, the start or the finish");
            }
            if forks.iter().any(|inner| inner.source == *node) {
                return Err("a fork within a branch");
            }
        }
    }
    if owned.iter().any(|count| *count > 1) {
        return Err("a node on two branches");
    }
    Ok(())
}

fn check_borders(case: &Case, next: &Table, forks: &[Fork]) -> Result<(), &'static str> {
    let home = |node: usize| {
        forks.iter().enumerate().find_map(|(number, fork)| {
            let branch = fork
                .branches
                .iter()
                .position(|branch| branch.contains(&node))?;
            Some((number, branch))
        })
    };
    for route in &case.routes {
        for from in &route.from {
            for to in &route.to {
                match (home(*from), home(*to)) {
                    (inside, outside) if inside == outside => {}
                    (None, Some((number, _))) => {
                        let fork = &forks[number];
                        if fork.source != *from || !fork.firsts.contains(to) {
                            return Err("a way into a branch");
                        }
                    }
                    (Some((number, _)), None) => {
                        let fork = &forks[number];
                        let only = next[*from].iter().filter(|leads| **leads).count() == 1;
                        let waits = route.from.len() > 1;
                        let fits = *to == fork.join
                            && only
                            && !route.conditional
                            && (waits || !route.mapped)
                            && waits == fork.join_route.is_some();
                        if !fits {
                            return Err("a way out of a branch");
                        }
                    }
                    _ => return Err("a way between branches"),
                }
            }
        }
    }
    let strays = |(from, to): &(usize, usize)| home(*from) != home(*to);
    if case.error_routes.iter().any(strays) {
        return Err("an error route over the border of a branch");
    }
    let entered = |fork: &Fork| fork.written || fork.firsts.len() > 1;
    assert!(forks.iter().all(entered), "a fork has branches");
    Ok(())
}
