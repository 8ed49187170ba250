//! Assemblies inside of one another.

use super::Workflow;
use crate::error::ErrorKind;

fn endless() -> Workflow {
    Workflow::new("endless", |workflow| async move {
        Ok(workflow.invoke(&endless()))
    })
}

#[tokio::test]
async fn an_assembly_that_contains_itself_without_an_end_fails() {
    let run = endless().ask("Go on").await.unwrap();
    let error = run.error().expect("it cannot end otherwise");
    assert_eq!(error.kind(), ErrorKind::AssemblyLimit);
    assert_eq!(
        error.message(),
        "the workflow \"endless\" is inside of more than 100 others; does one of them contain or call itself without an end?"
    );
}
