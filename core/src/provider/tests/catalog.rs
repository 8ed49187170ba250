use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::ask;
use super::server::{Reply, Server};
use crate::catalog::{Catalog, CatalogSource, ModelsDev, OpenRouterModels};
use crate::error::ErrorKind;
use crate::message::{
    Attachment, Content, Message, Role, ToolResult, ToolResultContent, ToolStatus,
};
use crate::model::{Model, ModelRequest};
use crate::provider::{Environment, ModelResolver, ProviderConfig};

fn resolver(value: Value) -> ModelResolver {
    ModelResolver::from_value(&value, Environment::empty()).unwrap()
}

fn primary() -> ModelResolver {
    resolver(json!({
        "providers": {
            "primary": {"adapter": "openrouter", "api_key": "key-12345678"},
            "direct": {"adapter": "openai"},
            "own": {"adapter": "gateway", "tenant": "blue"},
        },
        "models": {
            "support": {"target": "primary:openai/gpt-5.6-luna",
                "settings": {"max_tokens": 9_000_000, "temperature": 0.1},
                "request": {"app_name": "Desk", "retries": 1}},
            "blind": {"target": "primary:x", "details": {"input_modalities": ["text", "file"]}},
        },
        "host_adapters": ["gateway"],
    }))
}

#[test]
fn a_connection_of_any_name_has_the_facts_of_its_adapter() {
    let model = primary().resolve_name("support").unwrap();
    assert_eq!(model.model_details().context_window(), Some(1_050_000));
    assert_eq!(model.settings()["max_tokens"], 128_000);
    assert!(model.capabilities().native_structured_output);
    assert!(model.capabilities().tool_choice);
    let details = model.details();
    assert_eq!(details["max_output_tokens"], 128_000);
    assert!(details["provenance"]["pricing"].is_string());
    let unknown = primary().resolve_name("primary:nobody/knows").unwrap();
    assert!(unknown.details().is_empty());
    assert!(!unknown.capabilities().known);
}

#[test]
fn a_selection_is_described_without_credentials() {
    let resolver = primary();
    let none = Map::new();
    let described = resolver
        .describe(&json!("support.urgent"), &none)
        .unwrap()
        .to_value();
    assert_eq!(described["target"], "primary:openai/gpt-5.6-luna");
    assert_eq!(described["connection"], "primary");
    assert_eq!(described["adapter"], "openrouter");
    assert_eq!(described["role"], "support.urgent");
    assert_eq!(described["settings"]["max_tokens"], 128_000);
    assert_eq!(
        described["request"],
        json!({"app_name": "Desk", "max_retries": 1})
    );
    assert_eq!(described["known"], true);
    assert_eq!(described["capabilities"]["tools"], true);
    assert!(!described.to_string().contains("key-12345678"));
    // No key is needed, and an adapter of the host can be described but not built.
    assert!(
        resolver
            .describe(&json!("direct:gpt-5.6-luna"), &none)
            .is_ok()
    );
    let own = resolver.describe(&json!("own:m"), &none).unwrap();
    assert_eq!(
        (own.adapter.as_str(), own.capabilities.known),
        ("gateway", false)
    );
    let error = resolver.resolve_name("own:m").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AdapterLoad);
    let overlay = json!({"support": {"settings": {"temperature": 1}}});
    let described = resolver
        .describe(&json!("support"), overlay.as_object().unwrap())
        .unwrap();
    assert_eq!(described.settings["temperature"], 1);
}

#[test]
fn details_of_a_target_need_no_connection() {
    let resolver = primary();
    assert!(
        resolver
            .details("primary:openai/gpt-5.6-luna")
            .unwrap()
            .is_known()
    );
    assert!(resolver.details("openai:gpt-5.6-luna").unwrap().is_known());
    assert!(!resolver.details("primary:nobody/knows").unwrap().is_known());
    assert!(resolver.details("support").is_err());
    assert!(resolver.first_mention("a:b"));
    assert!(!resolver.first_mention("a:b"));
}

#[test]
fn a_host_hands_over_complete_connections() {
    let resolver = primary();
    let handed = |key: &str| {
        json!({"resolved": {
            "connection": "short", "model": "gpt-5.6-luna", "adapter": "openai", "role": "support",
            "options": {"api_key": key}, "settings": {"max_tokens": 999_999, "seed": 1},
            "request": {"retries": 0},
        }})
    };
    let model = resolver.resolve(&handed("key-1")).unwrap();
    assert_eq!(model.target(), "short:gpt-5.6-luna");
    assert_eq!(model.role(), Some("support"));
    assert_eq!(model.details()["max_output_tokens"], 128_000);
    let configured = json!({"resolved": {"connection": "primary", "model": "m", "options": {}}});
    assert_eq!(resolver.resolve(&configured).unwrap().target(), "primary:m");
    for broken in [
        json!({"resolved": {"connection": "nowhere", "model": "m"}}),
        json!({"resolved": {"connection": "a", "model": "m", "adapter": "clippy"}}),
        json!({"resolved": {"connection": "a", "model": "m", "adapter": "openai",
            "options": {"api_kee": "x"}}}),
        json!({"resolved": {"connection": "a", "adapter": "openai"}}),
    ] {
        assert!(resolver.resolve(&broken).is_err(), "{broken}");
    }
    let error = resolver
        .resolve(&json!({"resolved": {"connection": "a", "model": "m", "adapter": "openai"}}))
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Credential);
}

fn attachment(media_type: &str) -> Attachment {
    Attachment {
        data: Bytes::from_static(b"x"),
        media_type: media_type.into(),
        name: Some("file".into()),
    }
}

#[tokio::test]
async fn attachments_that_the_model_does_not_take_are_refused_before_anything_is_sent() {
    let model = primary().resolve_name("blind").unwrap();
    let in_result = Content::ToolResult(ToolResult {
        tool_use_id: "1".into(),
        content: ToolResultContent::Blocks(vec![Content::Image(attachment("image/png"))]),
        status: ToolStatus::Success,
    });
    for content in [Content::Image(attachment("image/png")), in_result] {
        let request = ModelRequest {
            messages: vec![Message::new(Role::User, vec![content]), Message::user("Hi")].into(),
            ..ModelRequest::default()
        };
        let error = ask(&*model, &request).await.outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedInput);
        assert!(error.message().contains("image input"), "{error}");
        assert!(error.message().contains("text, file"), "{error}");
    }
}

#[tokio::test]
async fn a_file_model_takes_every_document() {
    let server = Server::start(vec![Reply::stream(&[super::last_chunk()]); 2]).await;
    let resolver = resolver(json!({
        "providers": {"local": {"adapter": "openai_compatible", "api": "chat_completions",
            "base_url": server.base_url()}},
        "models": {"papers": {"target": "local:m", "details": {"input_modalities": ["text", "file"]}}},
    }));
    let model = resolver.resolve_name("papers").unwrap();
    for media_type in ["application/pdf", "text/csv"] {
        let request = ModelRequest {
            messages: vec![Message::new(
                Role::User,
                vec![Content::Document(attachment(media_type))],
            )]
            .into(),
            ..ModelRequest::default()
        };
        ask(&*model, &request).await.outcome.unwrap();
    }
    assert_eq!(server.requests().len(), 2);
}

fn json_reply(value: &Value) -> Reply {
    Reply::new(
        200,
        &[("content-type", "application/json")],
        &value.to_string(),
    )
}

#[tokio::test]
async fn fresh_facts_come_from_the_services_lists() {
    let models_dev = json!({"openai": {"models": {"m": {
        "limit": {"context": 100, "output": 10}, "modalities": {"input": ["text"], "output": ["text"]},
        "tool_call": true, "structured_output": false, "temperature": true,
        "cost": {"input": 1.25, "output": 10}}}}});
    let open_router = json!({"data": [
        {"id": "v/m", "context_length": 200,
         "architecture": {"input_modalities": ["text", "image"]},
         "top_provider": {"max_completion_tokens": 20},
         "supported_parameters": ["tools", "tool_choice"],
         "pricing": {"prompt": "0.0000002", "completion": "0.0000012", "request": "0"}},
        {"id": "auto", "pricing": {"prompt": "-1"}},
        {"name": "no id"},
    ]});
    let server = Server::start(vec![
        json_reply(&models_dev),
        json_reply(&open_router),
        Reply::new(500, &[], "down"),
    ])
    .await;
    let base_url = server.base_url();
    let options = json!({"base_url": base_url, "api_key": "key-12345678"});
    let router = || OpenRouterModels::from_options("primary", options.as_object().unwrap());
    let resolver = ModelResolver::builder()
        .environment(Environment::empty())
        .provider("direct", ProviderConfig::openai("key-12345678"))
        .provider("primary", ProviderConfig::openrouter("key-12345678"))
        .catalog(Arc::new(Catalog::empty()))
        .catalog_source(Arc::new(
            ModelsDev::new([("direct".to_owned(), "openai".to_owned())]).base_url(base_url),
        ))
        .catalog_source(Arc::new(router()))
        .build()
        .unwrap();
    let refreshed = resolver.refresh(None).await;
    assert!(refreshed.errors.is_empty(), "{:?}", refreshed.errors);
    assert_eq!(
        refreshed.updated,
        ["direct:m", "primary:auto", "primary:v/m"]
    );
    let direct = resolver.details("direct:m").unwrap();
    assert_eq!(direct.context_window(), Some(100));
    assert_eq!(
        direct.supported_parameters().unwrap(),
        ["tools", "temperature"]
    );
    assert_eq!(direct.provenance()["pricing"], "models.dev");
    let routed = resolver.details("primary:v/m").unwrap();
    assert_eq!(routed.max_output_tokens(), Some(20));
    assert_eq!(
        json!(routed.pricing()),
        json!({"input": 0.2, "output": 1.2})
    );
    assert_eq!(resolver.details("primary:auto").unwrap().pricing(), None);
    assert!(
        resolver
            .resolve_name("primary:v/m")
            .unwrap()
            .capabilities()
            .tool_choice
    );
    let sent = server.requests();
    assert!(
        sent[1].head.contains("authorization: Bearer key-12345678"),
        "{}",
        sent[1].head
    );

    let failed = resolver
        .catalog()
        .refresh(&[Arc::new(router()) as Arc<dyn CatalogSource>], None)
        .await;
    assert_eq!(failed.errors.len(), 1);
    assert!(!format!("{:?}", failed.errors).contains("key-12345678"));
    assert_eq!(
        resolver.details("primary:v/m").unwrap().context_window(),
        Some(200)
    );
    let elsewhere = router().refresh(Some("direct:m")).await.unwrap();
    assert!(elsewhere.is_empty());
}
