use std::fmt::Debug;

use super::server::{Reply, Server};
use super::{ask, local, model, question};
use crate::error::ErrorKind;
use crate::provider::{Environment, ModelResolver, Profile, ProviderConfig, Secret};

const KEY: &str = "sk-test-0123456789abcdef";

fn hides(what: &str, shown: &str) {
    assert!(!shown.contains("0123456789abcdef"), "{what}: {shown}");
}

fn debug_hides(what: &str, value: &dyn Debug) {
    hides(what, &format!("{value:?}"));
    hides(what, &format!("{value:#?}"));
}

#[tokio::test]
async fn nothing_shows_a_key() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}."}}}}"#);
    let server = Server::start(vec![Reply::new(401, &[], &echo)]).await;
    let base_url = server
        .base_url()
        .replace("http://", &format!("http://user:{KEY}@"));
    let config = local(&base_url)
        .api_key(KEY)
        .header("x-other", format!("Bearer {KEY}"));
    debug_hides("config", &config);
    let resolver = ModelResolver::builder()
        .provider("primary", config)
        .model("support", Profile::new("primary:m"))
        .build()
        .unwrap();
    debug_hides("resolver", &resolver);
    let resolved = resolver.resolve_name("support").unwrap();
    debug_hides("model", &resolved);
    debug_hides("secret", &Secret::new(KEY));
    let asked = ask(&*resolved, &question()).await;
    let error = asked.outcome.unwrap_err();
    debug_hides("error", &error);
    hides("message", error.message());
    hides("body", error.body().unwrap());
    hides("value", &error.to_value().to_string());
    assert!(error.message().contains("[redacted]"), "{error}");
    assert!(server.requests()[0].head.contains(KEY));
}

#[tokio::test]
async fn a_network_failure_does_not_show_the_url() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let config = local(&format!("http://u:{KEY}@{address}/v1?key={KEY}")).option("max_retries", 0);
    let error = ask(&*model(config), &question()).await.outcome.unwrap_err();
    let mut source: Option<&dyn std::error::Error> = Some(&error);
    while let Some(cause) = source {
        hides("cause", &cause.to_string());
        debug_hides("cause", &cause);
        source = cause.source();
    }
}

#[test]
fn bad_options_do_not_show_their_values() {
    for config in [
        ProviderConfig::openai(format!("{KEY}\nsecond line")),
        ProviderConfig::openai(KEY).header("x-bad", format!("{KEY}\n")),
        ProviderConfig::openai(KEY).option("headers", KEY),
        ProviderConfig::openai(KEY).option("api", KEY),
        ProviderConfig::openai(KEY).base_url(KEY),
        ProviderConfig::openai(KEY).option("max_retries", KEY),
    ] {
        let error = ModelResolver::builder()
            .provider("primary", config)
            .build()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.message().contains("\"primary\""), "{error}");
        hides("error", error.message());
    }
}

#[test]
fn a_missing_key_says_what_to_set() {
    for (config, parts) in [
        (
            ProviderConfig::new("openai"),
            vec!["\"primary\"", "api_key", "OPENAI_API_KEY"],
        ),
        (
            ProviderConfig::openrouter(" \n"),
            vec!["api_key", "OPENROUTER_API_KEY"],
        ),
        (
            ProviderConfig::openai_compatible("https://a.test/v1"),
            vec!["\"primary\"", "api_key"],
        ),
    ] {
        let resolver = ModelResolver::builder()
            .provider("primary", config)
            .environment(Environment::empty())
            .build()
            .unwrap();
        let error = resolver.resolve_name("primary:m").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Credential);
        for part in parts {
            assert!(error.message().contains(part), "{error}");
        }
    }
}

#[test]
fn a_key_of_the_environment_serves_its_own_service_only() {
    let resolver = |config: ProviderConfig| {
        ModelResolver::builder()
            .provider("primary", config)
            .environment(Environment::new(|name| {
                (name == "OPENAI_API_KEY").then(|| KEY.to_owned())
            }))
            .build()
            .unwrap()
    };
    let own = resolver(ProviderConfig::new("openai"));
    assert!(own.resolve_name("primary:m").is_ok());
    let elsewhere = resolver(ProviderConfig::new("openai").base_url("https://a.test/v1"));
    let error = elsewhere.resolve_name("primary:m").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Credential);
}

#[test]
fn a_header_may_stand_in_for_the_key() {
    let config = ProviderConfig::openai_compatible("https://a.test/v1").header("api-key", KEY);
    model(config);
}
