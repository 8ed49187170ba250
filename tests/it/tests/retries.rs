//! One policy of retries, whichever service fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt;
use futures_util::future::join_all;
use it::Server;
use it::wire::{Asked, Service, ask, model, services};
use little_ghost::{Agent, ErrorKind, Model, Outcome, Retry, StreamEvent};
use serde_json::{Value, json};

/// What one request led to.
struct Seen {
    asked: Asked,
    journal: Vec<Value>,
}

impl Seen {
    fn retries(&self) -> Vec<&Value> {
        let events = self.asked.events.iter();
        let retries = events.filter(|(kind, _)| kind == "model_retry");
        retries.map(|(_, data)| data).collect()
    }

    /// The text of each attempt, as it was delivered.
    fn texts(&self) -> Vec<String> {
        let mut texts = vec![String::new()];
        for (kind, data) in &self.asked.events {
            match kind.as_str() {
                "model_retry" => texts.push(String::new()),
                "text_delta" => texts
                    .last_mut()
                    .unwrap()
                    .push_str(data["text"].as_str().unwrap()),
                _ => {}
            }
        }
        texts
    }

    /// Milliseconds between the first two requests.
    fn pause(&self) -> f64 {
        let at = |index: usize| self.journal[index]["received_ms"].as_f64().unwrap();
        at(1) - at(0)
    }
}

/// Asks every service, which answers with what `exchanges` gives, and shows `check` what came of it.
async fn each(
    options: Value,
    deadline_in: Option<f64>,
    exchanges: impl Fn(&Service) -> Vec<Value>,
    check: impl Fn(&str, &Seen),
) {
    let services = services();
    let seen = services.iter().map(|service| {
        let exchanges = exchanges(service);
        let case = service.hello(&options, deadline_in);
        async move {
            let scenario = Server::shared().scenario(&exchanges).await;
            let asked = ask(&case, &scenario.base_url).await;
            let journal = scenario.journal().await;
            Seen { asked, journal }
        }
    });
    for (service, seen) in services.iter().zip(join_all(seen).await) {
        // Nothing is tried again unless that is said: an attempt that starts after another is announced.
        let starts = seen
            .asked
            .events
            .iter()
            .filter(|(kind, _)| kind == "message_start");
        assert!(
            starts.count() <= seen.retries().len() + 1,
            "{}",
            service.name
        );
        assert_eq!(
            seen.journal.len(),
            seen.retries().len() + 1,
            "{}",
            service.name
        );
        check(service.name, &seen);
    }
}

fn answers(name: &str, seen: &Seen) {
    let response = seen.asked.outcome.as_ref();
    let response = response.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(response.message.text(), "Hello", "{name}");
}

fn limited(headers: Value) -> impl Fn(&Service) -> Vec<Value> {
    move |service| {
        let body = json!({"error": {"message": "Slow down."}, "message": "Slow down."});
        let refusal = json!({"status": 429, "headers": headers, "body": body});
        vec![refusal, (service.answer)(&["Hel", "lo"])]
    }
}

#[tokio::test]
async fn a_pause_in_seconds_is_kept() {
    each(
        json!({}),
        None,
        limited(json!({"retry-after": "2"})),
        |name, seen| {
            answers(name, seen);
            let retry = seen.retries()[0];
            assert_eq!(retry["delay"], 2.0, "{name}");
            assert_eq!(retry["http_status"], 429, "{name}");
            assert_eq!(retry["partial_text"], false, "{name}");
            assert!(
                (1_999.0..4_000.0).contains(&seen.pause()),
                "{name}: {} ms",
                seen.pause()
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_pause_until_a_date_is_kept() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    each(
        json!({}),
        None,
        limited(json!({"retry-after": date})),
        |name, seen| {
            answers(name, seen);
            let delay = seen.retries()[0]["delay"].as_f64().unwrap();
            assert!((0.5..=3.0).contains(&delay), "{name}: {delay} s");
            assert!(
                seen.pause() >= 1_000.0 * delay - 1.0,
                "{name}: {} ms",
                seen.pause()
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_day_is_too_long_to_wait() {
    each(
        json!({}),
        None,
        limited(json!({"retry-after": "86400"})),
        |name, seen| {
            let error = seen.asked.outcome.as_ref().unwrap_err();
            assert_eq!(error.status(), Some(429), "{name}");
            assert!(error.message().contains("86400 s"), "{name}: {error}");
            assert!(
                error.message().contains("max_retry_delay"),
                "{name}: {error}"
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_pause_past_the_deadline_is_not_begun() {
    each(
        json!({}),
        Some(3.0),
        limited(json!({"retry-after": "10"})),
        |name, seen| {
            let error = seen.asked.outcome.as_ref().unwrap_err();
            assert_eq!(error.status(), Some(429), "{name}");
            assert!(error.message().contains("deadline"), "{name}: {error}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_pause_that_makes_no_sense_is_a_back_off() {
    each(
        json!({}),
        None,
        limited(json!({"retry-after": "soon"})),
        |name, seen| {
            answers(name, seen);
            let delay = seen.retries()[0]["delay"].as_f64().unwrap();
            assert!((0.5..=1.0).contains(&delay), "{name}: {delay} s");
        },
    )
    .await;
}

#[tokio::test]
async fn an_overloaded_service_is_asked_again() {
    let exchanges = |service: &Service| {
        let overloaded = json!({"status": 529, "body": {"error": {"type": "overloaded_error", "message": "Overloaded"}}});
        vec![overloaded, (service.answer)(&["Hello"])]
    };
    each(
        json!({"max_retry_delay": 0.02}),
        None,
        exchanges,
        |name, seen| {
            answers(name, seen);
            assert_eq!(seen.retries()[0]["http_status"], 529, "{name}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_request_that_does_not_fit_is_never_tried_again() {
    let exchanges = |service: &Service| vec![json!({"status": 400, "body": service.overflow})];
    each(json!({}), None, exchanges, |name, seen| {
        let error = seen.asked.outcome.as_ref().unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::ContextWindowOverflow,
            "{name}: {error}"
        );
        assert_eq!(error.retry(), Retry::Never, "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_reset_after_text_is_announced_with_what_was_delivered() {
    let exchanges = |service: &Service| {
        let mut broken = (service.answer)(&["a", "b", "c", "d", "e", "f", "g"]);
        broken["after_frames"] = json!(service.frames_before_text + 5);
        broken["then"] = json!("reset");
        // The client has read what came before the reset.
        broken["chunk_delay_ms"] = json!(5);
        vec![broken, (service.answer)(&["Hel", "lo"])]
    };
    each(
        json!({"max_retry_delay": 0.02}),
        None,
        exchanges,
        |name, seen| {
            answers(name, seen);
            assert_eq!(seen.texts(), ["abcde", "Hello"], "{name}");
            let retry = seen.retries()[0];
            assert_eq!(retry["partial_text"], true, "{name}: {retry}");
            assert_eq!(retry["attempt"], 1, "{name}: {retry}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_final_error_after_text_is_final() {
    let exchanges = |service: &Service| vec![service.refusal.clone()];
    each(json!({}), None, exchanges, |name, seen| {
        let error = seen.asked.outcome.as_ref().unwrap_err();
        assert!(error.is(ErrorKind::Provider), "{name}: {error:?}");
        assert!(error.message().contains("No."), "{name}: {error}");
        assert_eq!(seen.texts(), ["a"], "{name}");
    })
    .await;
}

#[tokio::test]
async fn retries_end() {
    let exchanges = |_: &Service| vec![json!({"status": 503, "body": {"message": "Away."}}); 3];
    each(
        json!({"max_retry_delay": 0.02}),
        None,
        exchanges,
        |name, seen| {
            let error = seen.asked.outcome.as_ref().unwrap_err();
            assert_eq!(error.status(), Some(503), "{name}: {error}");
            assert_eq!(seen.retries().len(), 2, "{name}");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_wait_at_once() {
    for service in services() {
        let refusal = json!({"status": 429, "headers": {"retry-after": "10"}, "body": {}});
        let scenario = Server::shared().scenario(&[refusal]).await;
        let model: Arc<dyn Model> =
            model(&service.hello(&json!({}), None), &scenario.base_url).unwrap();
        let agent = Agent::builder("waiting").model(model).build().unwrap();
        let mut stream = agent.stream_ask("Hello").unwrap();
        let run = stream.run();
        let mut cancelled = None;
        while let Some(event) = stream.next().await {
            if let StreamEvent::ModelRetry(_) = event {
                cancelled = Some(Instant::now());
                run.cancel();
            }
        }
        let took = cancelled.expect(service.name).elapsed();
        assert!(
            took < Duration::from_millis(50),
            "{}: {took:?}",
            service.name
        );
        assert_eq!(run.outcome(), Some(Outcome::Cancelled), "{}", service.name);
        assert_eq!(scenario.journal().await.len(), 1, "{}", service.name);
    }
}
