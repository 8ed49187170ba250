//! Graphs by seed: some are drawn without sense, some are sound by construction, some of those spoilt a little.

use fastrand::Rng;

use super::case::{Case, Route};

/// The graph of that seed.
pub fn generate(seed: u64) -> Case {
    let mut rng = Rng::with_seed(seed);
    let mut case = match rng.u8(..10) {
        0..3 => senseless(&mut rng),
        _ => sensible(&mut rng),
    };
    if rng.u8(..10) < 4 {
        spoil(&mut case, &mut rng);
    }
    let fails = |node: usize| {
        case.error_routes
            .iter()
            .filter(|(from, _)| *from == node)
            .count()
            == 1
    };
    case.failing = (0..case.nodes)
        .filter(|node| fails(*node) && rng.bool())
        .collect();
    case
}

/// Any routes between few nodes.
fn senseless(rng: &mut Rng) -> Case {
    let nodes = rng.usize(1..6);
    let routes = (0..rng.usize(0..8))
        .map(|_| any_route(nodes, rng))
        .collect();
    Case {
        nodes,
        routes,
        error_routes: (0..rng.usize(0..2))
            .map(|_| (rng.usize(..nodes), rng.usize(..nodes)))
            .collect(),
        failing: Vec::new(),
    }
}

fn any_route(nodes: usize, rng: &mut Rng) -> Route {
    let mut one = Route::plain(rng.usize(..nodes), rng.usize(..nodes));
    match rng.u8(..6) {
        0 => one.to = several(nodes, rng),
        1 => one.from = several(nodes, rng),
        _ => {}
    }
    if one.to.len() < 2 && one.from.len() < 2 || one.to.len() > 1 {
        one.conditional = rng.u8(..4) == 0;
    }
    one.mapped = rng.u8(..6) == 0;
    one
}

/// Different nodes; two at least, where there are as many.
fn several(nodes: usize, rng: &mut Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..nodes).collect();
    rng.shuffle(&mut all);
    all.truncate(rng.usize(2..4));
    all
}

/// Stages one after the other: single nodes, choices, and parallel branches.
fn sensible(rng: &mut Rng) -> Case {
    let mut case = Case {
        nodes: 1,
        routes: Vec::new(),
        error_routes: Vec::new(),
        failing: Vec::new(),
    };
    for _ in 0..rng.usize(1..4) {
        let from = case.nodes - 1;
        match rng.u8(..5) {
            0 => stage_of_one(&mut case, from, rng),
            1 => stage_of_choice(&mut case, from, rng),
            _ => stage_of_branches(&mut case, from, rng),
        }
    }
    case
}

fn stage_of_one(case: &mut Case, from: usize, rng: &mut Rng) {
    let next = add_node(case);
    let mut route = Route::plain(from, next);
    route.mapped = rng.bool();
    case.routes.push(route);
    if rng.u8(..3) == 0 {
        case.error_routes.push((from, next));
    }
}

/// Perhaps around, perhaps by another node.
fn stage_of_choice(case: &mut Case, from: usize, rng: &mut Rng) {
    let aside = add_node(case);
    let next = add_node(case);
    let mut first = Route::plain(from, aside);
    first.conditional = true;
    case.routes.push(first);
    case.routes.push(Route::plain(from, next));
    case.routes.push(Route::plain(
        aside,
        if rng.u8(..4) == 0 { from } else { next },
    ));
    if rng.u8(..3) == 0 {
        case.error_routes.push((aside, next));
    }
}

fn stage_of_branches(case: &mut Case, from: usize, rng: &mut Rng) {
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    let declared = rng.bool();
    for _ in 0..rng.usize(2..4) {
        let first = add_node(case);
        let mut last = first;
        firsts.push(first);
        if rng.u8(..3) == 0 {
            last = add_node(case);
            case.routes.push(Route::plain(first, last));
            if rng.bool() {
                case.error_routes.push((first, last));
            }
        }
        if rng.u8(..5) == 0 {
            // A choice within the branch.
            let (aside, end) = (add_node(case), add_node(case));
            let mut way = Route::plain(last, aside);
            way.conditional = true;
            case.routes.push(way);
            case.routes.push(Route::plain(last, end));
            case.routes.push(Route::plain(aside, end));
            last = end;
        }
        lasts.push(last);
    }
    let join = add_node(case);
    if rng.bool() {
        let mut fork = Route::plain(from, from);
        fork.to = firsts;
        fork.mapped = rng.bool();
        fork.conditional = rng.u8(..3) == 0;
        if fork.conditional {
            case.routes.push(Route::plain(from, join));
        }
        case.routes.push(fork);
    } else {
        for first in firsts {
            let mut route = Route::plain(from, first);
            route.mapped = rng.bool();
            case.routes.push(route);
        }
    }
    if declared {
        let mut route = Route::plain(join, join);
        rng.shuffle(&mut lasts);
        route.from = lasts;
        route.mapped = rng.bool();
        case.routes.push(route);
    } else {
        case.routes
            .extend(lasts.into_iter().map(|last| Route::plain(last, join)));
    }
}

fn add_node(case: &mut Case) -> usize {
    case.nodes += 1;
    case.nodes - 1
}

/// One small change, which may do no harm.
fn spoil(case: &mut Case, rng: &mut Rng) {
    let nodes = case.nodes;
    match rng.u8(..6) {
        0 => case.routes.push(any_route(nodes, rng)),
        1 => case
            .error_routes
            .push((rng.usize(..nodes), rng.usize(..nodes))),
        2 => case.nodes += 1,
        _ if case.routes.is_empty() => {}
        3 => drop(case.routes.swap_remove(rng.usize(..case.routes.len()))),
        4 => {
            let place = rng.usize(..case.routes.len());
            let route = &mut case.routes[place];
            route.conditional = route.from.len() == 1 && !route.conditional;
        }
        _ => {
            let place = rng.usize(..case.routes.len());
            let end = rng.usize(..nodes);
            let route = &mut case.routes[place];
            if route.to.len() == 1 {
                route.to = vec![end];
            } else {
                route.mapped = !route.mapped;
            }
        }
    }
}
