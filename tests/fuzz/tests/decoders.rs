//! What must hold for every reader of foreign bytes, for recorded inputs and changes of them.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use fuzz::campaign::{End, run};
use fuzz::corpus;
use little_ghost::fuzzing::Target;

/// Enough to find what is easy to find; `make fuzz` looks longer.
const INPUTS: u64 = 1_000;

/// Streams up to this many bytes are cut in two at every position; longer ones at every 31st, and like
/// all of them into single bytes.
const SHORT: usize = 1_000;

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    let corpus = corpus::load().await;
    for target in Target::all().into_iter().filter(Target::is_stream) {
        let streams = corpus.get(target.name());
        let streams =
            streams.unwrap_or_else(|| panic!("nothing is recorded for {}", target.name()));
        for stream in streams {
            let _ = target.check(stream);
            let step = if stream.len() <= SHORT { 1 } else { 31 };
            for at in (0..stream.len()).step_by(step) {
                target.check_split(stream, at);
            }
        }
        println!("{}: {} streams", target.name(), streams.len());
    }
}

#[tokio::test]
async fn no_change_breaks_a_reader() {
    let corpus = corpus::load().await;
    for target in Target::all() {
        let seeds = corpus.get(target.name()).map_or(&[][..], Vec::as_slice);
        assert!(
            !seeds.is_empty(),
            "{} has nothing to start from",
            target.name()
        );
        let report = run(&target, seeds, 1, End::Inputs(INPUTS));
        let problems: Vec<_> = report
            .findings
            .iter()
            .map(|finding| &finding.problem)
            .collect();
        assert!(
            problems.is_empty(),
            "{} does not stand {:?}: {problems:?}",
            target.name(),
            report
                .findings
                .iter()
                .map(|finding| String::from_utf8_lossy(&finding.input))
                .collect::<Vec<_>>()
        );
    }
}
