use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::server::{Reply, Server, Then};
use super::{ask, model, question};
use crate::credential::{AccessToken, GoogleTokenSource};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::provider::{Adapter, AdapterRequest, ModelResolver, Provider, ProviderConfig, VertexAi};

const KEY: &str = "test-key-12345678";

fn gemini(base_url: &str) -> ProviderConfig {
    ProviderConfig::gemini(KEY)
        .base_url(base_url)
        .option("max_retry_delay", 0.01)
}

fn vertex(base_url: &str) -> ProviderConfig {
    ProviderConfig::vertex_ai("my-project")
        .base_url(base_url)
        .option("access_token", "ya29.test-token")
}

fn hello() -> Reply {
    Reply::open_stream(
        &[
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]},
            "finishReason": "STOP"}]}),
        ],
        Then::Close,
    )
}

fn failure(status: u16, error: Value) -> Reply {
    let body = json!({"error": error}).to_string();
    Reply::new(status, &[("content-type", "application/json")], &body)
}

#[tokio::test]
async fn the_key_travels_in_a_header_only() {
    let server = Server::start(vec![hello()]).await;
    let asked = ask(&*model(gemini(&server.base_url())), &question()).await;
    assert_eq!(asked.outcome.unwrap().message.text(), "Hi");
    let request = server.requests().remove(0);
    let line = "POST /v1/models/test-model:streamGenerateContent?alt=sse HTTP/1.1\r\n";
    assert!(request.head.starts_with(line), "{}", request.head);
    assert!(request.head.contains("x-goog-api-key: test-key-12345678"));
    assert_eq!(
        request.body,
        json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]})
    );
}

#[tokio::test]
async fn a_token_and_the_project_are_where_vertex_wants_them() {
    let server = Server::start(vec![hello()]).await;
    let asked = ask(&*model(vertex(&server.base_url())), &question()).await;
    asked.outcome.unwrap();
    let head = server.requests().remove(0).head;
    let line = "POST /v1/projects/my-project/locations/global/publishers/google/models/\
                test-model:streamGenerateContent?alt=sse HTTP/1.1\r\n";
    assert!(head.starts_with(line), "{head}");
    assert!(head.contains("authorization: Bearer ya29.test-token"));
}

fn resolved(config: ProviderConfig, id: &str) -> Result<()> {
    let resolver = ModelResolver::builder().provider("p", config).build()?;
    resolver.resolve_name(&format!("p:{id}")).map(drop)
}

fn endpoint(options: Value, id: &str) -> Result<String> {
    let options: Map<String, Value> = options.as_object().cloned().unwrap_or_default();
    let request = AdapterRequest {
        connection: "p",
        model: id,
        options: &options,
    };
    VertexAi::new(&request).map(|provider| format!("{provider:?}"))
}

#[test]
fn each_location_has_its_host_and_each_model_its_place() {
    let google = "publishers/google/models";
    for (location, id, host, place) in [
        (
            "global",
            "gemini-3-flash",
            "aiplatform.googleapis.com",
            format!("projects/pr/locations/global/{google}/gemini-3-flash"),
        ),
        (
            "europe-west1",
            "google/gemini-3-flash",
            "europe-west1-aiplatform.googleapis.com",
            format!("projects/pr/locations/europe-west1/{google}/gemini-3-flash"),
        ),
        (
            "eu",
            "publishers/google/models/g",
            "aiplatform.eu.rep.googleapis.com",
            format!("projects/pr/locations/eu/{google}/g"),
        ),
        (
            "us-east1",
            "endpoints/12",
            "us-east1-aiplatform.googleapis.com",
            "projects/pr/locations/us-east1/endpoints/12".to_owned(),
        ),
        (
            "us-east1",
            "projects/other/locations/us-east1/endpoints/12",
            "us-east1-aiplatform.googleapis.com",
            "projects/other/locations/us-east1/endpoints/12".to_owned(),
        ),
    ] {
        let options = json!({"project": "pr", "location": location, "access_token": "t"});
        let shown = endpoint(options, id).unwrap();
        let expected = format!("https://{host}:443/v1/{place}:streamGenerateContent");
        assert!(shown.contains(&expected), "{shown}");
    }
}

#[test]
fn mistakes_are_named() {
    let remote = || ProviderConfig::gemini(KEY);
    let keyless = ProviderConfig::new("gemini");
    let error = resolved(keyless, "gemini-3").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Credential);
    assert!(error.message().contains("api_key"), "{error}");
    for id in ["publishers/google/models/x", "a/../b", "a?key=b", "a b"] {
        let error = resolved(remote(), id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{id}");
    }
    assert!(resolved(remote(), "tunedModels/mine").is_ok());
    for (options, id, kind, word) in [
        (
            json!({"access_token": "t"}),
            "g",
            ErrorKind::Configuration,
            "project",
        ),
        (
            json!({"project": "p", "access_token": "t", "location": "x/y"}),
            "g",
            ErrorKind::Configuration,
            "location",
        ),
        (
            json!({"project": "p", "access_token": "t"}),
            "publishers/anthropic/models/claude",
            ErrorKind::Configuration,
            "no Gemini model",
        ),
    ] {
        let error = endpoint(options, id).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(word), "{error}");
    }
    // Credentials of the environment are looked for when they are needed.
    assert!(endpoint(json!({"project": "p"}), "g").is_ok());
}

#[tokio::test]
async fn the_pause_in_an_error_is_kept() {
    let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "0.004s"}]);
    let quota = json!({"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED",
        "details": details});
    let server = Server::start(vec![failure(429, quota), hello()]).await;
    let asked = ask(&*model(gemini(&server.base_url())), &question()).await;
    asked.outcome.as_ref().unwrap();
    assert_eq!(
        asked.retries(),
        [
            json!({"attempt": 1, "delay": 0.004, "error_class": "HTTPError", "partial_text": false,
            "http_status": 429})
        ]
    );
    // Longer than the limit: it fails at once and says so.
    let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "3600s"}]);
    let quota = json!({"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details});
    let server = Server::start(vec![failure(429, quota)]).await;
    let asked = ask(&*model(gemini(&server.base_url())), &question()).await;
    let error = asked.outcome.unwrap_err();
    assert!(error.message().contains("wait 3600 s"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_an_overflow() {
    let error = json!({"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token \
        count (1200000) exceeds the maximum number of tokens allowed (1048576)."});
    let server = Server::start(vec![failure(400, error)]).await;
    let asked = ask(&*model(gemini(&server.base_url())), &question()).await;
    let error = asked.outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextWindowOverflow);
    assert_eq!(server.requests().len(), 1);
}

/// Gives another token each time it has forgotten the last one.
#[derive(Default)]
struct Rotating(AtomicUsize);

#[async_trait]
impl GoogleTokenSource for Rotating {
    async fn access_token(&self, _deadline: Option<Deadline>) -> Result<AccessToken> {
        let number = self.0.load(Ordering::SeqCst);
        if number > 1 {
            return Err(Error::new(ErrorKind::Credential, "no token is left"));
        }
        Ok(AccessToken::new(&format!("ya29.token-{number}")).quota_project("billing"))
    }

    fn forget(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        true
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let refused = || {
        let message = "ya29.token-1 has expired";
        failure(
            401,
            json!({"code": 401, "status": "UNAUTHENTICATED", "message": message}),
        )
    };
    for (replies, succeeds) in [
        (vec![refused(), hello()], true),
        (vec![refused(), refused(), hello()], false),
    ] {
        let server = Server::start(replies).await;
        let base_url = server.base_url();
        let adapter = Adapter::new(move |request| {
            let options = json!({"project": "pr", "base_url": base_url});
            let options: Map<String, Value> = options.as_object().cloned().unwrap_or_default();
            let request = AdapterRequest {
                options: &options,
                ..*request
            };
            let provider = VertexAi::with_tokens(&request, Arc::new(Rotating::default()))?;
            Ok(Arc::new(provider) as Arc<dyn Provider>)
        });
        let resolver = ModelResolver::builder()
            .adapter("rotating", adapter)
            .provider("p", ProviderConfig::new("rotating"))
            .build()
            .unwrap();
        let model = resolver.resolve_name("p:gemini-3").unwrap();
        let asked = ask(&*model, &question()).await;
        assert_eq!(asked.outcome.is_ok(), succeeds, "{:?}", asked.outcome);
        if let Err(error) = asked.outcome {
            assert_eq!(error.status(), Some(401));
            assert!(!error.message().contains("ya29"), "{error}");
        }
        let heads: Vec<String> = server
            .requests()
            .into_iter()
            .map(|seen| seen.head)
            .collect();
        assert_eq!(heads.len(), 2);
        assert!(
            heads[0].contains("Bearer ya29.token-0") && heads[1].contains("Bearer ya29.token-1")
        );
        assert!(heads[1].contains("x-goog-user-project: billing"));
    }
}

#[tokio::test]
async fn a_break_after_some_text_is_tried_again_and_announced() {
    let begun = json!({"candidates": [{"content": {"parts": [{"text": "so far"}]}}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}});
    let overloaded = json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "Busy."}});
    let server = Server::start(vec![
        Reply::open_stream(&[begun, overloaded], Then::Close),
        hello(),
    ])
    .await;
    let asked = ask(&*model(gemini(&server.base_url())), &question()).await;
    let retries = asked.retries();
    assert_eq!(retries[0]["partial_text"], true);
    assert_eq!(retries[0]["error_code"], "503");
    // Tokens of the lost attempt count.
    let response = asked.outcome.unwrap();
    assert_eq!(response.usage.total_tokens(), 7);
}
