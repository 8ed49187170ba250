//! Every conformance case of code mode.
#![allow(clippy::panic, clippy::print_stdout)]

use it::conformance::code_mode::{differences, load};

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    let only = std::env::var("CASE").unwrap_or_default();
    let cases = load();
    assert!(cases.len() >= 30, "cases are missing");
    let mut failures = Vec::new();
    for case in cases.iter().filter(|case| case.name.contains(&only)) {
        let found = differences(case).await;
        if !found.is_empty() {
            failures.push(format!("{}: {}", case.name, found.join("\n")));
        }
    }
    println!("{} conformance cases of code mode", cases.len());
    assert!(
        failures.is_empty(),
        "{} failures\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}
