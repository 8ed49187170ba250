use serde_json::{Value, json};

use super::super::Thinking;
use super::request::{render, try_render};
use crate::error::ErrorKind;

/// The body for some settings, without what every body has.
fn with(settings: Value) -> Value {
    let mut body = render(json!({"messages": [{"role": "user", "content": "Hi"}],
        "settings": settings}));
    let map = body.as_object_mut().unwrap();
    map.shift_remove("model");
    map.shift_remove("messages");
    body
}

#[test]
fn settings_have_the_names_of_the_service() {
    for (settings, expected) in [
        (json!({}), json!({"max_tokens": 4096})),
        (json!({"max_tokens": 9}), json!({"max_tokens": 9})),
        (json!({"max_output_tokens": 8}), json!({"max_tokens": 8})),
        (
            json!({"max_completion_tokens": 7, "temperature": 0.5, "top_p": 0.9, "top_k": 3}),
            json!({"max_tokens": 7, "temperature": 0.5, "top_p": 0.9, "top_k": 3}),
        ),
        (
            json!({"stop": "END"}),
            json!({"max_tokens": 4096, "stop_sequences": ["END"]}),
        ),
        (
            json!({"stop": ["A", "B"], "stop_sequences": null}),
            json!({"max_tokens": 4096, "stop_sequences": ["A", "B"]}),
        ),
        (
            json!({"user": "u", "metadata": {"a": 1}}),
            json!({"max_tokens": 4096, "metadata": {"a": 1, "user_id": "u"}}),
        ),
        (
            json!({"user": "u", "metadata": {"user_id": "own"}}),
            json!({"max_tokens": 4096, "metadata": {"user_id": "own"}}),
        ),
        // What has no meaning of its own is passed on; what the request is made of is not replaced.
        (
            json!({"service_tier": "auto", "seed": 1, "model": "other", "messages": [], "stream": false,
                "nothing": null}),
            json!({"max_tokens": 4096, "service_tier": "auto", "seed": 1}),
        ),
        (
            json!({"extra_body": {"max_tokens": 1, "inference_geo": "eu"}}),
            json!({"max_tokens": 1, "inference_geo": "eu"}),
        ),
    ] {
        assert_eq!(with(settings), expected);
    }
}

#[test]
fn effort_is_told_to_models_that_know_it() {
    for (settings, expected) in [
        (
            json!({"reasoning_effort": "high"}),
            json!({"max_tokens": 4096, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
        ),
        (
            json!({"reasoning_effort": "minimal"}),
            json!({"max_tokens": 4096, "thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ),
        (
            json!({"reasoning_effort": "none"}),
            json!({"max_tokens": 4096, "thinking": {"type": "disabled"}}),
        ),
        // The application's own words win.
        (
            json!({"reasoning_effort": "low", "thinking": {"type": "enabled", "budget_tokens": 2000},
                "output_config": {"effort": "max"}}),
            json!({"max_tokens": 6096, "thinking": {"type": "enabled", "budget_tokens": 2000},
                "output_config": {"effort": "max"}}),
        ),
    ] {
        assert_eq!(with(settings), expected);
    }
}

#[test]
fn a_demanded_call_leaves_no_time_to_think() {
    let body = render(json!({"messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"name": "f", "description": "F.", "input_schema": {"type": "object"}}],
        "tool_choice": "required", "settings": {"reasoning_effort": "high"}}));
    assert_eq!(body.get("thinking"), None);
    assert_eq!(body["output_config"], json!({"effort": "high"}));
}

#[test]
fn budgets_fit_the_limit() {
    let budget = |effort: &str, limit: Option<u64>| {
        let fields = Thinking::Budget.fields(&json!(effort), limit).unwrap();
        fields
            .get("thinking")
            .map(|thinking| thinking["budget_tokens"].as_u64().unwrap())
    };
    assert_eq!(budget("none", None), None);
    assert_eq!(budget("low", None), Some(2_048));
    assert_eq!(budget("high", Some(100_000)), Some(16_384));
    assert_eq!(budget("high", Some(10_000)), Some(8_000));
    assert_eq!(budget("medium", Some(1_100)), Some(1_024));
    let error = Thinking::Budget
        .fields(&json!("low"), Some(1_024))
        .unwrap_err();
    assert!(
        error.message().contains("max_tokens of more than 1024"),
        "{error}"
    );
    let error = Thinking::Effort.fields(&json!("huge"), None).unwrap_err();
    assert!(error.message().contains("got \"huge\""), "{error}");
}

#[test]
fn models_are_told_in_their_own_way() {
    for (model, expected) in [
        ("claude-3-7-sonnet-20250219", Thinking::Budget),
        ("claude-sonnet-4-20250514", Thinking::Budget),
        ("claude-opus-4-1", Thinking::Budget),
        ("claude-sonnet-4-5-20250929", Thinking::Budget),
        (
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
            Thinking::Budget,
        ),
        ("claude-opus-4-6", Thinking::Effort),
        ("anthropic.claude-opus-4-6-v1", Thinking::Effort),
        ("anthropic/claude-opus-4.6", Thinking::Effort),
        ("claude-sonnet-5", Thinking::Effort),
        ("claude-haiku-5-5", Thinking::Effort),
        ("claude-mythos-preview", Thinking::Effort),
        ("glm-5", Thinking::Budget),
    ] {
        assert_eq!(Thinking::of(model), expected, "{model}");
    }
}

#[test]
fn the_answer_has_a_schema() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    let body = render(json!({"messages": [{"role": "user", "content": "Hi"}],
        "output_schema": {"name": "answer", "description": "Says it.", "schema": schema},
        "settings": {"reasoning_effort": "low"}}));
    assert_eq!(
        body["output_config"],
        json!({"effort": "low", "format": {"type": "json_schema", "schema": schema}})
    );
}

#[test]
fn prompts_are_marked_where_they_may_be_cut() {
    let ask = |cache: Value, system: &str| {
        render(json!({"messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": [{"type": "reasoning", "text": "x", "signature": "s"}]}],
            "tools": [{"name": "f", "description": "F.", "input_schema": {"type": "object"}}],
            "settings": {"prompt_cache": cache}}))
    };
    let marker = json!({"type": "ephemeral"});
    let body = ask(json!(true), "Be kind.");
    assert_eq!(body["system"][0]["cache_control"], marker);
    assert_eq!(body["tools"][0].get("cache_control"), None);
    // Thinking cannot be marked, so what is before it is.
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], marker);
    assert_eq!(body["messages"][1]["content"][0].get("cache_control"), None);
    assert_eq!(body.get("prompt_cache"), None);
    let body = ask(json!("1h"), "");
    assert_eq!(
        body["tools"][0]["cache_control"],
        json!({"type": "ephemeral", "ttl": "1h"})
    );
    let body = ask(json!(false), "Be kind.");
    assert!(!body.to_string().contains("cache_control"));
}

#[test]
fn settings_of_a_wrong_shape_are_named() {
    for settings in [
        json!({"prompt_cache": 3}),
        json!({"extra_body": []}),
        json!({"output_config": "high"}),
        json!({"reasoning_effort": 3}),
    ] {
        let name = settings.as_object().unwrap().keys().next().unwrap().clone();
        let request =
            json!({"messages": [{"role": "user", "content": "Hi"}], "settings": settings});
        let error = try_render(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.message().contains(&name), "{error}");
    }
}
