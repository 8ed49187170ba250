use serde_json::{Value, json};

use super::{Traits, render_request, rendered, with_settings};
use crate::error::ErrorKind;

fn config(model: &str, settings: Value) -> Value {
    let body = rendered(model, &with_settings(settings));
    body.get("generationConfig").cloned().unwrap_or_default()
}

#[test]
fn settings_get_the_names_of_the_format() {
    assert_eq!(
        config(
            "gemini-2.5-flash",
            json!({"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 40, "stop": "END",
                "seed": 7, "presence_penalty": 0.1, "frequency_penalty": 0.2,
                "candidate_count": 1, "response_modalities": ["TEXT"],
                "speech_config": {"voice_config": {"voice_name": "x"}},
                "mediaResolution": "MEDIA_RESOLUTION_LOW", "routing_config": null,
                "user": "u", "parallel_tool_calls": false, "session_id": "s"})
        ),
        json!({"maxOutputTokens": 9, "stopSequences": ["END"], "candidateCount": 1,
            "temperature": 0.5, "topP": 0.9, "topK": 40, "seed": 7, "presencePenalty": 0.1,
            "frequencyPenalty": 0.2, "responseModalities": ["TEXT"],
            "speechConfig": {"voiceConfig": {"voiceName": "x"}},
            "mediaResolution": "MEDIA_RESOLUTION_LOW"})
    );
    assert_eq!(
        config(
            "gemini-2.5-flash",
            json!({"stop": ["a"], "stop_sequences": ["b", "c"],
            "max_output_tokens": 1, "max_tokens": 2})
        ),
        json!({"maxOutputTokens": 1, "stopSequences": ["b", "c"]})
    );
    assert_eq!(config("gemini-2.5-flash", json!({})), Value::Null);
}

#[test]
fn some_settings_are_fields_of_the_request() {
    let settings = json!({
        "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "labels": {"cost_center": "a_b"}, "cached_content": "cachedContents/1",
        "service_tier": "flex", "tool_config": {"retrieval_config": {"language_code": "de"}},
        "generation_config": {"top_k": 3, "response_json_schema": {"type": "object",
            "properties": {"a_b": {"type": "string"}}}},
        "extra_body": {"store": false},
    });
    assert_eq!(
        Value::Object(rendered("gemini-2.5-flash", &with_settings(settings))),
        json!({
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "toolConfig": {"retrievalConfig": {"languageCode": "de"}},
            "safetySettings": [
                {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
            "labels": {"cost_center": "a_b"}, "cachedContent": "cachedContents/1",
            "serviceTier": "flex",
            "generationConfig": {"topK": 3, "responseJsonSchema": {"type": "object",
                "properties": {"a_b": {"type": "string"}}}},
            "store": false,
        })
    );
}

#[test]
fn effort_is_a_level_or_a_budget() {
    for (model, effort, expected) in [
        (
            "gemini-3-flash-preview",
            "none",
            json!({"thinkingLevel": "MINIMAL"}),
        ),
        (
            "gemini-3.1-pro-preview",
            "minimal",
            json!({"thinkingLevel": "LOW", "includeThoughts": true}),
        ),
        (
            "gemini-flash-latest",
            "high",
            json!({"thinkingLevel": "HIGH", "includeThoughts": true}),
        ),
        ("gemini-2.5-flash", "none", json!({"thinkingBudget": 0})),
        ("gemini-2.5-pro", "none", json!({"thinkingBudget": 128})),
        (
            "models/gemini-2.5-flash-lite",
            "medium",
            json!({"thinkingBudget": 8192, "includeThoughts": true}),
        ),
        (
            "gemini-2.5-pro",
            "max",
            json!({"thinkingBudget": 32768, "includeThoughts": true}),
        ),
    ] {
        let config = config(model, json!({"reasoning_effort": effort}));
        assert_eq!(
            config,
            json!({"thinkingConfig": expected}),
            "{model} {effort}"
        );
    }
}

#[test]
fn the_vendors_own_settings_win_over_the_effort() {
    for (settings, expected) in [
        (
            json!({"reasoning_effort": "low", "thinking_config": {"thinking_budget": 7}}),
            json!({"includeThoughts": true, "thinkingBudget": 7}),
        ),
        (
            json!({"reasoning_effort": "low", "include_thoughts": false}),
            json!({"thinkingBudget": 1024, "includeThoughts": false}),
        ),
        (
            json!({"thinking_budget": -1}),
            json!({"thinkingBudget": -1}),
        ),
    ] {
        let config = config("gemini-2.5-flash", settings);
        assert_eq!(config, json!({"thinkingConfig": expected}));
    }
}

#[test]
fn settings_of_a_wrong_shape_are_refused() {
    for (settings, name) in [
        (json!({"reasoning_effort": "huge"}), "reasoning_effort"),
        (json!({"thinking_config": 3}), "thinking_config"),
        (json!({"generation_config": "x"}), "generation_config"),
        (json!({"tool_config": []}), "tool_config"),
        (json!({"extra_body": []}), "extra_body"),
    ] {
        let request = with_settings(settings);
        let error = render_request(&request, Traits::of("gemini-3-pro")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.message().contains(name), "{error}");
    }
}
