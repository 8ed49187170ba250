use serde_json::json;

use super::{contents, rendered, request};
use crate::message::{Content, Message, Role, ToolResult, ToolResultContent, ToolStatus, ToolUse};
use crate::model::{ModelRequest, OutputSchema, ToolChoice};
use crate::tool::ToolDefinition;

fn call(id: &str, name: &str) -> Content {
    Content::ToolUse(ToolUse {
        id: id.into(),
        name: name.into(),
        input: json!({"a": 1}).as_object().unwrap().clone(),
    })
}

fn result(id: &str, content: ToolResultContent, status: ToolStatus) -> Content {
    Content::ToolResult(ToolResult {
        tool_use_id: id.into(),
        content,
        status,
    })
}

fn text_result(id: &str, text: &str) -> Content {
    result(
        id,
        ToolResultContent::Text(text.into()),
        ToolStatus::Success,
    )
}

#[test]
fn instructions_are_apart_and_neighbours_are_one() {
    let body = rendered(
        "gemini-2.5-flash",
        &request(vec![
            Message::system("Be brief."),
            Message::new(Role::Developer, vec![Content::text("Be kind.")]),
            Message::user("One"),
            Message::user("Two"),
            Message::assistant("Three"),
            Message::assistant(""),
            Message::assistant("Four"),
            Message::user("Five"),
        ]),
    );
    assert_eq!(
        serde_json::Value::Object(body),
        json!({
            "contents": [
                {"role": "user", "parts": [{"text": "One"}, {"text": "Two"}]},
                {"role": "model", "parts": [{"text": "Three"}, {"text": "Four"}]},
                {"role": "user", "parts": [{"text": "Five"}]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
        })
    );
}

#[test]
fn attachments_are_bytes_or_where_to_find_them() {
    let message = Message::new(
        Role::User,
        vec![
            Content::image(b"\x89PNG".to_vec(), "image/png"),
            Content::document(b"%PDF".to_vec(), "application/pdf", "a.pdf"),
            Content::image("https://a.test/b.png", "image/png"),
            Content::document("gs://bucket/c.pdf", "application/pdf", "c.pdf"),
            Content::image("data:image/gif;base64,R0lG", "image/png"),
        ],
    );
    assert_eq!(
        contents("gemini-2.5-flash", vec![message])[0]["parts"],
        json!([
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
            {"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://a.test/b.png"}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/c.pdf"}},
            {"inlineData": {"mimeType": "image/gif", "data": "R0lG"}},
        ])
    );
}

#[test]
fn results_name_the_tool_and_keep_their_status() {
    let messages = vec![
        Message::user("Hi"),
        Message::new(
            Role::Assistant,
            vec![call("c1", "add"), call("generated-r1-1", "sub")],
        ),
        Message::new(Role::Tool, vec![text_result("c1", "3")]),
        Message::new(
            Role::Tool,
            vec![result(
                "generated-r1-1",
                ToolResultContent::Text("no".into()),
                ToolStatus::Error,
            )],
        ),
        Message::user("And?"),
        // The same id again means the later call.
        Message::new(Role::Assistant, vec![call("c1", "mul")]),
        Message::new(Role::Tool, vec![text_result("c1", "9")]),
    ];
    assert_eq!(
        contents("gemini-2.5-flash", messages),
        json!([
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [
                {"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}},
                {"functionCall": {"name": "sub", "args": {"a": 1}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "c1", "name": "add", "response": {"output": "3"}}},
                {"functionResponse": {"name": "sub", "response": {"error": "no"}}},
                {"text": "And?"},
            ]},
            {"role": "model", "parts": [
                {"functionCall": {"id": "c1", "name": "mul", "args": {"a": 1}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "c1", "name": "mul", "response": {"output": "9"}}}]},
        ])
    );
}

#[test]
fn results_carry_attachments_inside_or_beside() {
    let blocks = vec![
        Content::text("A chart."),
        Content::image(b"\x89PNG".to_vec(), "image/png"),
    ];
    let messages = |id: &str| {
        vec![
            Message::user("Hi"),
            Message::new(Role::Assistant, vec![call(id, "chart"), call("c2", "add")]),
            Message::new(
                Role::Tool,
                vec![
                    result(
                        id,
                        ToolResultContent::Blocks(blocks.clone()),
                        ToolStatus::Success,
                    ),
                    text_result("c2", "3"),
                ],
            ),
        ]
    };
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}});
    assert_eq!(
        contents("gemini-3-pro-preview", messages("c1"))[2]["parts"],
        json!([
            {"functionResponse": {"id": "c1", "name": "chart",
                "response": {"output": "A chart."}, "parts": [image]}},
            {"functionResponse": {"id": "c2", "name": "add", "response": {"output": "3"}}},
        ])
    );
    assert_eq!(
        contents("gemini-2.5-pro", messages("c1"))[2]["parts"],
        json!([
            {"functionResponse": {"id": "c1", "name": "chart", "response": {"output": "A chart."}}},
            {"functionResponse": {"id": "c2", "name": "add", "response": {"output": "3"}}},
            image,
        ])
    );
}

#[test]
fn tools_their_choice_and_the_form_of_the_answer() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"]});
    let mut asked = ModelRequest {
        tools: vec![ToolDefinition::new("weather", "Tells it.", schema.clone()).unwrap()].into(),
        tool_choice: Some(ToolChoice::Required),
        ..request(vec![Message::user("Hi")])
    };
    let body = rendered("gemini-3-pro", &asked);
    assert_eq!(
        body["tools"],
        json!([{"functionDeclarations": [
            {"name": "weather", "description": "Tells it.", "parametersJsonSchema": schema}]}])
    );
    assert_eq!(
        body["toolConfig"],
        json!({"functionCallingConfig": {"mode": "ANY"}})
    );
    asked.tool_choice = Some(ToolChoice::Named("weather".into()));
    asked.output_schema = Some(OutputSchema {
        name: "answer".into(),
        description: Some("What is it?".into()),
        schema: schema.clone(),
    });
    let body = rendered("gemini-3-pro", &asked);
    assert_eq!(
        body["toolConfig"],
        json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}})
    );
    let config = &body["generationConfig"];
    assert_eq!(config["responseMimeType"], "application/json");
    assert_eq!(
        config["responseJsonSchema"]["properties"],
        schema["properties"]
    );
    assert_eq!(config["responseJsonSchema"]["description"], "What is it?");
}
