//! Injected faults look like the failures of real connections.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::time::Duration;

use it::{MODEL, Scenario, Server};
use little_ghost::testing::{Fault, Faults};
use little_ghost::{Agent, Deadline, ErrorKind, Invocation, Outcome, Run};
use serde_json::{Value, json};

async fn answering(count: usize) -> Scenario {
    let exchange = json!({"chat": {"text": ["Hello, ", "you"]}});
    Server::shared().scenario(&vec![exchange; count]).await
}

async fn ask(scenario: &Scenario, faults: &Faults, invocation: Invocation) -> Run {
    let runtime = it::runtime(scenario).to_builder().faults(faults).build();
    let agent = Agent::builder("support")
        .model(MODEL)
        .runtime(runtime.unwrap())
        .build()
        .unwrap();
    agent.ask(invocation).await.unwrap()
}

fn hi() -> Invocation {
    Invocation::new("Hi").unwrap()
}

#[tokio::test]
async fn a_status_is_retried_as_its_headers_say() {
    let scenario = answering(1).await;
    let busy = Fault::status(503).header("Retry-After", "0").unwrap();
    let faults = Faults::new().on(1, busy.clone()).on(2, busy);
    let run = ask(&scenario, &faults, hi()).await;
    assert_eq!(run.response(), "Hello, you");
    assert_eq!(faults.requests(), 3);
    assert_eq!(scenario.journal().await.len(), 1, "only the third was sent");
    faults.verify().unwrap();

    let refusal = Fault::status(401)
        .body("{\"error\":{\"message\":\"bad key\"}}")
        .unwrap();
    let run = ask(&scenario, &Faults::new().always(refusal), hi()).await;
    let error = run.error().unwrap();
    assert_eq!(error.status(), Some(401));
    assert!(
        error.message().contains("bad key; check api_key"),
        "{error}"
    );
}

#[tokio::test]
async fn broken_answers_end_as_real_ones_do() {
    for (fault, kind, said) in [
        (
            Fault::drop_after(0),
            ErrorKind::Http,
            "closed before the answer was complete",
        ),
        (
            Fault::drop_after(150),
            ErrorKind::Http,
            "closed before the answer was complete",
        ),
        (Fault::truncate_after(150), ErrorKind::Protocol, ""),
        (Fault::garbage_after(0), ErrorKind::Protocol, ""),
    ] {
        let scenario = answering(3).await;
        let run = ask(&scenario, &Faults::new().always(fault.clone()), hi()).await;
        assert_eq!(run.outcome(), Some(Outcome::Failed), "{fault:?}");
        let error = run.error().unwrap();
        assert!(
            error.is(kind) || error.is(ErrorKind::Provider),
            "{fault:?}: {error:?}"
        );
        assert!(error.message().contains(said), "{error}");
    }
    // The same failure once is only a retry.
    let scenario = answering(2).await;
    let faults = Faults::new().on(1, Fault::drop_after(150));
    let run = ask(&scenario, &faults, hi()).await;
    assert_eq!(run.response(), "Hello, you");
    assert_eq!(faults.requests(), 2);
}

#[tokio::test]
async fn a_stall_lasts_until_the_deadline() {
    for after in [0, 200] {
        let scenario = answering(1).await;
        let deadline = Deadline::after(Duration::from_millis(300));
        let faults = Faults::new().on(1, Fault::stall_after(after));
        let run = ask(&scenario, &faults, hi().with_deadline(deadline)).await;
        assert_eq!(run.outcome(), Some(Outcome::Partial), "{after}");
    }
}

#[tokio::test]
async fn a_fault_that_never_happened_is_reported() {
    let scenario = answering(1).await;
    let faults = Faults::new().on(4, Fault::status(500));
    ask(&scenario, &faults, hi()).await;
    assert_eq!(
        faults.verify().unwrap_err().message(),
        "a fault was planned for request 4, but only 1 request was sent"
    );
}

#[test]
fn faults_are_read_from_plain_data() {
    let good = json!([
        {"status": 429, "headers": {"retry-after": 0}, "body": {"error": "busy"}},
        {"on": 3, "drop_after": 10}, {"stall_after": 0, "delay": 0.5},
        {"truncate_after": 1}, {"on": "always", "garbage_after": 0},
    ]);
    let text = format!("{:?}", Faults::from_value(&good).unwrap());
    assert!(
        text.contains("429") && text.contains("application/json"),
        "{text}"
    );
    let cases: &[(Value, &str)] = &[
        (json!({}), "faults must be an array"),
        (json!([{}]), "a fault needs one of"),
        (json!([{"status": 99}]), "status must be a number from 200"),
        (json!([{"status": 500, "drop_after": 1}]), "does one thing"),
        (
            json!([{"drop_after": 1, "body": "x"}]),
            "only a fault with a status",
        ),
        (json!([{"statuss": 500}]), "a fault has no \"statuss\""),
        (json!([{"on": 0, "status": 500}]), "on must be the number"),
        (
            json!([{"on": 1, "status": 500}, {"on": 1, "status": 501}]),
            "two faults",
        ),
    ];
    for (value, problem) in cases {
        let error = Faults::from_value(value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(problem), "{error}");
    }
}
