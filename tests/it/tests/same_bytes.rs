//! The same agent sends the same bytes from every language and process, and a conversation that goes on begins
//! with the bytes that it had: services cache prompts by their first bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::BTreeMap;
use std::process::{Output, Stdio};

use it::{Scenario, Server};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::process::Command;

/// What the model asks for, and what it answers at last.
const ANSWER: &str = r#"{"zulu":"under way","alpha":1}"#;

struct Service {
    connection: Value,
    model: &'static str,
    exchanges: Vec<Value>,
    /// The field of a request that the conversation is in.
    conversation: &'static str,
    /// Settings besides those of the agent.
    settings: Value,
}

impl Service {
    /// Has the service be told what it may cache.
    fn cached(mut self) -> Self {
        self.settings = json!({"prompt_cache": true});
        self
    }
}

fn openai(options: Value, model: &'static str, kind: &str, conversation: &'static str) -> Service {
    let call = json!({"id": "call_1", "name": "order_status",
        "arguments": r#"{"zulu": "481", "alpha": 3.0}"#});
    let mut connection = json!({"api_key": "test-key"});
    connection
        .as_object_mut()
        .unwrap()
        .extend(options.as_object().unwrap().clone());
    Service {
        connection,
        model,
        exchanges: vec![
            json!({ kind: {"text": "Looking.", "tool_calls": [call]} }),
            json!({ kind: {"text": ANSWER} }),
        ],
        conversation,
        settings: json!({}),
    }
}

fn anthropic(connection: Value) -> Service {
    let frame = |event: Value| json!({"event": event["type"], "data": event});
    let answer = |blocks: Vec<Value>, stop: &str| {
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        let mut frames = vec![frame(
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "model": "claude", "content": [], "usage": usage}}),
        )];
        for (index, block) in blocks.into_iter().enumerate() {
            let (start, delta) = match block {
                Value::String(text) => (
                    json!({"type": "text", "text": ""}),
                    json!({"type": "text_delta", "text": text}),
                ),
                input => (
                    json!({"type": "tool_use", "id": "toolu_1", "name": "order_status", "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": input.to_string()}),
                ),
            };
            frames.extend([
                frame(
                    json!({"type": "content_block_start", "index": index, "content_block": start}),
                ),
                frame(json!({"type": "content_block_delta", "index": index, "delta": delta})),
                frame(json!({"type": "content_block_stop", "index": index})),
            ]);
        }
        frames.push(frame(json!({"type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage})));
        frames.push(frame(json!({"type": "message_stop"})));
        json!({ "sse": frames })
    };
    Service {
        connection,
        model: "claude-sonnet-4-5",
        exchanges: vec![
            answer(
                vec![json!("Looking."), json!({"zulu": "481", "alpha": 3.0})],
                "tool_use",
            ),
            answer(vec![json!(ANSWER)], "end_turn"),
        ],
        conversation: "messages",
        settings: json!({}),
    }
}

fn bedrock(connection: Value) -> Service {
    let frame = |event: &str, data: Value| json!({"event": event, "data": data});
    let answer = |blocks: Vec<Value>, stop: &str| {
        let mut frames = vec![frame("messageStart", json!({"role": "assistant"}))];
        for (index, block) in blocks.into_iter().enumerate() {
            let delta = match block {
                Value::String(text) => json!({ "text": text }),
                input => {
                    let start =
                        json!({"toolUse": {"toolUseId": "tooluse_1", "name": "order_status"}});
                    frames.push(frame(
                        "contentBlockStart",
                        json!({"contentBlockIndex": index, "start": start}),
                    ));
                    json!({"toolUse": {"input": input.to_string()}})
                }
            };
            let delta = json!({"contentBlockIndex": index, "delta": delta});
            frames.push(frame("contentBlockDelta", delta));
            frames.push(frame(
                "contentBlockStop",
                json!({"contentBlockIndex": index}),
            ));
        }
        frames.push(frame("messageStop", json!({"stopReason": stop})));
        let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
        frames.push(frame(
            "metadata",
            json!({"usage": usage, "metrics": {"latencyMs": 1}}),
        ));
        json!({ "eventstream": frames })
    };
    Service {
        connection,
        model: "anthropic.claude-sonnet-4-5-20250929-v1:0",
        exchanges: vec![
            answer(
                vec![json!("Looking."), json!({"zulu": "481", "alpha": 3.0})],
                "tool_use",
            ),
            answer(vec![json!(ANSWER)], "end_turn"),
        ],
        conversation: "messages",
        settings: json!({}),
    }
}

fn gemini(connection: Value) -> Service {
    let frame = |parts: Value| {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP",
            "index": 0}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5,
            "totalTokenCount": 15}})
    };
    let call = json!({"functionCall": {"name": "order_status",
        "args": {"zulu": "481", "alpha": 3.0}}, "thoughtSignature": "c2lnbmVk"});
    Service {
        connection,
        model: "gemini-3-pro",
        exchanges: vec![
            json!({"sse": [frame(json!([{"text": "Looking."}, call]))]}),
            json!({"sse": [frame(json!([{"text": ANSWER}]))]}),
        ],
        conversation: "contents",
        settings: json!({}),
    }
}

/// One of each way to write a request.
fn services() -> Vec<Service> {
    let compatible = |api: &str| json!({"adapter": "openai_compatible", "api": api});
    let aws = json!({"adapter": "bedrock", "region": "us-east-1",
        "credentials": {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "test-secret"}});
    vec![
        openai(
            json!({"adapter": "openai"}),
            "gpt-4.1",
            "responses",
            "input",
        ),
        openai(compatible("responses"), "any", "responses", "input"),
        openai(compatible("chat_completions"), "any", "chat", "messages"),
        openai(
            json!({"adapter": "openrouter"}),
            "openai/gpt-4.1",
            "chat",
            "messages",
        ),
        anthropic(json!({"adapter": "anthropic", "api_key": "test-key"})),
        anthropic(json!({"adapter": "anthropic", "api_key": "test-key"})).cached(),
        bedrock(aws.clone()),
        bedrock(aws).cached(),
        gemini(json!({"adapter": "gemini", "api_key": "test-key"})),
        gemini(json!({"adapter": "vertex_ai", "project": "p", "access_token": "test-token"})),
    ]
}

fn root() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../..")
}

fn program(language: &str) -> Command {
    let of = |variable: &str| {
        std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run `make test`"))
    };
    match language {
        "ruby" => {
            let mut ruby = Command::new(of("RUBY"));
            ruby.args(["-w", "-I"]).arg(format!("{}/gem/lib", root()));
            ruby.arg(format!("{}/gem/test/support/same_agent.rb", root()));
            ruby
        }
        "python" => {
            let mut python = Command::new(of("VENV_PYTHON"));
            python.arg(format!("{}/python/tests/same_agent.py", root()));
            python.env("PYTHONPATH", format!("{}/python/src", root()));
            // Hashes of strings differ from process to process; nothing may depend on them.
            python.env("PYTHONHASHSEED", "random");
            python
        }
        _ => Command::new(env!("CARGO_BIN_EXE_same-agent")),
    }
}

/// The bodies that one process sent to each service, in order.
async fn bodies(language: &str) -> Vec<Vec<String>> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut plan = Vec::new();
    for service in services() {
        let scenario = Server::shared().scenario(&service.exchanges).await;
        let mut connection = service.connection;
        let address = match connection["adapter"].as_str() {
            Some("bedrock") => "endpoint",
            _ => "base_url",
        };
        connection[address] = json!(scenario.base_url);
        plan.push(json!({"connection": connection, "model": service.model,
            "settings": service.settings}));
        scenarios.push(scenario);
    }
    let Output {
        status,
        stdout,
        stderr,
    } = program(language)
        .arg(json!(plan).to_string())
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    assert!(
        status.success(),
        "{language}: {}",
        String::from_utf8_lossy(&stderr)
    );
    assert_eq!(
        String::from_utf8_lossy(&stdout).lines().count(),
        plan.len(),
        "{language}"
    );
    let mut all = Vec::new();
    for scenario in &scenarios {
        let journal = scenario.journal().await;
        let text = |entry: &Value| entry["body_text"].as_str().unwrap().to_owned();
        all.push(journal.iter().map(text).collect());
    }
    all
}

#[tokio::test]
async fn every_language_and_process_sends_the_same_bytes() {
    let (first, second, ruby, ruby_again, python, python_again) = tokio::join!(
        bodies("rust"),
        bodies("rust"),
        bodies("ruby"),
        bodies("ruby"),
        bodies("python"),
        bodies("python"),
    );
    for (index, service) in services().iter().enumerate() {
        let name = service.connection.to_string();
        assert_eq!(first[index].len(), 2, "{name}");
        for other in [&second, &ruby, &ruby_again, &python, &python_again] {
            assert_eq!(first[index], other[index], "{name}");
        }
        goes_on(service, &first[index][0], &first[index][1]);
    }
}

/// Checks that the second request of a conversation begins with the bytes of the first.
fn goes_on(service: &Service, first: &str, second: &str) {
    let name = service.connection.to_string();
    let read = |body: &str| -> BTreeMap<String, Box<RawValue>> {
        serde_json::from_str(body).expect("a request is an object")
    };
    let (earlier, later) = (unmarked(first), unmarked(second));
    assert_ne!(
        service.settings == json!({}),
        earlier.len() < first.len(),
        "{name}: {first}"
    );
    let (earlier, mut later) = (read(&earlier), read(&later));
    for (field, value) in &earlier {
        let next = later
            .remove(field)
            .unwrap_or_else(|| panic!("{name}: no {field} any more"));
        if field == service.conversation {
            let known = value.get().strip_suffix(']').unwrap();
            assert!(
                next.get().starts_with(known) && next.get().len() > value.get().len() + 1,
                "{name}: {known}\n{}",
                next.get()
            );
        } else {
            assert_eq!(value.get(), next.get(), "{name}: {field}");
        }
    }
    assert!(later.is_empty(), "{name}: {later:?}");
}

/// A request without the marks of what may be cached: they move on with the conversation.
fn unmarked(body: &str) -> String {
    let body = body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    body.replace(r#",{"cachePoint":{"type":"default"}}"#, "")
}
