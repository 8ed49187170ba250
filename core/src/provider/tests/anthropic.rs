use std::sync::Arc;

use serde_json::{Value, json};

use super::server::{Reply, Server};
use super::{ask, question};
use crate::error::{ErrorKind, Result};
use crate::model::{Model, StopReason};
use crate::provider::{ModelResolver, Profile, ProviderConfig, ResolvedModel};

fn resolve(config: ProviderConfig, details: Value) -> Result<Arc<ResolvedModel>> {
    let mut profile = Profile::new("claude:claude-sonnet-4-5");
    if let Value::Object(details) = details {
        profile = profile.details(details);
    }
    let resolver = ModelResolver::builder()
        .provider("claude", config)
        .model("support", profile)
        .build()?;
    resolver.resolve_name("support")
}

fn answer() -> Reply {
    Reply::stream(&[
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude-sonnet-4-5-20250929",
            "usage": {"input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ])
}

#[tokio::test]
async fn requests_say_who_asks_and_in_which_version() {
    let server = Server::start(vec![answer(), answer()]).await;
    let config = ProviderConfig::anthropic("key-12345678")
        .base_url(server.base_url())
        .header("anthropic-beta", "files-api-2025-04-14")
        .option("surprise", true);
    let model = resolve(config.clone(), Value::Null).unwrap();
    let response = ask(&*model, &question()).await.outcome.unwrap();
    assert_eq!(response.message.text(), "Hi");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(
        json!(response.metadata),
        json!({"id": "msg_1", "model": "claude-sonnet-4-5-20250929"})
    );
    let dated = resolve(config.option("api_version", "2026-10-21"), Value::Null).unwrap();
    ask(&*dated, &question()).await.outcome.unwrap();
    let heads: Vec<String> = server
        .requests()
        .into_iter()
        .map(|request| request.head)
        .collect();
    for line in [
        "POST /v1/messages ",
        "x-api-key: key-12345678",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: files-api-2025-04-14",
        "accept: text/event-stream",
    ] {
        assert!(heads[0].contains(line), "{}", heads[0]);
    }
    assert!(!heads[0].contains("authorization"), "{}", heads[0]);
    assert!(
        heads[1].contains("anthropic-version: 2026-10-21"),
        "{}",
        heads[1]
    );
}

#[tokio::test]
async fn a_server_on_this_machine_needs_no_key() {
    let server = Server::start(vec![answer()]).await;
    let config = ProviderConfig::new("anthropic").base_url(server.base_url());
    let model = resolve(config, Value::Null).unwrap();
    ask(&*model, &question()).await.outcome.unwrap();
    assert!(!server.requests()[0].head.contains("x-api-key"));
    let missing = resolve(ProviderConfig::new("anthropic"), Value::Null).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Credential);
    assert!(missing.message().contains("ANTHROPIC_API_KEY"), "{missing}");
    let token = ProviderConfig::new("anthropic").header("authorization", "Bearer token");
    assert!(resolve(token, Value::Null).is_ok());
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_an_overflow() {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 208310 tokens > 200000 maximum"}});
    let server = Server::start(vec![Reply::new(400, &[], &body.to_string())]).await;
    let config = ProviderConfig::anthropic("key-12345678").base_url(server.base_url());
    let model = resolve(config, Value::Null).unwrap();
    let error = ask(&*model, &question()).await.outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextWindowOverflow);
    assert!(error.message().contains("208310 tokens"), "{error}");
}

#[test]
fn details_say_which_models_take_a_schema() {
    let capabilities = |details: Value| {
        let config = ProviderConfig::anthropic("key-12345678");
        resolve(config, details).unwrap().capabilities()
    };
    let plain = capabilities(json!({"supported_parameters": ["temperature"]}));
    assert!(plain.tools && plain.tool_choice && !plain.native_structured_output);
    assert!(
        capabilities(json!({"supported_parameters": ["structured_outputs"]}))
            .native_structured_output
    );
    let unknown = capabilities(json!({"context_window": 9}));
    assert!(unknown.known && unknown.tools && !unknown.native_structured_output);
}
