use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::{Thinking, render_request};
use crate::error::ErrorKind;
use crate::message::Message;
use crate::model::ModelRequest;

/// A request as hosts write it, with `max_tokens` and `stream` left out of what comes of it.
pub(super) fn render(request: Value) -> Value {
    let mut body = try_render(&request).unwrap();
    assert_eq!(body.shift_remove("stream"), Some(json!(true)));
    Value::Object(body)
}

pub(super) fn try_render(request: &Value) -> crate::error::Result<Map<String, Value>> {
    let request = ModelRequest::from_value(request).unwrap();
    render_request("m", &request, Thinking::Effort)
}

fn messages(messages: Value) -> Value {
    render(json!({"messages": messages}))["messages"].clone()
}

#[test]
fn a_plain_request() {
    let body = render(json!({"messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": ["Be brief.", " "]},
        {"role": "developer", "content": "Really."},
    ]}));
    assert_eq!(
        body,
        json!({
            "model": "m", "max_tokens": 4096,
            "system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief."}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "Hi"}, {"type": "text", "text": "Really."}]}],
        })
    );
}

#[test]
fn neighbours_of_one_role_are_one_turn_with_results_first() {
    let turns = messages(json!([
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "Fine."},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
        {"role": "user", "content": "Quick!"},
        {"role": "tool", "content": {"type": "tool_result", "tool_use_id": "a",
            "content": "1", "status": "success"}},
        {"role": "tool", "content": {"type": "tool_result", "tool_use_id": "b",
            "content": "no", "status": "error"}},
    ]));
    assert_eq!(
        turns,
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Fine."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1", "is_error": false},
                {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true},
                {"type": "text", "text": "Quick!"}]},
        ])
    );
}

#[test]
fn attachments_go_as_the_service_takes_them() {
    let document = |data: &str, media_type: &str, name: &str| json!({"type": "document", "data": data, "media_type": media_type, "name": name});
    let turns = messages(json!([{"role": "user", "content": [
        {"type": "image", "data": "aGk=", "encoding": "base64", "media_type": "image/JPG"},
        {"type": "image", "data": "https://a.test/b.png", "media_type": "image/png"},
        {"type": "image", "data": "data:image/webp;base64,aGk=", "media_type": "image/png"},
        document("%PDF", "application/pdf; x=1", "a.pdf"),
        document("https://a.test/b.pdf", "application/pdf", ""),
        document("a,b\n1,2", "text/csv", "t.csv"),
        document("{}", "application/json", "t.json"),
        document("data:text/plain;base64,aGk=", "text/plain", "t.txt"),
    ]}]));
    let base64 = |kind: &str, media_type: &str, data: &str| json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}});
    let text = |data: &str, title: &str| json!({"type": "document", "title": title, "source": {"type": "text", "media_type": "text/plain", "data": data}});
    let mut pdf = base64("document", "application/pdf", "JVBERg==");
    pdf["title"] = json!("a.pdf");
    assert_eq!(
        turns[0]["content"],
        json!([
            base64("image", "image/jpeg", "aGk="),
            {"type": "image", "source": {"type": "url", "url": "https://a.test/b.png"}},
            base64("image", "image/webp", "aGk="),
            pdf,
            {"type": "document", "source": {"type": "url", "url": "https://a.test/b.pdf"}},
            text("a,b\n1,2", "t.csv"),
            text("{}", "t.json"),
            text("hi", "t.txt"),
        ])
    );
    for (block, named) in [
        (
            json!({"type": "image", "data": "x", "media_type": "image/tiff"}),
            "image/tiff",
        ),
        (
            document("x", "application/msword", "a.doc"),
            "application/msword",
        ),
        (
            json!({"type": "image", "data": "data:image/png,x", "media_type": "image/png"}),
            "base64",
        ),
    ] {
        let request = json!({"messages": [{"role": "user", "content": [block]}]});
        let error = try_render(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedInput);
        assert!(error.message().contains(named), "{error}");
    }
}

#[test]
fn results_keep_their_blocks_and_their_status() {
    let result = |content: Value, status: &str| json!({"role": "tool", "content": {"type": "tool_result", "tool_use_id": "call.1", "content": content, "status": status}});
    let turns = messages(json!([
        {"role": "assistant", "content": {"type": "tool_use", "id": "call.1", "name": "f", "input": {}}},
        result(json!([{"type": "text", "text": "See"}, {"type": "text", "text": ""},
            {"type": "image", "data": "aGk=", "encoding": "base64", "media_type": "image/png"}]), "success"),
        result(json!(""), "error"),
        result(json!([]), "success"),
    ]));
    assert_eq!(turns[0]["content"][0]["id"], "call_2e1");
    assert_eq!(
        turns[1]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "call_2e1", "is_error": false, "content": [
                {"type": "text", "text": "See"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]},
            {"type": "tool_result", "tool_use_id": "call_2e1", "is_error": true,
                "content": "The tool failed without a message."},
            {"type": "tool_result", "tool_use_id": "call_2e1", "is_error": false},
        ])
    );
}

#[test]
fn reasoning_goes_back_first_and_unchanged() {
    let content = json!([
        {"type": "reasoning", "text": " Hm \n", "signature": "c2ln/+=="},
        {"type": "reasoning", "data": "opaque+/==", "text": ""},
        {"type": "reasoning", "text": "unsigned"},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "tool_use", "id": "b", "name": "f", "input": {}},
    ]);
    let turns = messages(json!([
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": content},
        // Not the model's, so it is not said to be.
        {"role": "user", "content": {"type": "reasoning", "text": "x", "signature": "y"}},
    ]));
    assert_eq!(turns.as_array().unwrap().len(), 2);
    assert_eq!(
        turns[1]["content"],
        json!([
            {"type": "thinking", "thinking": " Hm \n", "signature": "c2ln/+=="},
            {"type": "redacted_thinking", "data": "opaque+/=="},
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            {"type": "tool_use", "id": "b", "name": "f", "input": {}},
        ])
    );
}

#[test]
fn tools_and_their_choice() {
    let tools = json!([
        {"name": "f", "description": "F.", "input_schema": {"type": "object"}},
        {"name": "g", "description": "G.", "strict": true, "input_schema": {"type": "object",
            "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}},
    ]);
    let ask = |choice: Value, settings: Value| {
        render(
            json!({"messages": [{"role": "user", "content": "Hi"}], "tools": tools,
            "tool_choice": choice, "settings": settings}),
        )
    };
    let body = ask(Value::Null, json!({}));
    assert_eq!(
        body["tools"],
        json!([
            {"name": "f", "description": "F.", "input_schema": {"type": "object", "properties": {}}},
            {"name": "g", "description": "G.", "strict": true, "input_schema": {"type": "object",
                "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}},
        ])
    );
    for (choice, settings, expected) in [
        (json!(null), json!({}), json!(null)),
        (json!("required"), json!({}), json!({"type": "any"})),
        (
            json!({"name": "g"}),
            json!({}),
            json!({"type": "tool", "name": "g"}),
        ),
        (
            json!(null),
            json!({"tool_choice": "none"}),
            json!({"type": "none"}),
        ),
        (
            json!(null),
            json!({"tool_choice": "required"}),
            json!({"type": "any"}),
        ),
        (
            json!(null),
            json!({"tool_choice": {"type": "tool", "name": "f"}}),
            json!({"type": "tool", "name": "f"}),
        ),
        (
            json!("required"),
            json!({"tool_choice": "none", "parallel_tool_calls": false}),
            json!({"type": "any", "disable_parallel_tool_use": true}),
        ),
        (
            json!(null),
            json!({"parallel_tool_calls": false}),
            json!({"type": "auto", "disable_parallel_tool_use": true}),
        ),
        (
            json!(null),
            json!({"tool_choice": "none", "parallel_tool_calls": false}),
            json!({"type": "none"}),
        ),
    ] {
        assert_eq!(ask(choice, settings)["tool_choice"], expected);
    }
}

#[test]
fn calls_of_the_past_are_declared_when_no_tool_is_offered() {
    let body = render(json!({"messages": [
        {"role": "assistant", "content": {"type": "tool_use", "id": "a", "name": "f", "input": {}}},
        {"role": "tool", "content": {"type": "tool_result", "tool_use_id": "a", "content": "1", "status": "success"}},
    ]}));
    assert_eq!(body["tools"][0]["name"], "f");
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn equal_requests_have_equal_bytes() {
    let request = json!({"messages": [{"role": "user", "content": "Hi"}],
        "settings": {"temperature": 0.5, "top_k": 3, "user": "u"}});
    let once = ModelRequest::from_value(&request).unwrap();
    let more = ModelRequest {
        messages: Arc::new([(*once.messages).clone(), vec![Message::user("More")]].concat()),
        ..once.clone()
    };
    let bytes = |request: &ModelRequest| {
        Value::Object(render_request("m", request, Thinking::Effort).unwrap()).to_string()
    };
    assert_eq!(bytes(&once), bytes(&once.clone()));
    // A longer conversation begins with the same bytes.
    let prefix = bytes(&once);
    let prefix = prefix.strip_suffix("]}]}").unwrap();
    assert!(bytes(&more).starts_with(prefix));
}
