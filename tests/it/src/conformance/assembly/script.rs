//! The answers of a case, as the scripted server takes them.

use serde_json::{Value, json};

use super::case::AssemblyCase;

/// One exchange for each answer, told apart by the agent's instructions.
pub(super) fn exchanges(case: &AssemblyCase) -> Vec<Value> {
    let mut found = Vec::new();
    for (agent, answers) in &case.answers {
        for answer in answers.as_array().unwrap() {
            let mut exchange = exchange(answer);
            exchange["match"] = json!({"body_contains": format!("You are {agent}.")});
            found.push(exchange);
        }
    }
    found
}

/// A text, a status, tool calls, a handoff, or an exchange as it is.
fn exchange(answer: &Value) -> Value {
    if answer.is_string() || answer.is_array() {
        return json!({"chat": {"text": answer}});
    }
    if let Some(status) = answer.get("fails") {
        return json!({"status": status, "body": {"error": {"message": "refused"}}});
    }
    if let Some(list) = answer.get("calls") {
        return calls(list.as_array().unwrap(), None);
    }
    let Some(handoff) = answer.get("handoff") else {
        return answer.clone();
    };
    let mut input = json!({"agent_id": handoff[0], "message": handoff[1]});
    if let Some(context) = handoff.get(2) {
        input["context"] = context.clone();
    }
    calls(&[json!(["handoff_to_agent", input])], answer.get("text"))
}

fn calls(list: &[Value], text: Option<&Value>) -> Value {
    let calls: Vec<Value> = list
        .iter()
        .enumerate()
        .map(|(place, call)| json!({"id": format!("call_{}", place + 1), "name": call[0], "arguments": call[1]}))
        .collect();
    let mut chat = json!({"tool_calls": calls});
    if let Some(text) = text {
        chat["text"] = text.clone();
    }
    json!({"chat": chat})
}
