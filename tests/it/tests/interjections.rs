//! Messages that reach an agent while it works.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, Content, Deadline, Error, ErrorKind, Interjection, InterjectionResponse, Message,
    Outcome, Result, Role, StreamEvent, tool_with_schema,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

type Answers = Arc<Mutex<Vec<BoxFuture<'static, Result<InterjectionResponse>>>>>;

/// An agent whose tool says `interjections` to it while it works. What comes of them is in the
/// second value, in order.
fn interrupted(model: &ScriptedModel, interjections: Vec<Interjection>) -> (Agent, Answers) {
    let answers = Answers::default();
    let kept = Arc::clone(&answers);
    let tool = tool_with_schema(
        "work",
        "Works.",
        json!({"type": "object"}),
        move |_input: Map<String, Value>, context| {
            let kept = Arc::clone(&kept);
            let interjections = interjections.clone();
            async move {
                for interjection in interjections {
                    let run = context.run().clone();
                    let mut answer = async move { run.interject(interjection).await }.boxed();
                    // Queued with the first look at it; answered only after this tool.
                    let kept_answer = match answer.as_mut().now_or_never() {
                        Some(answer) => async move { answer }.boxed(),
                        None => answer,
                    };
                    kept.lock().push(kept_answer);
                }
                Ok::<_, Error>(json!("worked"))
            }
        },
    );
    let agent = Agent::builder("worker")
        .model(model.clone())
        .tool(tool)
        .build()
        .unwrap();
    (agent, answers)
}

async fn answered(answers: &Answers) -> Vec<Result<InterjectionResponse>> {
    let waiting = std::mem::take(&mut *answers.lock());
    futures_util::future::join_all(waiting).await
}

fn work() -> Turn {
    Turn::tool("work", json!({}))
}

#[tokio::test]
async fn reaches_the_next_model_call_and_gets_its_text() {
    let model = ScriptedModel::new([
        work(),
        Turn::text("Noted.").call("work", json!({})),
        Turn::text("Finished."),
    ]);
    let metadata = json!({"channel": "chat"}).as_object().unwrap().clone();
    let said = Interjection::new("Use euros")
        .with_id("first")
        .with_metadata(metadata);
    let (agent, answers) = interrupted(&model, vec![said]);
    let mut stream = agent.stream_ask("Work").unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert_eq!(stream.finish().await.unwrap().response(), "Finished.");

    let kinds: Vec<&str> = events.iter().map(StreamEvent::kind).collect();
    let delivered = kinds
        .iter()
        .position(|kind| *kind == "agent_interjection_delivered")
        .unwrap();
    assert_eq!(kinds[delivered + 1], "model_start");
    let data = json!({"interjection_ids": ["first"], "batch_key": null});
    assert_eq!(events[delivered].data(), data);

    let request = &model.requests()[1];
    let message = request.messages.last().unwrap();
    assert_eq!(message.role, Role::User);
    assert_eq!(message.content.len(), 2, "an explanation, then the message");
    assert_eq!(message.content[1], Content::text("Use euros"));
    assert_eq!(message.metadata["little_ghost_interjection_id"], "first");
    assert_eq!(
        message.metadata["little_ghost_interjection_metadata"],
        json!({"channel": "chat"})
    );
    assert_eq!(message.metadata["channel"], "chat");

    // The tool ran twice: the same interjection shares the answer of the first.
    for answer in answered(&answers).await {
        let answer = answer.unwrap();
        assert_eq!(answer.text, "Noted.");
        assert!(answer.tool_calls);
        assert_eq!(answer.interjection_ids, ["first"]);
    }
}

#[tokio::test]
async fn neighbours_of_one_key_come_together_and_others_one_by_one() {
    let keyed = |text: &str, key: &str| Interjection::new(text).with_batch_key(key);
    let model = ScriptedModel::new([work(), Turn::text("a"), Turn::text("b"), Turn::text("c")]);
    let said = vec![
        keyed("1", "left"),
        keyed("2", "left"),
        keyed("3", "right"),
        Interjection::new("4"),
    ];
    let (agent, answers) = interrupted(&model, said);
    let run = agent.ask("Work").await.unwrap();
    assert_eq!(run.response(), "c", "arrivals cause further turns");
    let texts: Vec<String> = answered(&answers)
        .await
        .into_iter()
        .map(|answer| answer.unwrap().text)
        .collect();
    assert_eq!(texts, ["a", "a", "b", "c"]);
}

#[tokio::test]
async fn says_what_is_wrong() {
    let unusable: Vec<(Interjection, &str)> = vec![
        (Interjection::new("  "), "blank"),
        (
            Interjection::new("x").with_id(""),
            "interjection_id is empty",
        ),
        (
            Interjection::new(Message::assistant("x")),
            "must be a user's",
        ),
    ];
    for (interjection, problem) in unusable {
        let model = ScriptedModel::new([work(), Turn::text("done")]);
        let (agent, answers) = interrupted(&model, vec![interjection]);
        agent.ask("Work").await.unwrap();
        let error = answered(&answers).await.remove(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(problem), "{error}");
    }

    let model = ScriptedModel::new([work(), Turn::text("ok")]);
    let said = vec![
        Interjection::new("one").with_id("same"),
        Interjection::new("two").with_id("same"),
        Interjection::new("x").with_target("elsewhere"),
    ];
    let (agent, answers) = interrupted(&model, said);
    agent.ask("Work").await.unwrap();
    let kinds: Vec<Option<ErrorKind>> = answered(&answers)
        .await
        .into_iter()
        .map(|answer| answer.err().map(|error| error.kind()))
        .collect();
    assert_eq!(
        kinds,
        [
            None,
            Some(ErrorKind::Argument),
            Some(ErrorKind::AgentInterjection)
        ]
    );
}

#[tokio::test]
async fn needs_an_agent_at_work() {
    let agent = Agent::builder("idle")
        .model(ScriptedModel::new(["done"]))
        .build()
        .unwrap();
    let stream = agent.stream_ask("Hello").unwrap();
    let early = stream.run().interject("now").await.unwrap_err();
    assert_eq!(early.kind(), ErrorKind::AgentInterjection);
    let run = stream.finish().await.unwrap();
    let late = run.interject("now").await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::AgentInterjection);
}

#[tokio::test]
async fn learns_that_the_agent_ended_first() {
    let failure = Error::new(ErrorKind::Provider, "down");
    let model = ScriptedModel::new([work(), Turn::error(failure)]);
    let (agent, answers) = interrupted(&model, vec![Interjection::new("x")]);
    let run = agent.ask("Work").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    let error = answered(&answers).await.remove(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentInterjection);
}

#[tokio::test]
async fn is_withdrawn_when_nobody_waits() {
    let model = ScriptedModel::new([work(), Turn::text("done")]);
    let expired = Deadline::after(std::time::Duration::ZERO);
    let said = Interjection::new("too late").with_deadline(expired);
    let tool_model = model.clone();
    let answers = Answers::default();
    let kept = Arc::clone(&answers);
    let tool = tool_with_schema(
        "work",
        "Works.",
        json!({"type": "object"}),
        move |_input: Map<String, Value>, context| {
            let said = said.clone();
            let kept = Arc::clone(&kept);
            async move {
                let run = context.run().clone();
                let error = run.interject(said).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
                // Dropped before it is delivered.
                assert!(run.interject("never mind").now_or_never().is_none());
                kept.lock().push(async move { Err(error) }.boxed());
                Ok::<_, Error>(json!("worked"))
            }
        },
    );
    let agent = Agent::builder("worker")
        .model(tool_model)
        .tool(tool)
        .build()
        .unwrap();
    let run = agent.ask("Work").await.unwrap();
    assert_eq!(run.response(), "done");
    assert_eq!(answered(&answers).await.len(), 1, "the tool ran to its end");
    assert!(
        model.requests()[1]
            .messages
            .iter()
            .all(|message| message.role != Role::User || message.text() == "Work")
    );
}
