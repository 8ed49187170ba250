//! Built against the packaged crate, outside the checkout: one tool call, then a
//! streamed answer, from the scripted server at SCRIPTED_BASE_URL; then the same by
//! a JavaScript program, which the interpreter in the crate runs.

use std::env;
use std::process::ExitCode;

use futures_util::StreamExt as _;
use little_ghost::code_mode::CodeMode;
use little_ghost::{Agent, Invocation, Result, Run, RunContext, Runtime, StreamEvent, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Order {
    number: String,
}

async fn order_status(order: Order, _context: RunContext) -> Result<String> {
    Ok(format!("Order {} is out for delivery.", order.number))
}

async fn answer(mode: Option<CodeMode>) -> Result<Run> {
    let runtime = Runtime::from_value(&json!({
        "providers": {"scripted": {
            "adapter": "openai_compatible", "api": "chat_completions", "api_key": "scripted",
            "base_url": env::var("SCRIPTED_BASE_URL").unwrap_or_default(),
        }},
        "default_model": "scripted:scripted-model",
    }))?;
    let status = tool(
        "order_status",
        "Look up the status of an order.",
        order_status,
    );
    let mut agent = Agent::builder("support")
        .system_prompt("Look orders up before you answer.")
        .tool(status)
        .runtime(runtime);
    if let Some(mode) = mode {
        agent = agent.code_mode(mode);
    }
    let agent = agent.build()?;
    let mut stream = agent.stream_ask(Invocation::new("Where is order 481?")?)?;
    while let Some(event) = stream.next().await {
        if let StreamEvent::TextDelta { text } = event {
            print!("{text}");
        }
    }
    println!();
    stream.finish().await
}

#[tokio::main]
async fn main() -> ExitCode {
    let programs = CodeMode::javascript().sandbox("unrestricted");
    for mode in [None, Some(programs)] {
        let failure = match answer(mode).await {
            Ok(run) => run.error().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(message) = failure {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
