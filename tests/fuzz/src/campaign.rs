//! Feeding one target for a while.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use fastrand::Rng;
use little_ghost::fuzzing::Target;

use crate::mutate;

/// Longer than any reader needs for the largest input.
const PATIENCE: Duration = Duration::from_secs(2);

/// Outcomes that are kept to start from; more would only dilute them.
const MAX_POOL: usize = 4_000;

/// An input that a target does not stand.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The input.
    pub input: Vec<u8>,
    /// What the panic said, or that it took too long.
    pub problem: String,
}

/// What a campaign did.
#[derive(Debug, Default)]
pub struct Report {
    /// Inputs that were read.
    pub inputs: u64,
    /// Outcomes that differ.
    pub outcomes: usize,
    /// One for each problem.
    pub findings: Vec<Finding>,
}

/// When a campaign ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// After this time.
    After(Duration),
    /// After so many inputs.
    Inputs(u64),
}

/// Feeds `target` with `seeds` and changes of them. Equal seeds and numbers give equal inputs.
#[must_use]
pub fn run(target: &Target, seeds: &[Vec<u8>], number: u64, end: End) -> Report {
    let began = Instant::now();
    let mut rng = Rng::with_seed(number);
    let mut report = Report::default();
    let mut seen = HashSet::new();
    let mut problems = HashSet::new();
    let mut pool: Vec<Vec<u8>> = seeds.to_vec();
    if pool.is_empty() {
        pool.push(Vec::new());
    }
    let mut waiting = pool.clone();
    loop {
        let over = match end {
            End::After(time) => report.inputs % 64 == 0 && began.elapsed() >= time,
            End::Inputs(count) => report.inputs >= count,
        };
        if over {
            report.outcomes = seen.len();
            return report;
        }
        let input = waiting.pop().unwrap_or_else(|| {
            let other = rng.usize(..pool.len());
            let base = rng.usize(..pool.len());
            mutate(&pool[base], &pool[other], &mut rng)
        });
        report.inputs += 1;
        match read(target, &input) {
            Ok(outcome) => {
                if seen.insert(outcome) && pool.len() < MAX_POOL {
                    pool.push(input);
                }
            }
            Err(problem) => {
                // Numbers and texts differ from input to input; the place does not.
                let place: String = problem.chars().take(60).collect();
                if problems.insert(place) {
                    report.findings.push(Finding { input, problem });
                }
            }
        }
    }
}

fn read(target: &Target, input: &[u8]) -> Result<u64, String> {
    let began = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| target.check(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("a panic without words").to_owned()
    })?;
    let took = began.elapsed();
    if took > PATIENCE {
        return Err(format!("takes {took:?} for {} bytes", input.len()));
    }
    Ok(outcome)
}

/// A smaller input with the same problem, as far as taking away parts leads.
#[must_use]
pub fn shrink(target: &Target, finding: &Finding) -> Vec<u8> {
    let same = |input: &[u8]| {
        read(target, input).is_err_and(|problem| {
            problem
                .chars()
                .take(20)
                .eq(finding.problem.chars().take(20))
        })
    };
    let mut input = finding.input.clone();
    let mut size = input.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < input.len() {
            let mut shorter = input.clone();
            shorter.drain(at..(at + size).min(input.len()));
            if same(&shorter) {
                input = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    input
}
