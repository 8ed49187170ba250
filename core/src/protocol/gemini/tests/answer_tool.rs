use serde_json::{Value, json};

use super::{decode_answer, end, parts, rendered, request};
use crate::message::{Content, Message};
use crate::model::{ModelRequest, OutputSchema, StopReason, ToolChoice};
use crate::protocol::testing::summary;
use crate::tool::ToolDefinition;

const OLDER: &str = "gemini-2.5-flash";

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Does it.", json!({"type": "object"})).unwrap()
}

fn asked() -> ModelRequest {
    ModelRequest {
        tools: vec![tool("lookup"), tool("final_answer")].into(),
        output_schema: Some(OutputSchema {
            name: "person".into(),
            description: Some("Who it is.".into()),
            schema: json!({"type": "object", "properties": {"name": {"type": "string"}}}),
        }),
        ..request(vec![Message::user("Who?")])
    }
}

fn answer(chunks: &[Value]) -> super::Decoded {
    let texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    let frames: Vec<&str> = texts.iter().map(String::as_str).collect();
    decode_answer(OLDER, &asked(), &frames)
}

#[test]
fn older_models_get_a_tool_for_the_answer() {
    let body = rendered(OLDER, &asked());
    assert_eq!(body.get("generationConfig"), None);
    assert_eq!(
        body["toolConfig"],
        json!({"functionCallingConfig": {"mode": "ANY"}})
    );
    let last = &body["tools"][0]["functionDeclarations"][2];
    assert_eq!(last["name"], "final_answer_");
    assert_eq!(
        last["parametersJsonSchema"],
        json!({"type": "object", "properties": {"name": {"type": "string"}}})
    );
    assert!(
        last["description"]
            .as_str()
            .unwrap()
            .ends_with("Who it is.")
    );
    // Newer ones take both, and a choice of tool leaves no room for an answer.
    let newer = rendered("gemini-3-pro", &asked());
    assert_eq!(
        newer["generationConfig"]["responseMimeType"],
        "application/json"
    );
    let chosen = ModelRequest {
        tool_choice: Some(ToolChoice::Required),
        ..asked()
    };
    let body = rendered(OLDER, &chosen);
    assert_eq!(
        body["tools"][0]["functionDeclarations"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(body.get("generationConfig"), None);
}

#[test]
fn its_call_is_the_answer() {
    let decoded = answer(&[
        parts(json!([{"text": "Hm.", "thought": true}, {"text": "Here it is."}])),
        parts(json!([{"functionCall": {"name": "final_answer_", "args": {"name": "Ada"}}}])),
        end("STOP"),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start r1 gemini-3-pro-001",
            "reasoning_delta Hm.",
            "text_delta Here it is.",
            r#"text_delta {"name":"Ada"}"#,
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(response.message.text(), r#"{"name":"Ada"}"#);
}

#[test]
fn other_tools_go_first() {
    let decoded = answer(&[
        parts(
            json!([{"functionCall": {"name": "final_answer_", "args": {"name": "Ada"}}},
            {"functionCall": {"name": "lookup", "args": {}}}]),
        ),
        end("STOP"),
    ]);
    let response = decoded.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    assert!(
        matches!(&response.message.content[..], [Content::ToolUse(call)] if call.name == "lookup")
    );
}
