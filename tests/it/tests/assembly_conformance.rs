//! Every conformance case of several agents, through both front doors of the crate.
#![allow(clippy::panic, clippy::print_stdout)]

use it::conformance::{Door, assembly};

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds_through_both_doors() {
    // `CASE=part of a name` runs only those.
    let only = std::env::var("CASE").unwrap_or_default();
    let cases = assembly::load();
    assert!(!cases.is_empty(), "there are no cases");
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases.iter().filter(|case| case.name.contains(&only)) {
        count += 1;
        for door in [Door::Agent, Door::Host] {
            // What Rust's types rule out needs no test there.
            if door == Door::Agent && case.only.as_deref() == Some("hosts") {
                continue;
            }
            let found = assembly::differences(case, door).await;
            if !found.is_empty() {
                failures.push(format!("{} ({door:?}): {}", case.name, found.join("\n")));
            }
        }
    }
    println!("{count} conformance cases of assemblies, each through 2 doors");
    assert!(
        failures.is_empty(),
        "{} failures\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}
