//! A real model on loopback answers, calls a tool and streams, over each wire format it has, and takes part in assemblies.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;

use futures_util::StreamExt;
use it::local_model::{LOCAL_MODEL, LocalModel};
use little_ghost::code_mode::CodeMode;
use little_ghost::{
    Agent, AgentBuilder, Content, Error, Limits, RunContext, Runtime, StreamEvent, Swarm, Workflow,
    tool, tool_with_schema,
};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// Number of the order.
    order_number: String,
}

fn agent(id: &str, prompt: &str, settings: Value) -> AgentBuilder {
    Agent::builder(id)
        .model(LOCAL_MODEL)
        .system_prompt(prompt)
        .limits(Limits {
            max_turns: 6,
            model_settings: settings.as_object().unwrap().clone(),
            ..Limits::default()
        })
}

/// An agent that knows orders.
fn support(id: &str) -> Agent {
    let prompt = "You are a support agent. Use the order_status tool to look up orders.";
    let order_status = tool(
        "order_status",
        "Look up the delivery status of an order by its number.",
        |input: Order, _context: RunContext| async move {
            Ok::<_, Error>(format!("Order {} is out for delivery.", input.order_number))
        },
    );
    let settings = json!({"temperature": 0, "max_tokens": 200});
    agent(id, prompt, settings)
        .description("Knows the status of orders.")
        .tool(order_status)
        .build()
        .unwrap()
}

async fn calls_a_tool_and_streams(runtime: Arc<Runtime>) {
    let mut stream = support("support")
        .with_runtime(runtime)
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
    assert!(run.is_completed(), "{:?}", run.error());
    let (tool_use, result) = calls.first().expect("the model calls the tool");
    assert_eq!(tool_use.name, "order_status");
    assert!(result.content.text().contains("481"), "{result:?}");
    assert!(run.response().contains("481"), "{}", run.response());
    assert!(deltas > 3, "{deltas} deltas");
    assert!(run.usage().input_tokens > 0 && run.usage().output_tokens > 0);
}

#[tokio::test]
async fn a_tool_call_and_a_streamed_answer_over_chat_completions() {
    let model = LocalModel::turn().await;
    calls_a_tool_and_streams(model.runtime("chat_completions")).await;
}

#[tokio::test]
async fn a_tool_call_and_a_streamed_answer_over_responses() {
    let model = LocalModel::turn().await;
    calls_a_tool_and_streams(model.runtime("responses")).await;
}

#[tokio::test]
async fn a_tool_call_and_a_streamed_answer_over_messages() {
    let model = LocalModel::turn().await;
    calls_a_tool_and_streams(model.runtime("messages")).await;
}

#[tokio::test]
async fn a_triage_workflow() {
    let model = LocalModel::turn().await;
    let prompt = "You sort requests. Answer with one word only: delivery or billing.";
    let settings = json!({"temperature": 0, "max_tokens": 10});
    let triage = agent("triage", prompt, settings).build().unwrap();
    let support = support("support");
    let workflow = Workflow::new("triage_workflow", move |workflow| {
        let (triage, support) = (triage.clone(), support.clone());
        async move {
            let route = workflow.invoke(&triage).text().await?;
            let is_delivery = route.to_lowercase().contains("delivery");
            let target = if is_delivery { &support } else { &triage };
            Ok(workflow.invoke(target).named("answer"))
        }
    });
    let run = workflow
        .with_runtime(model.runtime("chat_completions"))
        .ask("What is the delivery status of order 481?")
        .await
        .unwrap();
    assert!(run.is_completed(), "{:?}", run.error());
    assert!(run.response().contains("481"), "{}", run.response());
    let result = run.result().unwrap();
    let steps: Vec<_> = result
        .steps
        .iter()
        .map(|step| (&*step.participant, &*step.assembly_id))
        .collect();
    assert_eq!(steps, [("triage", "triage"), ("answer", "support")]);
}

#[tokio::test]
async fn a_handoff_in_a_swarm() {
    let model = LocalModel::turn().await;
    // A model this small follows an example, hardly a description.
    let prompt = "You are the front desk. You answer nothing yourself. Reply with this call:\n\
        {\"name\": \"handoff_to_agent\", \"arguments\": {\"agent_id\": \"delivery\", \"message\": \"Look up order 7.\"}}";
    let settings = json!({"temperature": 0, "max_tokens": 100});
    let front_desk = agent("front_desk", prompt, settings)
        .description("Takes every request.")
        .build()
        .unwrap();
    let delivery = support("delivery");
    let swarm = Swarm::builder("support_swarm")
        .member(&front_desk)
        .member(&delivery)
        .start("front_desk")
        .handoff("front_desk", ["delivery"])
        .build()
        .unwrap();
    let run = swarm
        .with_runtime(model.runtime("chat_completions"))
        .ask("What is the status of order 481?")
        .await
        .unwrap();
    assert!(run.is_completed(), "{:?}", run.error());
    assert!(run.response().contains("481"), "{}", run.response());
    let result = run.result().unwrap();
    let steps: Vec<&str> = result.steps.iter().map(|step| &*step.participant).collect();
    assert_eq!(steps, ["front_desk", "delivery"]);
    let handoff = result.steps[0].output.clone().unwrap();
    assert_eq!(handoff["agent_id"], json!("delivery"));
}

#[tokio::test]
async fn a_program_that_the_model_wrote() {
    let model = LocalModel::turn().await;
    let totals = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&totals);
    let order_total = tool_with_schema(
        "order_total",
        "Returns the total of an order, in cents.",
        json!({
            "type": "object", "properties": {"number": {"type": "integer"}},
            "required": ["number"], "additionalProperties": false,
        }),
        move |input: Value, _context: RunContext| {
            let number = input["number"].as_i64().unwrap();
            asked.lock().push(number);
            async move { Ok::<_, Error>(number * 100 + 4) }
        },
    );
    let prompt = "You only answer by the exec tool. To add 1 to the total of order 7, reply:\n\
        {\"name\": \"exec\", \"arguments\": {\"source\": \"(await tools.order_total({number: 7})) + 1\"}}";
    let settings = json!({"temperature": 0, "max_tokens": 100});
    let run = agent("clerk", prompt, settings)
        .tool(order_total)
        // The interpreter of JavaScript has neither files nor network to contain.
        .code_mode(CodeMode::javascript().sandbox("unrestricted"))
        .runtime(model.runtime("chat_completions"))
        .build()
        .unwrap()
        .ask("Add 1 to the total of order 48.")
        .await
        .unwrap();
    assert!(run.is_completed(), "{:?}", run.error());
    assert_eq!(*totals.lock(), [48]);
    let result = run.result().unwrap();
    let results: Vec<String> = result
        .messages
        .iter()
        .flat_map(|message| message.content.iter())
        .filter_map(|content| match content {
            Content::ToolResult(result) => Some(result.content.text()),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].contains("\"value\":4805"), "{results:?}");
}
