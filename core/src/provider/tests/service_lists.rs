//! The lists of models that services keep themselves.

use serde_json::{Map, Value, json};

use super::server::{Reply, Server};
use crate::catalog::{AnthropicModels, Catalog, CatalogSource, GeminiModels, ModelRecord};
use crate::error::ErrorKind;

fn reply(value: &Value) -> Reply {
    Reply::new(
        200,
        &[("content-type", "application/json")],
        &value.to_string(),
    )
}

fn options(base_url: &str) -> Map<String, Value> {
    Map::from_iter([
        ("base_url".into(), json!(base_url)),
        ("api_key".into(), json!("key-12345678")),
    ])
}

fn targets(records: &[ModelRecord]) -> Vec<&str> {
    records.iter().map(|record| &*record.target).collect()
}

#[tokio::test]
async fn anthropic_tells_limits_and_inputs_page_by_page() {
    let supported = json!({"supported": true});
    let not = json!({"supported": false});
    let first = json!({"data": [{
        "type": "model", "id": "claude-next", "display_name": "Claude Next", "lifecycle": "active",
        "max_input_tokens": 1_000_000, "max_tokens": 64_000,
        "capabilities": {"image_input": supported, "pdf_input": not, "thinking": supported,
            "structured_outputs": supported},
    }], "has_more": true, "first_id": "claude-next", "last_id": "claude-next"});
    let second = json!({"data": [
        {"type": "model", "id": "claude-old", "max_input_tokens": 0, "max_tokens": null},
        {"type": "model", "id": "claude-gone", "lifecycle": "retired"},
    ], "has_more": false, "first_id": "claude-old", "last_id": "claude-gone"});
    let server = Server::start(vec![reply(&first), reply(&second)]).await;
    let source = AnthropicModels::from_options("primary", &options(&server.base_url()));
    let records = source.refresh(None).await.unwrap();
    assert_eq!(
        targets(&records),
        [
            "primary:claude-next",
            "primary:claude-old",
            "primary:claude-gone"
        ]
    );
    assert_eq!(
        Value::Object(records[0].attributes.clone()),
        json!({"context_window": 1_000_000, "max_output_tokens": 64_000, "available": true,
            "input_modalities": ["text", "image"],
            "supported_parameters": ["max_tokens", "stop", "tool_choice", "tools", "reasoning",
                "response_format", "structured_outputs"]})
    );
    assert_eq!(
        Value::Object(records[1].attributes.clone()),
        json!({"available": true})
    );
    assert_eq!(records[2].attributes["available"], false);
    let sent = server.requests();
    assert!(
        sent[0].head.contains("/models?limit=1000 "),
        "{}",
        sent[0].head
    );
    assert!(
        sent[1]
            .head
            .contains("/models?limit=1000&after_id=claude-next "),
        "{}",
        sent[1].head
    );
    for request in &sent {
        assert!(request.head.contains("x-api-key: key-12345678"));
        assert!(request.head.contains("anthropic-version: 2023-06-01"));
    }
    // What the snapshot knows besides stays.
    let catalog = Catalog::new();
    let known = ModelRecord {
        target: "primary:claude-haiku-4-5".into(),
        ..records[0].clone()
    };
    catalog
        .apply(source.name(), vec![known], &source.merge_strategies())
        .unwrap();
    let details = catalog.details("primary:claude-haiku-4-5", Some("anthropic"));
    assert_eq!(details.context_window(), Some(1_000_000));
    assert!(
        details
            .supported_parameters()
            .unwrap()
            .contains(&"temperature")
    );
    assert!(details.pricing().is_some());
    assert_eq!(details.provenance()["context_window"], "anthropic:primary");
}

#[tokio::test]
async fn gemini_tells_the_limits_of_models_that_write() {
    let model = |name: &str, method: &str| {
        json!({"name": format!("models/{name}"), "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536, "supportedGenerationMethods": [method, "countTokens"]})
    };
    let first = json!({"models": [model("gemini-next", "generateContent"),
        model("embedding", "embedContent")], "nextPageToken": "t/2"});
    let second = json!({"models": [model("gemini-other", "generateContent")]});
    let server = Server::start(vec![reply(&first), reply(&second)]).await;
    let source = GeminiModels::from_options("primary", &options(&server.base_url()));
    let records = source.refresh(Some("primary:gemini-other")).await.unwrap();
    assert_eq!(targets(&records), ["primary:gemini-other"]);
    assert_eq!(
        Value::Object(records[0].attributes.clone()),
        json!({"context_window": 1_048_576, "max_output_tokens": 65_536, "available": true})
    );
    let sent = server.requests();
    assert!(
        sent[1]
            .head
            .contains("/models?pageSize=1000&pageToken=t%2F2 "),
        "{}",
        sent[1].head
    );
    assert!(sent[0].head.contains("x-goog-api-key: key-12345678"));
    assert!(
        !sent[0].head.contains("key=key"),
        "the key stays out of URLs"
    );
}

#[tokio::test]
async fn other_connections_and_missing_keys_cost_no_request() {
    let none = Map::new();
    let anthropic = AnthropicModels::from_options("primary", &none);
    assert!(anthropic.refresh(Some("other:m")).await.unwrap().is_empty());
    let gemini = GeminiModels::from_options("primary", &none);
    for error in [
        anthropic.refresh(None).await.unwrap_err(),
        gemini.refresh(None).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Credential);
        assert!(error.message().contains("\"primary\""), "{error}");
    }
}

#[tokio::test]
async fn lists_that_make_no_sense_are_errors_without_the_key() {
    let endless = json!({"data": [], "has_more": true, "last_id": "same"});
    let mut replies = vec![
        Reply::new(200, &[], "not json"),
        reply(&json!({"data": {}})),
        reply(&json!([1])),
        Reply::new(403, &[], "key-12345678 may not"),
    ];
    replies.extend((0..50).map(|_| reply(&endless)));
    let server = Server::start(replies).await;
    let source = AnthropicModels::from_options("primary", &options(&server.base_url()));
    for (kind, part) in [
        (ErrorKind::Protocol, "no JSON"),
        (ErrorKind::Protocol, "another shape"),
        (ErrorKind::Protocol, "another shape"),
        (ErrorKind::Http, "403"),
        (ErrorKind::Protocol, "does not end"),
    ] {
        let error = source.refresh(None).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(part), "{error}");
        assert!(!format!("{error:?}").contains("key-12345678"));
    }
    let broken = json!({"api_key": "a\nb", "base_url": server.base_url()});
    let source = GeminiModels::from_options("primary", broken.as_object().unwrap());
    let error = source.refresh(None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
}
