//! A real model on loopback answers, calls a tool and streams, over each wire format it has.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use futures_util::StreamExt;
use it::local_model::LocalModel;
use little_ghost::{Agent, Error, Limits, RunContext, Runtime, StreamEvent, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// Number of the order.
    order_number: String,
}

fn support_agent(model: &LocalModel, api: &str) -> Agent {
    let connection = match api {
        "messages" => json!({"adapter": "anthropic", "base_url": model.base_url()}),
        api => {
            json!({"adapter": "openai_compatible", "base_url": model.base_url(), "api": api})
        }
    };
    let runtime = Runtime::from_value(&json!({"providers": {"local": connection}})).unwrap();
    let order_status = tool(
        "order_status",
        "Look up the delivery status of an order by its number.",
        |input: Order, _context: RunContext| async move {
            Ok::<_, Error>(format!("Order {} is out for delivery.", input.order_number))
        },
    );
    let model_settings = json!({"temperature": 0, "max_tokens": 200});
    Agent::builder("support")
        .model("local:qwen2.5-coder-0.5b-instruct")
        .system_prompt("You are a support agent. Use the order_status tool to look up orders.")
        .tool(order_status)
        .limits(Limits {
            max_turns: 6,
            model_settings: model_settings.as_object().unwrap().clone(),
            ..Limits::default()
        })
        .runtime(runtime)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_real_model_calls_a_tool_and_streams_its_answer() {
    let Some(model) = LocalModel::start().await else {
        panic!("set LITTLE_GHOST_LOCAL_MODEL to the model's file: run `make test`");
    };
    for api in ["chat_completions", "responses", "messages"] {
        let agent = support_agent(&model, api);
        let mut stream = agent
            .stream_ask("What is the status of order 481?")
            .unwrap();
        let mut deltas = 0;
        let mut calls = Vec::new();
        while let Some(event) = stream.next().await {
            match event {
                StreamEvent::TextDelta { .. } => deltas += 1,
                StreamEvent::ToolStop { tool_use, result } => calls.push((tool_use, result)),
                _ => {}
            }
        }
        let run = stream.finish().await.unwrap();
        assert!(run.is_completed(), "{api}: {:?}", run.error());
        let (tool_use, result) = calls.first().expect("the model calls the tool");
        assert_eq!(tool_use.name, "order_status");
        assert!(result.content.text().contains("481"), "{api}: {result:?}");
        assert!(run.response().contains("481"), "{api}: {}", run.response());
        assert!(deltas > 3, "{api}: {deltas} deltas");
        assert!(
            run.usage().input_tokens > 0 && run.usage().output_tokens > 0,
            "{api}"
        );
    }
}
