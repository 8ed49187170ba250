//! Cassettes: what is written, what never is, and how strictly they play.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use it::{Scenario, Server};
use little_ghost::testing::{Cassette, CassetteBuilder, CassetteMode, Fault, Faults};
use little_ghost::{Agent, ErrorKind, Outcome, Run, Runtime, StreamEvent};
use serde_json::{Value, json};

const KEY: &str = "sk-live-0123456789abcdef";
const QUERY_KEY: &str = "query-key-0123456789";
const LITERAL: &str = "Ada \"the\" Lovelace";

/// A cassette's file in a folder of its own, which goes with it.
struct Tape(PathBuf);

impl Tape {
    fn new(name: &str) -> Self {
        let folder = format!("little-ghost-cassettes-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.join("nested/tape.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    fn builder(&self, mode: CassetteMode) -> CassetteBuilder {
        Cassette::builder(self.path()).mode(mode).scrub(LITERAL)
    }

    fn open(&self, mode: CassetteMode) -> Cassette {
        self.builder(mode).open().unwrap()
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn runtime(base_url: &str, key: &str) -> Arc<Runtime> {
    let base_url = format!("{base_url}?api-version=7&api_key={QUERY_KEY}");
    Runtime::from_value(&json!({"providers": {"scripted": {
        "adapter": "openai_compatible", "api": "chat_completions",
        "base_url": base_url, "api_key": key, "headers": {"x-team": "blue-team-header"},
    }}}))
    .unwrap()
}

fn agent(runtime: Arc<Runtime>) -> Agent {
    Agent::builder("support")
        .model(it::MODEL)
        .system_prompt("Be brief.")
        .runtime(runtime)
        .build()
        .unwrap()
}

async fn ask(scenario: &Scenario, cassette: &Cassette, message: &str) -> Run {
    let runtime = runtime(&scenario.base_url, KEY)
        .to_builder()
        .cassette(cassette);
    agent(runtime.build().unwrap()).ask(message).await.unwrap()
}

/// Plays against an address where nothing listens, with another key.
async fn play(cassette: &Cassette, message: &str) -> Run {
    let runtime = runtime("http://127.0.0.1:9/elsewhere/v1", "another-key-1234567");
    let runtime = runtime.to_builder().cassette(cassette).build();
    agent(runtime.unwrap()).ask(message).await.unwrap()
}

async fn scenario(exchanges: &[Value]) -> Scenario {
    Server::shared().scenario(exchanges).await
}

#[tokio::test]
async fn a_recorded_stream_is_played_chunk_by_chunk() {
    let tape = Tape::new("stream");
    let scenario = scenario(&[json!({"chat": {"text": ["Grüße, ", "you"]}, "split": 7})]).await;
    let recording = tape.open(CassetteMode::Once);
    assert!(recording.is_recording());
    let run = ask(&scenario, &recording, "Hi").await;
    assert_eq!(run.response(), "Grüße, you");
    recording.finish().unwrap();
    let kept = tape.value();
    assert_eq!(kept["format"], "little-ghost cassette 1");
    let exchange = &kept["exchanges"][0];
    assert_eq!(exchange["request"]["method"], "POST");
    assert_eq!(exchange["request"]["query"]["api-version"], "7");
    assert_eq!(
        exchange["request"]["body"]["messages"][1]["content"][0]["text"],
        "Hi"
    );
    assert_eq!(
        exchange["response"]["headers"]["content-type"],
        "text/event-stream"
    );
    assert!(exchange["response"]["chunks"].as_array().unwrap().len() > 20);

    // The path of the scenario is part of the request.
    let path = exchange["request"]["path"].as_str().unwrap();
    let id = path.split('/').nth(2).unwrap().to_owned();
    let playing = tape.open(CassetteMode::Once);
    assert!(!playing.is_recording());
    let address = format!("http://127.0.0.1:9/s/{id}/v1");
    let runtime = runtime(&address, "another-key-1234567").to_builder();
    let agent = agent(runtime.cassette(&playing).build().unwrap());
    let played = agent.ask("Hi").await.unwrap();
    assert_eq!(played.response(), "Grüße, you");
    assert_eq!(played.usage(), run.usage());
    playing.finish().unwrap();
    assert_eq!(scenario.journal().await.len(), 1);

    let again = agent.ask("Hi").await.unwrap();
    assert_eq!(again.outcome(), Some(Outcome::Failed));
    let error = again.error().unwrap();
    let said = error.message();
    assert!(
        said.contains("exchange 1 is the same, but it was played already"),
        "{said}"
    );
}

#[tokio::test]
async fn no_secret_is_ever_written() {
    let tape = Tape::new("secrets");
    let echo = format!("your key {KEY} of {LITERAL}");
    let scenario = scenario(&[
        json!({"status": 503, "headers": {"retry-after": "0", "set-cookie": "session=cookie-secret"},
               "body": {"error": {"message": echo, "api_key": "under-a-key"}}}),
        // Bytes of the key lie in several chunks.
        json!({"chat": {"text": [echo.clone()], "tool_calls": []}, "split": 5}),
    ])
    .await;
    let recording = tape.open(CassetteMode::Record);
    let asked = format!("I am {LITERAL} and my key is {KEY} {QUERY_KEY}");
    let run = ask(&scenario, &recording, &asked).await;
    assert_eq!(run.response(), echo, "the run itself sees everything");
    recording.finish().unwrap();
    let text = tape.text();
    let secrets = [
        KEY,
        QUERY_KEY,
        LITERAL,
        "Lovelace",
        "cookie-secret",
        "under-a-key",
        "blue-team-header",
        "Bearer",
        "authorization",
    ];
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(
        text.contains("I am [scrubbed] and my key is [scrubbed] [scrubbed]"),
        "{text}"
    );
    let exchanges = tape.value()["exchanges"].clone();
    assert_eq!(exchanges[0]["response"]["headers"]["retry-after"], "0");
    assert_eq!(
        exchanges[0]["response"]["json"]["error"]["api_key"],
        "[scrubbed]"
    );
    let chunks = exchanges[1]["response"]["chunks"].clone();
    let whole: Vec<String> = chunks
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    assert!(whole.len() > 5);

    // It plays all the same, retry included, and what is asked is scrubbed before it is compared.
    let playing = tape.open(CassetteMode::Replay);
    let run = ask(&scenario, &playing, &asked).await;
    assert_eq!(run.response(), "your key [scrubbed] of [scrubbed]");
    playing.finish().unwrap();
    assert_eq!(scenario.journal().await.len(), 2);
    let shown = format!("{playing:?} {:?}", tape.builder(CassetteMode::Once));
    assert!(!shown.contains("Lovelace"), "{shown}");
}

#[tokio::test]
async fn a_changed_request_is_refused_with_what_changed() {
    let tape = Tape::new("strict");
    let scenario = scenario(&[
        json!({"chat": {"text": "One"}}),
        json!({"chat": {"text": "Two"}}),
    ])
    .await;
    let recording = tape.open(CassetteMode::Record);
    ask(&scenario, &recording, "First question").await;
    ask(&scenario, &recording, "Second question").await;
    recording.finish().unwrap();

    let playing = tape.open(CassetteMode::Replay);
    let run = ask(&scenario, &playing, "Second query").await;
    let error = run.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Error);
    let said = error.message();
    let expected = "it differs from exchange 1 in\n  body.messages[1].content[0].text: \
                    recorded \"First question\", sent \"Second query\"\n";
    assert!(said.contains(expected), "{said}");
    assert_eq!(playing.finish().unwrap_err().message(), said);
    assert_eq!(scenario.journal().await.len(), 2, "nothing was sent");

    let playing = tape.open(CassetteMode::Replay);
    ask(&scenario, &playing, "Second question").await;
    let unused = playing.finish().unwrap_err();
    assert!(
        unused
            .message()
            .contains("has 1 exchange that nobody asked for: 1 (POST /"),
        "{unused}"
    );

    let lenient = tape
        .builder(CassetteMode::Replay)
        .ignore("/messages")
        .open()
        .unwrap();
    assert_eq!(ask(&scenario, &lenient, "Anything").await.response(), "One");
    assert_eq!(
        play(&lenient, "Elsewhere").await.outcome(),
        Some(Outcome::Failed)
    );
}

#[tokio::test]
async fn an_answer_that_broke_off_breaks_off_again() {
    let tape = Tape::new("broken");
    let cut = json!({"chat": {"text": ["Half", " of it"]}, "after_frames": 2, "then": "reset"});
    let scenario = scenario(&[cut, json!({"chat": {"text": "Whole"}})]).await;
    let recording = tape.open(CassetteMode::Record);
    ask(&scenario, &recording, "Hi").await;
    recording.finish().unwrap();
    assert_eq!(tape.value()["exchanges"][0]["response"]["complete"], false);

    let playing = tape.open(CassetteMode::Replay);
    let runtime = runtime(&scenario.base_url, KEY)
        .to_builder()
        .cassette(&playing);
    let mut stream = agent(runtime.build().unwrap()).stream_ask("Hi").unwrap();
    let mut retries = 0;
    while let Some(event) = futures_util::StreamExt::next(&mut stream).await {
        retries += usize::from(matches!(event, StreamEvent::ModelRetry(_)));
    }
    assert_eq!(retries, 1);
    assert_eq!(stream.finish().await.unwrap().response(), "Whole");
    playing.finish().unwrap();
}

#[tokio::test]
async fn faults_go_over_a_cassette() {
    let tape = Tape::new("faults");
    let scenario = scenario(&[json!({"chat": {"text": "Hello"}})]).await;
    let recording = tape.open(CassetteMode::Record);
    ask(&scenario, &recording, "Hi").await;
    recording.finish().unwrap();

    let playing = tape.open(CassetteMode::Replay);
    let busy = Fault::status(429).header("retry-after", "0").unwrap();
    let faults = Faults::new().on(1, busy);
    let runtime = runtime(&scenario.base_url, KEY).to_builder();
    let runtime = runtime.cassette(&playing).faults(&faults).build().unwrap();
    let run = agent(runtime).ask("Hi").await.unwrap();
    assert_eq!(run.response(), "Hello");
    assert_eq!(faults.requests(), 2);
    playing.finish().unwrap();
}

#[test]
fn unusable_cassettes_say_what_to_do() {
    let tape = Tape::new("unusable");
    let open = |mode| tape.builder(mode).open().map(drop);
    let missing = open(CassetteMode::Replay).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Configuration);
    assert!(
        missing
            .message()
            .contains("does not exist; record it first"),
        "{missing}"
    );
    fs::create_dir_all(tape.path().parent().unwrap()).unwrap();
    for (text, problem) in [
        ("{", "is not JSON"),
        ("{\"format\": \"other\"}", "is no cassette of this version"),
        (
            r#"{"format": "little-ghost cassette 1", "exchanges": [{"request": {}}]}"#,
            "is damaged in exchange 1: a request has no method",
        ),
    ] {
        fs::write(tape.path(), text).unwrap();
        let error = open(CassetteMode::Once).unwrap_err();
        assert!(error.message().contains(problem), "{error}");
    }
    let short = Cassette::builder(tape.path())
        .scrub("abc")
        .open()
        .unwrap_err();
    assert!(!short.message().contains("abc"), "{short}");
    assert_eq!(short.kind(), ErrorKind::Argument);
    let pointer = Cassette::builder(tape.path())
        .ignore("user")
        .open()
        .unwrap_err();
    assert!(pointer.message().contains("must begin with /"), "{pointer}");
    assert!(CassetteMode::from_name("sometimes").is_err());
}

#[tokio::test]
async fn a_service_that_is_away_leaves_no_tape() {
    let tape = Tape::new("away");
    let away = Runtime::from_value(&json!({"providers": {"scripted": {
        "adapter": "openai_compatible", "api": "chat_completions",
        "base_url": "http://127.0.0.1:9/v1", "max_retries": 0,
    }}}))
    .unwrap();
    for mode in [CassetteMode::Once, CassetteMode::Record] {
        let cassette = tape.open(mode);
        let runtime = away.to_builder().cassette(&cassette).build().unwrap();
        let run = agent(runtime).ask("Hello").await.unwrap();
        assert_eq!(run.outcome(), Some(Outcome::Failed));
        cassette.finish().unwrap();
        assert!(!tape.path().exists());
    }
}
