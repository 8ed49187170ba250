//! A support agent with two tools, asked on behalf of a customer that the application knows.
//!
//! `cargo run -p support-agent -- "Where is order 481?"`

mod model;
mod tools;

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use futures_util::StreamExt as _;
use little_ghost::{Agent, Invocation, Result, Run, StreamEvent, tool};
use serde_json::{Map, json};
use tools::{help_center_lookup, order_status};

const PROMPT: &str = "You answer customers of a shop in one or two sentences. Look facts up \
                      with the tools before you state them, and never invent any.";

fn support_agent() -> Result<Agent> {
    let articles = "Look up a help center article by topic.";
    let orders = "Look up the status of an order of the current customer.";
    Agent::builder("support")
        .system_prompt(PROMPT)
        .tool(tool("help_center_lookup", articles, help_center_lookup))
        .tool(tool("order_status", orders, order_status))
        .runtime(model::runtime()?)
        .build()
}

async fn answer(question: &str) -> Result<Run> {
    let account = Map::from_iter([("account_id".to_owned(), json!("account-2"))]);
    let request = Invocation::new(question)?
        .with_actor_id("user-7")
        .with_context(account);
    let mut stream = support_agent()?.stream_ask(request)?;
    while let Some(event) = stream.next().await {
        match event {
            StreamEvent::TextDelta { text } => print!("{text}"),
            StreamEvent::ToolStart { tool_use } => println!("[looking up: {}]", tool_use.name),
            _ => continue,
        }
        let _ = stdout().flush();
    }
    stream.finish().await
}

#[tokio::main]
async fn main() -> ExitCode {
    let default = "Can I get a refund?";
    let question = std::env::args().nth(1).unwrap_or_else(|| default.into());
    let run = match answer(&question).await {
        Ok(run) => run,
        Err(error) => {
            eprintln!("{}: {error}", error.class_name());
            return ExitCode::FAILURE;
        }
    };
    let outcome = run.outcome().map_or("unknown", |outcome| outcome.as_str());
    println!("\n[{outcome}, {} tokens]", run.usage().total_tokens());
    if let Some(error) = run.error() {
        eprintln!("{}: {error}", error.class_name());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
