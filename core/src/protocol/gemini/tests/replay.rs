use std::sync::Arc;

use serde_json::{Value, json};

use super::{contents, decode, end, parts};
use crate::message::{Content, Message, Reasoning, Role, ToolUse};

/// The parts with which an answer of these chunks goes back, as it was and after a session stored it.
fn replayed(model: &str, chunks: &[Value]) -> Value {
    let message = decode(chunks).outcome.unwrap().message;
    let stored = Message::from_value(&message.to_value()).unwrap();
    let sent = contents(model, vec![message])[0]["parts"].clone();
    assert_eq!(contents(model, vec![stored])[0]["parts"], sent);
    sent
}

#[test]
fn reasoning_and_two_calls_of_which_the_first_is_signed_go_back_as_they_came() {
    let said = json!([
        {"text": "Both.", "thought": true},
        {"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}},
            "thoughtSignature": "EpwCCpkC+/x=="},
        {"functionCall": {"id": "c2", "name": "add", "args": {"a": 2}}},
    ]);
    let sent = replayed("gemini-3-pro", &[parts(said.clone()), end("STOP")]);
    assert_eq!(sent, said);
}

#[test]
fn a_signature_stays_on_the_part_that_carried_it() {
    let said = json!([
        {"text": "Hm.", "thought": true, "thoughtSignature": "c2lnMQ=="},
        {"text": "", "thought": true, "thoughtSignature": "c2lnMg=="},
        {"text": "Un"},
        {"text": "signed", "thoughtSignature": "c2lnMw=="},
        {"text": " again"},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="},
            "thoughtSignature": "c2lnNA=="},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"},
            "thoughtSignature": "c2lnNQ=="},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "c2lnNg=="},
        {"text": "", "thoughtSignature": "c2lnNw=="},
    ]);
    let whole = [parts(said.clone()), end("STOP")];
    assert_eq!(replayed("gemini-3-pro", &whole), said);
    // One part in a chunk makes no difference.
    let mut split: Vec<Value> = said
        .as_array()
        .into_iter()
        .flatten()
        .map(|part| parts(json!([part])))
        .collect();
    split.push(end("STOP"));
    assert_eq!(replayed("gemini-3-pro", &split), said);
}

#[test]
fn pieces_without_a_signature_are_one_part() {
    let chunks = [
        parts(json!([{"text": "a"}])),
        parts(json!([{"text": "b"}, {"text": ""}])),
        parts(json!([{"text": "", "thoughtSignature": "c2ln"}])),
        end("STOP"),
    ];
    assert_eq!(
        replayed("gemini-3-pro", &chunks),
        json!([{"text": "ab"}, {"text": "", "thoughtSignature": "c2ln"}])
    );
}

#[test]
fn a_call_of_another_model_says_so_where_signatures_are_wanted() {
    let call = |id: &str| {
        Content::ToolUse(ToolUse {
            id: id.into(),
            name: "f".into(),
            input: serde_json::Map::new(),
        })
    };
    let message = Message::new(Role::Assistant, vec![call("toolu_1"), call("toolu_2")]);
    let sent = contents("gemini-3-pro", vec![message.clone()]);
    assert_eq!(
        sent[0]["parts"],
        json!([
            {"functionCall": {"id": "toolu_1", "name": "f", "args": {}},
                "thoughtSignature": "skip_thought_signature_validator"},
            {"functionCall": {"id": "toolu_2", "name": "f", "args": {}}},
        ])
    );
    let older = contents("gemini-2.5-pro", vec![message]);
    assert_eq!(older[0]["parts"][0].get("thoughtSignature"), None);
}

#[test]
fn a_signature_whose_call_is_gone_is_not_sent() {
    let said = json!([{"functionCall": {"id": "c1", "name": "f", "args": {}},
        "thoughtSignature": "c2ln"}, {"text": "Done."}]);
    let mut message = decode(&[parts(said), end("STOP")]).outcome.unwrap().message;
    Arc::make_mut(&mut message.content).retain(|block| !matches!(block, Content::ToolUse(_)));
    let sent = contents("gemini-3-pro", vec![message]);
    assert_eq!(sent[0]["parts"], json!([{"text": "Done."}]));
}

#[test]
fn details_of_other_formats_are_not_sent() {
    let thought = Content::Reasoning(Reasoning {
        details: Some(vec![json!({"type": "reasoning.encrypted", "data": "x"})]),
        ..Reasoning::default()
    });
    let message = Message::new(Role::Assistant, vec![thought, Content::text("Hi")]);
    let sent = contents("gemini-3-pro", vec![message]);
    assert_eq!(sent[0]["parts"], json!([{"text": "Hi"}]));
}
