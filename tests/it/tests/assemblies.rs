//! Assemblies for Rust callers: the final answer streams live, the rest stays among the participants.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, AssemblyEvent, AssemblyTool, Error, ErrorKind, Invocation, Outcome, StepPolicy,
    StreamEvent, Swarm, Usage, Workflow,
};
use serde_json::json;

fn agent(id: &str, turns: impl IntoIterator<Item = Turn>) -> Agent {
    Agent::builder(id)
        .model(ScriptedModel::new(turns))
        .build()
        .unwrap()
}

fn line(event: &StreamEvent) -> String {
    match event {
        StreamEvent::TextDelta { text } => format!("text {text}"),
        StreamEvent::Assembly(_) => {
            let data = event.data();
            let name = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
            match event.kind() {
                "assembly_transition" => {
                    format!("{} {}>{}", event.kind(), name("from"), name("to"))
                }
                kind => format!("{kind} {}", name("participant")),
            }
        }
        StreamEvent::InvocationStart { agent_id } => format!("invocation_start {agent_id}"),
        other => other.kind().to_owned(),
    }
}

#[tokio::test]
async fn a_workflow_streams_its_last_participant_and_keeps_the_others_to_itself() {
    let research = agent("research", [Turn::text("It is late.")]);
    let support = agent("support", [Turn::chunks(["We ", "know."])]);
    let workflow = Workflow::new("response", move |workflow| {
        let (research, support) = (research.clone(), support.clone());
        async move {
            let found = workflow.invoke(&research).named("look").text().await?;
            Ok(workflow.invoke(&support).input(format!("Say: {found}")))
        }
    });
    let mut stream = workflow
        .stream_ask(Invocation::new("Why?").unwrap().with_agent_events(false))
        .unwrap();
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        lines.push(line(&event));
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(
        lines,
        [
            "run_start",
            "assembly_step_start look",
            "assembly_step_stop look",
            "assembly_step_start support",
            "invocation_start support",
            "model_start",
            "message_start",
            "text We ",
            "text know.",
            "message_stop",
            "model_stop",
            "invocation_stop",
            "assembly_step_stop support",
            "run_stop",
        ]
    );
    let result = run.result().unwrap();
    assert_eq!(run.response(), "We know.");
    let steps: Vec<(&str, Option<&serde_json::Value>)> = result
        .steps
        .iter()
        .map(|step| (&*step.participant, step.output.as_ref()))
        .collect();
    assert_eq!(
        steps,
        [
            ("look", Some(&json!("It is late."))),
            ("support", Some(&json!("We know.")))
        ]
    );
    assert_eq!(result.trajectory().transitions().len(), 1);
    assert_eq!(run.usage(), result.steps[0].usage + result.steps[1].usage);
}

#[tokio::test]
async fn a_swarm_hands_over_and_shows_only_the_answer() {
    let triage = agent(
        "triage",
        [Turn::text("Hm, billing.").call(
            "handoff_to_agent",
            json!({"agent_id": "billing", "message": "Charged twice."}),
        )],
    );
    let billing = agent("billing", [Turn::text("Refunded.")]);
    let swarm = Swarm::builder("solver")
        .member(&triage)
        .member(&billing)
        .start("triage")
        .handoff("triage", ["billing"])
        .build()
        .unwrap();
    let mut stream = swarm.stream_ask("Charged twice!").unwrap();
    let mut lines = Vec::new();
    let mut wrapped = Vec::new();
    while let Some(event) = stream.next().await {
        match &event {
            StreamEvent::AgentStream { source, event, .. } => {
                if let StreamEvent::TextDelta { text } = &**event {
                    let path = &source.assembly_path;
                    wrapped.push(format!("{} {text}", path[path.len() - 1].participant));
                }
            }
            other => lines.push(line(other)),
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert_eq!(wrapped, ["triage Hm, billing.", "billing Refunded."]);
    assert_eq!(
        lines[..6],
        [
            "run_start",
            "assembly_step_start triage",
            "assembly_step_stop triage",
            "assembly_transition triage>billing",
            "assembly_step_start billing",
            "invocation_start billing",
        ]
    );
    assert!(!lines.iter().any(|line| line.contains("Hm")));
    let result = run.result().unwrap();
    assert_eq!(result.text(), "Refunded.");
    assert_eq!(
        result.steps[0].output,
        Some(json!({"agent_id": "billing", "message": "Charged twice."}))
    );
}

#[tokio::test]
async fn a_member_that_may_hand_off_and_does_not_answers_all_the_same() {
    let triage = agent("triage", [Turn::chunks(["No ", "need."])]);
    let billing = agent("billing", []);
    let swarm = Swarm::builder("solver")
        .member(&triage)
        .member(&billing)
        .start("triage")
        .build()
        .unwrap();
    let run = swarm.ask("Hello").await.unwrap();
    assert_eq!(run.response(), "No need.");
}

#[tokio::test]
async fn a_failed_last_attempt_is_announced_as_superseded() {
    let broken = Error::new(ErrorKind::Provider, "down");
    let support = agent(
        "support",
        [Turn::chunks(["Half "]).fail(broken), Turn::text("Whole.")],
    );
    let workflow = Workflow::new("response", move |workflow| {
        let support = support.clone();
        async move {
            let policy = StepPolicy::default().retries(1, [ErrorKind::Provider]);
            Ok(workflow.invoke(&support).policy(policy))
        }
    });
    let mut stream = workflow
        .stream_ask(Invocation::new("Why?").unwrap().with_agent_events(false))
        .unwrap();
    let mut retried = None;
    while let Some(event) = stream.next().await {
        if let StreamEvent::Assembly(AssemblyEvent::StepRetry { partial_text, .. }) = event {
            retried = Some(partial_text);
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!((run.response().as_str(), retried), ("Whole.", Some(true)));
    assert_eq!(run.result().unwrap().steps[0].attempts.len(), 2);
}

#[tokio::test]
async fn an_invocation_of_another_run_is_no_answer() {
    let answer = agent("answer", [Turn::text("a"), Turn::text("b")]);
    let kept = Arc::new(Mutex::new(None));
    let keeping = Arc::clone(&kept);
    let workflow = Workflow::new("w", move |workflow| {
        let own = workflow.invoke(&answer);
        let before = keeping.lock().unwrap().replace(workflow.invoke(&answer));
        async move { Ok(before.unwrap_or(own)) }
    });
    assert_eq!(workflow.ask("One").await.unwrap().response(), "a");
    let run = workflow.ask("Two").await.unwrap();
    let error = run.error().unwrap();
    assert_eq!(
        (error.kind(), run.usage()),
        (ErrorKind::Argument, Usage::default())
    );
    assert!(error.message().contains("of another run"), "{error}");
}

#[tokio::test]
async fn the_first_failure_beside_others_ends_them_and_the_run() {
    let good = agent("good", [Turn::text("x").delay(Duration::from_secs(60))]);
    let bad = agent(
        "bad",
        [Turn::text("").fail(Error::new(ErrorKind::Provider, "down"))],
    );
    let workflow = Workflow::new("both", move |workflow| {
        let (good, bad) = (good.clone(), bad.clone());
        async move {
            let both = [workflow.invoke(&good), workflow.invoke(&bad)];
            workflow.parallel(both, 2).await?;
            Ok(workflow.invoke(&good))
        }
    });
    let run = workflow.ask("Go").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    assert_eq!(run.error().unwrap().kind(), ErrorKind::Provider);
}

#[tokio::test]
async fn an_agent_asks_another_as_a_tool_in_a_part_of_its_run() {
    let research = agent(
        "research",
        [Turn::text("It is late."), Turn::text("Still.")],
    );
    let boss = Agent::builder("boss")
        .model(ScriptedModel::new([
            Turn::tool("look", json!({"input": "Where?"})),
            Turn::tool("look", json!({"input": "And now?"})),
            Turn::text("Late."),
        ]))
        .tool_provider(
            AssemblyTool::new(&research)
                .named("look")
                .preserve_context(),
        )
        .build()
        .unwrap();
    let mut stream = boss
        .stream_ask(Invocation::new("Hi").unwrap().with_agent_events(true))
        .unwrap();
    let mut sources = Vec::new();
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        match &event {
            StreamEvent::AgentStream { source, event, .. } => {
                if let StreamEvent::TextDelta { text } = &**event {
                    sources.push(format!("{} {text}", source.agent_id));
                }
            }
            StreamEvent::TextDelta { text } => texts.push(text.clone()),
            _ => {}
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(run.response(), "Late.");
    assert_eq!(texts, ["Late."]);
    assert_eq!(
        sources,
        ["research It is late.", "research Still.", "boss Late."]
    );
}
