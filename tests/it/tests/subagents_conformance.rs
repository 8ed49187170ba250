//! The conformance cases about subagents.
#![allow(clippy::panic)]

use it::conformance::subagents;

#[tokio::test]
async fn every_case_goes_as_it_should() {
    let mut failures = Vec::new();
    let cases = subagents::cases();
    assert!(cases.len() >= 25);
    for case in cases {
        let differences = subagents::differences(&case).await;
        if !differences.is_empty() {
            failures.push(format!(
                "{}: {}\n{}",
                case["name"],
                case["about"],
                differences.join("\n")
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
