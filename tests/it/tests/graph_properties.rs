//! Random graphs: `build` accepts exactly those that a plain checker accepts, and each request goes the way that a
//! plain walk goes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use it::graphs::{Case, checked, generate, walked};
use little_ghost::{ErrorKind, Outcome};

/// Each seed is one graph; a failure names it.
const SEEDS: u64 = 6_000;
/// Of them, those whose graphs are also walked.
const WALKS: u64 = 2_000;

#[test]
fn sound_graphs_are_accepted_and_no_others() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..SEEDS {
        let case = generate(seed);
        let built = case.build(seed);
        match (checked(&case), &built) {
            (Ok(()), Ok(_)) => accepted += 1,
            (Err(_), Err(error)) => {
                assert_eq!(
                    error.kind(),
                    ErrorKind::Configuration,
                    "seed {seed}: {case}"
                );
                refused += 1;
            }
            (expected, found) => panic!(
                "seed {seed}: {case}\n  the checker says {expected:?}\n  the engine says {:?}",
                found.as_ref().err()
            ),
        }
    }
    // Neither side may win by being asked nothing.
    assert!(
        accepted > SEEDS / 10,
        "only {accepted} of {SEEDS} were sound"
    );
    assert!(
        refused > SEEDS / 10,
        "only {refused} of {SEEDS} were unsound"
    );
}

#[tokio::test]
async fn requests_follow_the_routes() {
    let (mut completed, mut forks, mut limited) = (0, 0, 0);
    for seed in 0..WALKS {
        let case = generate(seed);
        if checked(&case).is_err() {
            continue;
        }
        let run = case.build(seed).unwrap().ask("Go").await.unwrap();
        let expected = match walked(&case, seed) {
            Ok(steps) => steps,
            Err(kind) => {
                assert_eq!(run.outcome(), Some(Outcome::Failed), "seed {seed}: {case}");
                assert_eq!(run.error().unwrap().kind(), kind, "seed {seed}: {case}");
                limited += 1;
                continue;
            }
        };
        assert_eq!(
            run.outcome(),
            Some(Outcome::Completed),
            "seed {seed}: {case} {:?}",
            run.error()
        );
        let result = run.result().unwrap();
        let trajectory = result.trajectory();
        let name = |id: &str| trajectory.step(id).unwrap().participant.to_string();
        let mut found: Vec<(String, Vec<String>)> = trajectory
            .steps()
            .iter()
            .map(|step| {
                let after = step.predecessor_ids.iter().map(|id| name(id)).collect();
                (step.participant.to_string(), after)
            })
            .collect();
        // Branches end in any order; what led to what is the same.
        forks += usize::from(found.iter().any(|(_, after)| after.len() > 1));
        let mut expected = expected;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "seed {seed}: {case}");
        for (place, step) in trajectory.steps().iter().enumerate() {
            let ended = &trajectory.steps()[..place];
            let known = |id: &std::sync::Arc<str>| ended.iter().any(|other| other.id == *id);
            assert!(
                step.predecessor_ids.iter().all(known),
                "seed {seed}: {case}: a step before its cause"
            );
        }
        completed += 1;
    }
    assert!(
        completed > 200 && forks > 60 && limited > 5,
        "{completed} {forks} {limited}"
    );
}

#[test]
fn the_checker_knows_graphs_of_the_documentation() {
    for (text, sound) in [
        ("a>b a>c b>d c>d", true),
        ("a>b? a>c b>c", true),
        ("a>b,c b,c>d", true),
        ("a>b a>c b>d c>c", false),
        ("a>b? a>c a>d b>e c>e d>e", false),
        ("a>b a>c b>d? c>d", false),
        ("a>c b>c", false),
    ] {
        assert_eq!(checked(&Case::read(text)).is_ok(), sound, "{text}");
    }
}
