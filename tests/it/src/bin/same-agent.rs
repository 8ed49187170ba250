//! The agent of `tests/same_bytes.rs` in Rust: asks each connection of its argument once.
//!
//! `gem/test/support/same_agent.rb` and `python/tests/same_agent.py` are the same agent in the other languages.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use little_ghost::{
    Agent, AskOptions, Error, Invocation, Limits, ResultSchema, RunContext, Runtime,
    tool_with_schema,
};
use serde_json::{Map, Value, json};

async fn order_status(_input: Value, _context: RunContext) -> Result<Value, Error> {
    Ok(json!({
        "zulu": 1, "alpha": 1.0, "text": "Größe \u{2028}😀 </b> \"\\\u{1}\t", "none": null,
        "numbers": [0.1, 1e21, 1e-7, -2.5, 12_345_678_901_234_567_890_u64, -7],
        "list": [true, false, [], {}],
    }))
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "zulu": {"type": "string", "description": "Größe in „mm“", "maxLength": 40},
            "alpha": {"type": "number", "minimum": 0.5, "maximum": 1_000_000},
            "mike": {"type": "array", "items": {"type": "string", "enum": ["z", "a", "é"]}},
        },
        "required": ["zulu"],
        "additionalProperties": false,
    })
}

fn agent(target: &Map<String, Value>) -> Agent {
    let (connection, model) = (&target["connection"], target["model"].as_str().unwrap());
    let runtime = Runtime::from_value(&json!({"providers": {"service": connection}})).unwrap();
    let mut settings = json!({"temperature": 0.2, "max_tokens": 256, "top_p": 0.95});
    let more = target["settings"].as_object().unwrap().clone();
    settings.as_object_mut().unwrap().extend(more);
    let result = json!({
        "schema": {
            "type": "object",
            "properties": {"zulu": {"type": "string"}, "alpha": {"type": "integer"}},
            "required": ["zulu", "alpha"],
            "additionalProperties": false,
        },
        "name": "status",
        "description": "How it is going.",
    });
    Agent::builder("same")
        .model(format!("service:{model}"))
        .system_prompt("You look things up.\n\nTell „it“ plainly: <b>&amp;</b> ✓")
        .tool(tool_with_schema(
            "order_status",
            "Look up the status – if any – of an order.",
            schema(),
            order_status,
        ))
        .tool(tool_with_schema(
            "another",
            "Do nothing.",
            json!({"type": "object", "properties": {}}),
            order_status,
        ))
        .limits(Limits {
            model_settings: settings.as_object().unwrap().clone(),
            ..Limits::default()
        })
        .result_schema(ResultSchema::from_value(&result).unwrap())
        .runtime(runtime)
        .build()
        .unwrap()
}

fn request() -> Invocation {
    Invocation::from_value(&json!({
        "message": "Where is order 481? — 日本",
        "history": [
            {"role": "user", "content": "Hi, it's \u{7f}me 😀"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "A moment."},
                {"type": "tool_use", "id": "call_0", "name": "order_status",
                    "input": {"zulu": "480", "alpha": 2.0, "mike": ["é", "z"]}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0",
                "content": "No such order: \"480\"", "status": "error"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "There is none."}]},
        ],
    }))
    .unwrap()
}

#[tokio::main]
async fn main() {
    let plan: Vec<Map<String, Value>> =
        serde_json::from_str(&std::env::args().nth(1).unwrap()).unwrap();
    for target in plan {
        let agent = agent(&target);
        let run = agent.ask(AskOptions::from(request())).await.unwrap();
        assert!(run.is_completed(), "{:?}", run.error());
        println!("{}", run.response());
    }
}
