use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::server::{Reply, Server};
use super::{ask, last_chunk, question};
use crate::error::{Error, ErrorKind};
use crate::model::ModelRequest;
use crate::provider::{Adapter, Environment, ModelResolver, OpenAiCompatible, ProviderConfig};

fn resolver(value: Value) -> ModelResolver {
    ModelResolver::from_value(&value, Environment::empty()).unwrap()
}

fn with_models(models: Value) -> ModelResolver {
    resolver(json!({
        "providers": {"primary": {"adapter": "openai", "api_key": "key-12345678"}},
        "models": models,
    }))
}

fn error_of(resolver: &ModelResolver, selection: Value) -> Error {
    match resolver.resolve(&selection) {
        Ok(model) => panic!("resolved to {}", model.target()),
        Err(error) => error,
    }
}

/// Why a resolver cannot be built from `value`.
fn unbuildable(value: Value) -> Error {
    ModelResolver::from_value(&value, Environment::empty()).unwrap_err()
}

fn says(error: &Error, parts: &[&str]) {
    for part in parts {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn a_selection_is_a_role_a_target_a_mapping_or_nothing() {
    let resolver = resolver(json!({
        "providers": {"primary": {"adapter": "openai", "api_key": "key-12345678", "api": null}},
        "models": {"support": {"target": "primary:m:1", "settings": {"temperature": 0.2}}},
        "default_model": "support",
    }));
    let role = resolver.resolve(&json!("support")).unwrap();
    assert_eq!(role.target(), "primary:m:1");
    assert_eq!(role.model_id(), "m:1");
    assert_eq!(role.role(), Some("support"));
    let target = resolver.resolve(&json!("primary:other")).unwrap();
    assert_eq!((target.target(), target.role()), ("primary:other", None));
    let inline = json!({"provider": "primary", "model": "m2", "reasoning_effort": "high"});
    assert_eq!(resolver.resolve(&inline).unwrap().target(), "primary:m2");
    let default = resolver.resolve(&Value::Null).unwrap();
    assert_eq!(default.role(), Some("support"));
    let named = resolver.resolve_name("support").unwrap();
    assert_eq!(json!(named.settings()), json!({"temperature": 0.2}));
}

#[test]
fn roles_have_dotted_prefixes_and_parents() {
    let resolver = with_models(json!({
        "base": {"target": "primary:m", "settings": {"temperature": 0.1, "seed": 1}},
        "a": {"inherits": "base", "settings": {"temperature": 0.5}},
        "a.b": {"inherits": "a", "target": "primary:n", "settings": {"seed": 2}},
    }));
    let deep = resolver.resolve_name("a.b.c").unwrap();
    let deep_model: &dyn crate::Model = &*deep;
    assert_eq!(deep_model.target(), "primary:n");
    assert_eq!(deep_model.role(), Some("a.b.c"));
    assert_eq!(
        json!(deep.settings()),
        json!({"temperature": 0.5, "seed": 2})
    );
    let other = resolver.resolve_name("a.x").unwrap();
    assert_eq!(
        json!(other.settings()),
        json!({"temperature": 0.5, "seed": 1})
    );
}

#[test]
fn an_overlay_goes_over_every_prefix() {
    let resolver = with_models(json!({"a": {"target": "primary:m", "settings": {"seed": 1}}}));
    let overlay = json!({
        "a": {"target": "primary:n", "settings": {"seed": 2, "top_p": 0.5}},
        "a.b": {"settings": {"seed": 3}},
    });
    let overlay = overlay.as_object().unwrap();
    let model = resolver.resolve_with(&json!("a.b"), overlay).unwrap();
    assert_eq!(model.target(), "primary:n");
    let direct = resolver.resolve_with(&json!("primary:m"), overlay).unwrap();
    assert_eq!(direct.target(), "primary:m");
}

#[test]
fn what_is_unknown_is_named_with_what_is_known() {
    let models = with_models(json!({
        "support": {"target": "primary:m"},
        "lost": {"target": "secondary:m"},
        "empty": {},
    }));
    for (selection, parts) in [
        (json!("sales"), vec!["\"sales\"", "support, lost", "models"]),
        (
            json!("lost"),
            vec!["\"secondary\"", "configured are primary", "providers"],
        ),
        (json!("empty"), vec!["\"empty\"", "target"]),
        (json!("primary:"), vec!["incomplete"]),
        (json!(":m"), vec!["incomplete"]),
        (json!({"provider": "primary"}), vec!["provider", "model"]),
        (json!(7), vec!["a number"]),
        (Value::Null, vec!["\"default\"", "support"]),
    ] {
        let error = error_of(&models, selection.clone());
        assert_eq!(error.kind(), ErrorKind::Configuration, "{selection}");
        says(&error, &parts);
    }
}

#[test]
fn parents_are_checked_when_the_resolver_is_built() {
    for (models, parts) in [
        (
            json!({"loop": {"inherits": "pool"}, "pool": {"inherits": "loop"}}),
            vec!["circle", "loop -> pool -> loop"],
        ),
        (
            json!({"orphan": {"inherits": "gone"}}),
            vec!["\"orphan\"", "\"gone\""],
        ),
    ] {
        let error = unbuildable(json!({"models": models}));
        assert_eq!(error.kind(), ErrorKind::Configuration);
        says(&error, &parts);
    }
}

#[test]
fn options_are_checked_by_name_and_shape() {
    for (options, parts) in [
        (
            json!({"base_urI": "x"}),
            vec!["\"base_urI\"", "base_url", "max_retry_delay"],
        ),
        (
            json!({"max_retries": -1}),
            vec!["max_retries", "whole number"],
        ),
        (
            json!({"open_timeout": "soon"}),
            vec!["open_timeout", "seconds"],
        ),
        (json!({"api": "chat"}), vec!["chat_completions"]),
        (json!({"allow_insecure_http": "yes"}), vec!["true or false"]),
        (
            json!({"base_url": "http://a.test"}),
            vec!["allow_insecure_http"],
        ),
        (json!({"headers": {"bad name": "x"}}), vec!["header name"]),
    ] {
        let mut config = options;
        config["adapter"] = json!("openai");
        config["api_key"] = json!("key-12345678");
        let error = unbuildable(json!({"providers": {"primary": config}}));
        assert_eq!(error.kind(), ErrorKind::Configuration);
        says(&error, &["\"primary\""]);
        says(&error, &parts);
    }
    let api = json!({"adapter": "openrouter", "api_key": "key-12345678", "api": "responses"});
    let error = unbuildable(json!({"providers": {"primary": api}}));
    says(&error, &["\"api\"", "site_url"]);
}

#[test]
fn shapes_of_the_configuration_are_checked() {
    for value in [
        json!([]),
        json!({"providers": []}),
        json!({"providers": {"p": "openai"}}),
        json!({"providers": {"p": {"api_key": "x"}}}),
        json!({"providers": {"a:b": {"adapter": "openai"}}}),
        json!({"models": {"m": "primary:m"}}),
        json!({"models": {"m": {"target": 1}}}),
        json!({"models": {"a:b": {"target": "x:y"}}}),
        json!({"models": {"m": {"target": "x:y", "request": {"retires": 1}}}}),
        json!({"default_model": 1}),
    ] {
        let error = ModelResolver::from_value(&value, Environment::empty()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{value}");
    }
}

#[test]
fn unknown_adapters_cannot_be_loaded() {
    let error = unbuildable(json!({"providers": {"p": {"adapter": "clippy"}}}));
    assert_eq!(error.kind(), ErrorKind::AdapterLoad);
    says(&error, &["\"clippy\"", "openrouter"]);
}

#[test]
fn the_environment_stands_in_for_configuration() {
    let environment = |pairs: &'static [(&str, &str)]| {
        Environment::new(move |name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    };
    let default = |pairs| {
        let resolver = ModelResolver::from_value(&Value::Null, environment(pairs)).unwrap();
        resolver.resolve(&Value::Null).unwrap().target().to_owned()
    };
    assert_eq!(default(&[("OPENAI_API_KEY", "k")]), "openai:gpt-5.6-luna");
    assert_eq!(
        default(&[("OPENAI_API_KEY", "k"), ("OPENROUTER_API_KEY", "k")]),
        "openrouter:openai/gpt-5.6-luna"
    );
    assert_eq!(
        default(&[
            ("LITTLEGHOST_OPENAI_API_KEY", "k"),
            ("OPENROUTER_API_KEY", "k")
        ]),
        "openai:gpt-5.6-luna"
    );
    assert_eq!(
        default(&[("OPENROUTER_API_KEY", " "), ("OPENAI_API_KEY", "k")]),
        "openai:gpt-5.6-luna"
    );
    let none = resolver(Value::Null);
    let error = error_of(&none, Value::Null);
    assert_eq!(error.kind(), ErrorKind::Credential);
    says(
        &error,
        &[
            "LITTLEGHOST_OPENROUTER_API_KEY",
            "OPENAI_API_KEY",
            "configure providers",
        ],
    );
    let error = error_of(&none, json!("openrouter:openai/gpt-5.6-luna"));
    assert_eq!(error.kind(), ErrorKind::Configuration);
    says(
        &error,
        &["OPENROUTER_API_KEY", "no connections are configured"],
    );
}

#[test]
fn configured_connections_have_a_conventional_model_too() {
    let own = with_models(json!({}));
    assert_eq!(
        own.resolve(&Value::Null).unwrap().target(),
        "primary:gpt-5.6-luna"
    );
    let local = resolver(json!({"providers": {"local":
        {"adapter": "openai_compatible", "base_url": "http://localhost:1/v1"}}}));
    let error = error_of(&local, Value::Null);
    assert_eq!(error.kind(), ErrorKind::Configuration);
    says(&error, &["local", "default_model"]);
}

#[test]
fn providers_are_shared_by_connection_model_and_policy() {
    let resolver = with_models(json!({
        "a": {"target": "primary:m", "settings": {"seed": 1}},
        "b": {"target": "primary:m"},
        "c": {"target": "primary:m", "request": {"retries": 0, "app_name": "dropped"}},
    }));
    let provider = |role: &str| Arc::clone(resolver.resolve_name(role).unwrap().provider());
    assert!(Arc::ptr_eq(&provider("a"), &provider("b")));
    assert!(Arc::ptr_eq(&provider("c"), &provider("c")));
    assert!(!Arc::ptr_eq(&provider("a"), &provider("c")));
    assert!(!Arc::ptr_eq(&provider("a"), &provider("primary:n")));
}

#[tokio::test]
async fn settings_of_the_request_win_and_limits_are_clamped() {
    let server = Server::start(vec![Reply::stream(&[last_chunk()]); 2]).await;
    let resolver = resolver(json!({
        "providers": {"local": {"adapter": "openai_compatible", "api": "chat_completions",
            "base_url": server.base_url()}},
        "models": {"support": {"target": "local:m",
            "settings": {"temperature": 0.2, "top_p": 0.9, "max_tokens": 500},
            "details": {"target": "local:m", "max_output_tokens": 100}}},
    }));
    let model = resolver.resolve(&json!("support")).unwrap();
    assert_eq!(model.details()["max_output_tokens"], 100);
    ask(&*model, &question()).await.outcome.unwrap();
    let settings = json!({"temperature": 1, "max_tokens": 50});
    let request = ModelRequest {
        settings: settings.as_object().cloned().unwrap_or_else(Map::new),
        ..question()
    };
    ask(&*model, &request).await.outcome.unwrap();
    let bodies: Vec<Value> = server
        .requests()
        .into_iter()
        .map(|sent| sent.body)
        .collect();
    let sent = |body: &Value| json!([body["temperature"], body["top_p"], body["max_tokens"]]);
    assert_eq!(sent(&bodies[0]), json!([0.2, 0.9, 100]));
    assert_eq!(sent(&bodies[1]), json!([1, 0.9, 50]));
}

#[tokio::test]
async fn a_profile_overrides_the_transport_of_its_connection() {
    let server = Server::start(vec![Reply::new(500, &[], ""); 3]).await;
    let resolver = resolver(json!({
        "providers": {"local": {"adapter": "openai_compatible", "api": "chat_completions",
            "base_url": server.base_url(), "max_retries": 2, "max_retry_delay": 0.01}},
        "models": {"support": {"target": "local:m", "request": {"retries": 0}}},
    }));
    let model = resolver.resolve(&json!("support")).unwrap();
    assert!(ask(&*model, &question()).await.outcome.is_err());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn details_must_describe_the_target() {
    let resolver = with_models(json!({"a": {"target": "primary:m",
        "details": {"target": "primary:n"}}}));
    assert_eq!(
        error_of(&resolver, json!("a")).kind(),
        ErrorKind::Configuration
    );
}

#[test]
fn applications_add_adapters() {
    let gateway = Adapter::new(|request| {
        assert_eq!((request.connection, request.model), ("own", "m"));
        let mut options = request.options.clone();
        options.shift_remove("tenant");
        let request = crate::provider::AdapterRequest {
            options: &options,
            ..*request
        };
        Ok(Arc::new(OpenAiCompatible::new(&request)?))
    });
    let config = ProviderConfig::new("gateway")
        .option("tenant", "blue")
        .base_url("http://localhost:1/v1");
    let resolver = ModelResolver::builder()
        .adapter("gateway", gateway)
        .provider("own", config)
        .build()
        .unwrap();
    assert!(resolver.resolve_name("own:m").is_ok());
}

#[test]
fn a_number_that_does_not_fit_is_told() {
    for (name, value, expected) in [
        (
            "open_timeout",
            json!(-1),
            "a number of seconds from 0, not -1",
        ),
        (
            "open_timeout",
            json!("soon"),
            "a number of seconds from 0, not a string",
        ),
        ("max_retries", json!(1.5), "a whole number from 0, not 1.5"),
        ("api_key", json!(12345678), "a string, not a number"),
    ] {
        let mut connection = json!({"adapter": "openai", "api_key": "key-12345678"});
        connection[name] = value;
        let config = json!({"providers": {"primary": connection}});
        let message = match ModelResolver::from_value(&config, Environment::empty()) {
            Err(error) => error.message().to_owned(),
            Ok(resolver) => error_of(&resolver, json!("primary:m")).message().to_owned(),
        };
        assert!(message.contains(expected), "{message}");
    }
}
