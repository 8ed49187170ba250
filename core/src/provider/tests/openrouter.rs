use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::server::{Reply, Server};
use super::{ask, last_chunk, question};
use crate::error::ErrorKind;
use crate::message::Message;
use crate::model::{Model, ModelRequest, OutputSchema};
use crate::provider::{ModelResolver, Profile, ProviderConfig, ResolvedModel};

fn resolve(base_url: &str, id: &str, details: Value) -> Arc<ResolvedModel> {
    let config = ProviderConfig::openrouter("key-12345678")
        .base_url(base_url)
        .option("site_url", "https://shop.test")
        .option("app_name", "Shop");
    let mut profile = Profile::new(format!("router:{id}"));
    if let Value::Object(details) = details {
        profile = profile.details(details);
    }
    let resolver = ModelResolver::builder()
        .provider("router", config)
        .model("support", profile)
        .build()
        .unwrap();
    resolver.resolve_name("support").unwrap()
}

fn settings(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

async fn sent(id: &str, details: Value, request: &ModelRequest) -> (String, Value) {
    let server = Server::start(vec![Reply::stream(&[last_chunk()])]).await;
    let model = resolve(&server.base_url(), id, details);
    ask(&*model, request).await.outcome.unwrap();
    let request = server.requests().remove(0);
    (request.head, request.body)
}

#[tokio::test]
async fn requests_carry_attribution_session_and_reasoning() {
    let request = ModelRequest {
        settings: settings(json!({"session_id": "s-1", "reasoning_effort": "high",
            "prompt_cache_key": "k"})),
        ..question()
    };
    let (head, body) = sent("openai/gpt-5.6-luna", Value::Null, &request).await;
    for line in [
        "authorization: Bearer key-12345678",
        "http-referer: https://shop.test",
        "x-title: Shop",
        "x-session-id: s-1",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    assert_eq!(body["session_id"], "s-1");
    assert_eq!(body["prompt_cache_key"], "k");
    assert_eq!(body["reasoning"], json!({"effort": "high"}));
    assert_eq!(body.get("provider"), None);
    assert_eq!(body.get("cache_control"), None);
}

#[tokio::test]
async fn a_schema_asks_for_services_that_honour_it() {
    let request = ModelRequest {
        output_schema: Some(OutputSchema {
            name: "answer".into(),
            description: None,
            schema: json!({"type": "object"}),
        }),
        ..question()
    };
    let (_, body) = sent("x/y", Value::Null, &request).await;
    assert_eq!(body["provider"], json!({"require_parameters": true}));
}

#[tokio::test]
async fn caching_is_marked_where_the_family_needs_it() {
    let request = ModelRequest {
        messages: vec![Message::system("Be brief."), Message::user("Hi")].into(),
        ..ModelRequest::default()
    };
    let marker = json!({"type": "ephemeral"});
    let (_, body) = sent("anthropic/claude", Value::Null, &request).await;
    assert_eq!(body["cache_control"], marker);
    let (_, body) = sent("google/gemini-3", Value::Null, &request).await;
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], marker);
    assert_eq!(body.get("cache_control"), None);
}

#[tokio::test]
async fn unsupported_settings_are_dropped_only_when_routing_must_guarantee() {
    let details = json!({"supported_parameters": ["tools", "temperature", "reasoning"]});
    let given = json!({"temperature": 1, "seed": 2, "stop": "x", "reasoning_effort": "low",
        "user": "u"});
    let mut request = ModelRequest {
        settings: settings(given),
        ..question()
    };
    let (_, body) = sent("x/y", details.clone(), &request).await;
    assert_eq!(body["seed"], 2);
    request.required_capabilities = vec!["structured_outputs".into()];
    let (_, body) = sent("x/y", details, &request).await;
    assert_eq!(body["temperature"], 1);
    assert_eq!(body["reasoning"], json!({"effort": "low"}));
    assert_eq!(body["user"], "u");
    assert_eq!((body.get("seed"), body.get("stop")), (None, None));
    assert_eq!(body["provider"], json!({"require_parameters": true}));
}

#[tokio::test]
async fn the_limit_is_renamed_for_models_that_only_know_the_new_name() {
    let details = json!({"supported_parameters": ["max_completion_tokens"]});
    let request = ModelRequest {
        settings: settings(json!({"max_tokens": 9})),
        ..question()
    };
    let (_, body) = sent("x/y", details, &request).await;
    assert_eq!(body["max_completion_tokens"], 9);
    assert_eq!(body.get("max_tokens"), None);
}

#[tokio::test]
async fn capabilities_come_from_metadata() {
    let unknown = resolve("https://a.test", "x/y", Value::Null).capabilities();
    assert!(!unknown.known);
    let details = json!({"supported_parameters": ["tools", "response_format"]});
    let known = resolve("https://a.test", "x/y", details).capabilities();
    assert!(known.known && known.tools && known.native_structured_output);
    assert!(!known.tool_choice);
}

#[tokio::test]
async fn a_session_id_that_does_not_fit_is_refused() {
    for id in ["x".repeat(257), "line\nbreak".to_owned()] {
        let request = ModelRequest {
            settings: settings(json!({"session_id": id})),
            ..question()
        };
        let model = resolve("http://127.0.0.1:1/v1", "x/y", Value::Null);
        let error = ask(&*model, &request).await.outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
    }
}
