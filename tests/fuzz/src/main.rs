//! Fuzzes one target after the other. Ends with 1 when one of them does not stand an input.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

use std::process::ExitCode;
use std::time::Duration;

use fuzz::campaign::{End, run, shrink};
use fuzz::corpus;
use little_ghost::fuzzing::Target;

const USAGE: &str = "usage: fuzz [--seconds N] [--seed N] [--target NAME]...";

struct Options {
    seconds: u64,
    seed: u64,
    targets: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let corpus = corpus::load().await;
    // Panics are findings and are told as such.
    std::panic::set_hook(Box::new(|_| {}));
    let mut clean = true;
    for target in Target::all() {
        let name = target.name();
        if !options.targets.is_empty() && !options.targets.iter().any(|chosen| chosen == name) {
            continue;
        }
        let seeds = corpus.get(name).map_or(&[][..], Vec::as_slice);
        let time = End::After(Duration::from_secs(options.seconds));
        let report = run(&target, seeds, options.seed, time);
        println!(
            "{name}: {} inputs from {} seeds, {} outcomes, {} findings",
            report.inputs,
            seeds.len(),
            report.outcomes,
            report.findings.len()
        );
        for finding in &report.findings {
            clean = false;
            let input = shrink(&target, finding);
            println!(
                "  {}\n  {:?}",
                finding.problem,
                String::from_utf8_lossy(&input)
            );
        }
    }
    if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        seconds: 300,
        seed: 1,
        targets: Vec::new(),
    };
    while let Some(name) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        let number = || {
            value
                .parse()
                .map_err(|_| format!("{name} takes a number, not {value:?}"))
        };
        match name.as_str() {
            "--seconds" => options.seconds = number()?,
            "--seed" => options.seed = number()?,
            "--target" if Target::all().iter().any(|target| target.name() == value) => {
                options.targets.push(value);
            }
            "--target" => {
                let names: Vec<_> = Target::all().iter().map(Target::name).collect();
                return Err(format!(
                    "there is no target {value:?}; choose from {}",
                    names.join(", ")
                ));
            }
            other => return Err(format!("there is no option {other}")),
        }
    }
    Ok(options)
}
