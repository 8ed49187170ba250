//! What fuzzing starts from: every recorded stream, and a few documents of each kind.

use std::collections::BTreeMap;

use it::wire;
use serde_json::{Value, json};

/// Inputs by the name of their target.
pub type Corpus = BTreeMap<&'static str, Vec<Vec<u8>>>;

/// The inputs of every target.
pub async fn load() -> Corpus {
    let mut corpus = Corpus::new();
    for case in wire::load() {
        for stream in wire::streams(&case).await {
            if let Some(target) = target(&stream.path) {
                corpus.entry(target).or_default().push(stream.body);
            }
        }
    }
    for (target, documents) in documents() {
        let texts = documents.into_iter().map(String::into_bytes);
        corpus.entry(target).or_default().extend(texts);
    }
    for inputs in corpus.values_mut() {
        inputs.sort();
        inputs.dedup();
    }
    corpus
}

/// The target that reads the answer to a request for `path`.
fn target(path: &str) -> Option<&'static str> {
    Some(match path {
        "chat/completions" => "chat_completions",
        "responses" => "responses",
        "messages" => "anthropic",
        path if path.contains("converse-stream") => "converse",
        path if path.contains(":streamGenerateContent") => "gemini",
        _ => return None,
    })
}

fn documents() -> Vec<(&'static str, Vec<String>)> {
    vec![
        (
            "structured_result",
            vec![
                r#"{"name": "a", "count": 3, "kind": "b", "tags": ["x"], "next": {}}"#.to_owned(),
                r#"{"name": "a", "count": 1e3, "kind": null, "tags": [], "next": null}"#.to_owned(),
                "```json\n{\"name\": \"a\"}\n```".to_owned(),
                "Sure! {\"name\": \"\\ud83d\\ude00\"} Anything else?".to_owned(),
            ],
        ),
        ("session_file", session_files()),
        ("session_snapshot", vec![snapshot().to_string()]),
        ("cassette_file", vec![cassette().to_string()]),
        (
            "configuration",
            vec![
                "primary:\n  adapter: openrouter\n  headers: {x-a: \"1\", y: 'two'}\n".to_owned(),
                "a: &anchor\n  - 1\n  - ~\nb: *anchor\nc: |\n  text\n  more\nd: >-\n  folded\n"
                    .to_owned(),
                "? complex\n: !!str 12\n<<: {e: 0x1F, f: .inf, g: 2026-11-30}\n---\nsecond: true\n"
                    .to_owned(),
            ],
        ),
    ]
}

fn snapshot() -> Value {
    json!({
        "messages": [
            {"role": "user", "content": "Hello", "metadata": {}},
            {"role": "assistant", "content": [
                {"type": "reasoning", "text": "Hm.", "signature": "c2ln"},
                {"type": "text", "text": "Hi"},
                {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Bern"}},
            ]},
            {"role": "tool", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "Sunny", "status": "success"},
            ]},
            {"role": "user", "content": [
                {"type": "image", "media_type": "image/png", "data": "aGk="},
                {"type": "document", "media_type": "application/pdf", "name": "a.pdf", "data": "aGk="},
            ]},
        ],
        "state": {"step": 2, "ratio": 0.1, "large": 18_446_744_073_709_551_615_u64},
        "metadata": {"title": "Weather"},
    })
}

/// Files as the store writes them.
fn session_files() -> Vec<String> {
    let snapshot = little_ghost::Snapshot::from_value(&snapshot()).unwrap();
    let empty = little_ghost::Snapshot::default();
    [snapshot, empty]
        .iter()
        .map(little_ghost::fuzzing::session_file)
        .collect()
}

fn cassette() -> Value {
    let request = json!({
        "method": "POST", "host": "api.example.com", "path": "/v1/chat/completions",
        "query": {"a": "b"}, "body": {"model": "m", "messages": []},
    });
    json!({"format": "little-ghost cassette 1", "exchanges": [
        {"request": request, "response": {
            "status": 200, "headers": {"content-type": "text/event-stream"},
            "chunks": ["data: 1\n\n", ["data: 2\n\n", "data: 3\n\n"], {"base64": "/w=="}], "complete": false,
        }},
        {"request": request, "response": {
            "status": 429, "headers": {"retry-after": "2"}, "json": {"error": {"message": "Slow down."}},
        }},
    ]})
}
