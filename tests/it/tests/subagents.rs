//! Subagents for Rust callers: turns in order, bounds, steering, and what ends them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, Deadline, Error, ErrorKind, Invocation, ModelRequest, Outcome, Resource, Result, Run,
    StreamEvent, Subagent, SubagentLimits, Tool, Usage, async_trait, tool_with_schema,
};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

fn spawn(name: &str, mode: &str) -> Turn {
    Turn::tool("spawn_subagent", spawning(name, mode))
}

fn spawning(name: &str, mode: &str) -> Value {
    json!({"kind": "helper", "task_name": name, "task": format!("Do {name}."), "mode": mode})
}

fn message(name: &str, text: &str, mode: &str) -> Value {
    json!({"subagent_id": format!("/root/{name}"), "message": text, "mode": mode})
}

fn wait() -> Turn {
    Turn::tool("wait_for_subagents", json!({}))
}

fn helper(turns: impl IntoIterator<Item = Turn>) -> Agent {
    Agent::builder("helper")
        .description("Helps.")
        .model(ScriptedModel::new(turns))
        .build()
        .unwrap()
}

fn lead(model: &ScriptedModel, helper: &Agent) -> Agent {
    Agent::builder("lead")
        .model(model.clone())
        .subagent(helper)
        .build()
        .unwrap()
}

/// The results of the tools, as the model read them, oldest first.
fn answers(model: &ScriptedModel) -> Vec<Value> {
    let requests = model.requests();
    let messages = &requests.last().unwrap().messages;
    messages
        .iter()
        .flat_map(|message| message.content.iter())
        .filter_map(|block| match block {
            little_ghost::Content::ToolResult(result) => {
                let text = match &result.content {
                    little_ghost::ToolResultContent::Text(text) => text.clone(),
                    other => panic!("{other:?}"),
                };
                Some(serde_json::from_str(&text).unwrap_or(Value::String(text)))
            }
            _ => None,
        })
        .collect()
}

/// A tool that lets go of whoever waits for `gate`.
fn opening(gate: &Arc<Semaphore>, permits: usize) -> impl Tool + use<> {
    let gate = Arc::clone(gate);
    tool_with_schema(
        "open",
        "Opens.",
        json!({"type": "object"}),
        move |_: Map<String, Value>, _| {
            gate.add_permits(permits);
            async { Ok::<_, Error>("open") }
        },
    )
    .unwrap()
}

fn lead_with(model: &ScriptedModel, helper: &Agent, tool: impl Tool + 'static) -> Agent {
    Agent::builder("lead")
        .model(model.clone())
        .tool(tool)
        .subagent(helper)
        .build()
        .unwrap()
}

/// An agent that waits for a permit in its tool before it answers.
fn gated(gate: &Arc<Semaphore>, inside: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> Agent {
    let (gate, inside, most) = (Arc::clone(gate), Arc::clone(inside), Arc::clone(most));
    let tool = tool_with_schema(
        "work",
        "Works.",
        json!({"type": "object"}),
        move |_: Map<String, Value>, _| {
            let (gate, inside, most) = (Arc::clone(&gate), Arc::clone(&inside), Arc::clone(&most));
            async move {
                let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, Error>("worked")
            }
        },
    )
    .unwrap();
    let answer = |request: &ModelRequest| {
        let last = request.messages.last().unwrap();
        if last
            .content
            .iter()
            .any(|block| matches!(block, little_ghost::Content::ToolResult(_)))
        {
            let asked = request
                .messages
                .iter()
                .rev()
                .find(|message| message.role == little_ghost::Role::User);
            Turn::text(format!("done: {}", asked.unwrap().text()))
        } else {
            Turn::tool("work", json!({}))
        }
    };
    Agent::builder("helper")
        .model(ScriptedModel::new([Turn::function(answer)]).repeating())
        .tool(tool)
        .build()
        .unwrap()
}

#[tokio::test]
async fn bounds_may_be_as_large_as_numbers_are() {
    let model = ScriptedModel::new([spawn("review", "sync"), Turn::text("Done.")]);
    let lead = Agent::builder("lead")
        .model(model.clone())
        .subagent(&helper([Turn::text("Fine.")]))
        .subagent_limits(SubagentLimits {
            max_concurrent: usize::MAX,
            max_queued_turns_per_identity: usize::MAX,
            wait_timeout: Duration::MAX,
            close_timeout: Duration::MAX,
            ..SubagentLimits::default()
        })
        .build()
        .unwrap();
    let run = lead.ask("Go").await.unwrap();
    assert_eq!(
        (run.response(), run.error().map(|error| error.to_string())),
        ("Done.".into(), None)
    );
    assert_eq!(answers(&model)[0]["response"], "Fine.");
}

#[tokio::test]
async fn a_subagent_answers_and_goes_on_with_its_own_conversation() {
    let usage = |tokens| Usage {
        input_tokens: tokens,
        ..Usage::default()
    };
    let model = ScriptedModel::new([
        spawn("look", "sync").usage(usage(1)),
        Turn::tool(
            "send_message_to_subagent",
            message("look", "And now?", "sync"),
        )
        .usage(usage(2)),
        Turn::text("That is all.").usage(usage(4)),
    ]);
    let own = ScriptedModel::new([
        Turn::text("It is late.").usage(usage(10)),
        Turn::text("Still late.").usage(usage(20)),
    ]);
    let helper = Agent::builder("helper")
        .model(own.clone())
        .system_prompt("Help.")
        .build()
        .unwrap();
    let mut stream = lead(&model, &helper).stream_ask("Why?").unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::Subagent(event) = event {
            events.push(format!(
                "{} {} {:?}",
                event.kind.as_str(),
                event.status,
                event.turn
            ));
        }
    }
    let run = stream.finish().await.unwrap();
    assert_eq!(run.response(), "That is all.");
    assert_eq!(run.usage().input_tokens, 37);
    assert_eq!(
        events,
        [
            "spawned queued Some(1)",
            "turn_started running Some(1)",
            "turn_finished idle Some(1)",
            "message_queued queued Some(2)",
            "turn_started running Some(2)",
            "turn_finished idle Some(2)",
        ]
    );
    let finished = |turn: u64, response: &str| json!({"status": "finished", "subagent_id": "/root/look", "kind": "helper", "turn": turn, "response": response});
    assert_eq!(
        answers(&model),
        [finished(1, "It is late."), finished(2, "Still late.")]
    );
    let second = &own.requests()[1];
    let texts: Vec<String> = second
        .messages
        .iter()
        .map(little_ghost::Message::text)
        .collect();
    assert_eq!(texts, ["Help.", "Do look.", "It is late.", "And now?"]);
    // The five tools are the lead's only.
    assert_eq!(model.requests()[0].tools.len(), 5);
    assert!(own.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn no_more_turns_work_at_once_than_allowed_and_messages_keep_their_order() {
    let (gate, inside, most): (_, Arc<AtomicUsize>, Arc<AtomicUsize>) =
        (Arc::new(Semaphore::new(0)), Arc::default(), Arc::default());
    let helper = gated(&gate, &inside, &most);
    let mut first = Turn::new();
    for number in 0..6 {
        first = first.call(
            "spawn_subagent",
            spawning(&format!("task_{number}"), "async"),
        );
    }
    let mut second = Turn::new();
    for number in 0..5 {
        let said = message("task_0", &format!("Message {number}"), "async");
        second = second.call("send_message_to_subagent", said);
    }
    let (opened, here) = (Arc::clone(&gate), Arc::clone(&inside));
    let open = Turn::future(move |_| {
        let (opened, here) = (Arc::clone(&opened), Arc::clone(&here));
        async move {
            while here.load(Ordering::SeqCst) < 2 {
                tokio::task::yield_now().await;
            }
            opened.add_permits(100);
            Ok(wait())
        }
    });
    let model = ScriptedModel::new([first, second, open, Turn::text("Done.")]);
    let agent = Agent::builder("lead")
        .model(model.clone())
        .subagent(&helper)
        .subagent_limits(SubagentLimits {
            max_concurrent: 2,
            ..SubagentLimits::default()
        })
        .build()
        .unwrap();
    let mut stream = agent.stream_ask("Go").unwrap();
    let mut turns = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::Subagent(event) = event
            && event.kind.as_str() == "turn_finished"
            && &*event.subagent_id == "/root/task_0"
        {
            turns.push(event.turn.unwrap());
        }
    }
    assert_eq!(stream.finish().await.unwrap().response(), "Done.");
    assert_eq!(most.load(Ordering::SeqCst), 2);
    assert_eq!(turns, [1, 2, 3, 4, 5, 6]);
    let read = answers(&model);
    let waited = read.last().unwrap();
    assert_eq!(waited["status"], "finished");
    assert_eq!(waited["subagents"].as_array().unwrap().len(), 6);
    assert_eq!(waited["subagents"][0]["response"], "done: Message 4");
    assert_eq!(waited["subagents"][0]["response_turn"], 6);
    assert_eq!(waited["subagents"][5]["response"], "done: Do task_5.");
}

#[tokio::test]
async fn bounds_are_told_as_answers() {
    let helper = helper([Turn::text("One."), Turn::text("Two."), Turn::text("Three.")]);
    let model = ScriptedModel::new([
        spawn("one", "sync"),
        spawn("two", "sync"),
        spawn("three", "sync"),
        Turn::tool("send_message_to_subagent", message("one", "More", "sync")),
        Turn::tool("send_message_to_subagent", message("one", "Again", "sync")),
        Turn::tool(
            "spawn_subagent",
            json!({"kind": "helper", "task_name": "long", "task": "x".repeat(21), "mode": "sync"}),
        ),
        Turn::text("Done."),
    ]);
    let limits = SubagentLimits {
        max_identities: 2,
        max_turns: 3,
        max_message_chars: 20,
        ..SubagentLimits::default()
    };
    let agent = Agent::builder("lead")
        .model(model.clone())
        .subagent(&helper)
        .subagent_limits(limits)
        .build()
        .unwrap();
    let run = agent.ask("Go").await.unwrap();
    assert_eq!(run.response(), "Done.");
    let read = answers(&model);
    let kinds: Vec<(&str, &Value)> = read
        .iter()
        .map(|answer| (answer["status"].as_str().unwrap(), &answer["limit"]))
        .collect();
    assert_eq!(
        kinds,
        [
            ("finished", &Value::Null),
            ("finished", &Value::Null),
            ("capacity_reached", &json!(2)),
            ("finished", &Value::Null),
            ("capacity_reached", &json!(3)),
            ("invalid_request", &Value::Null),
        ]
    );
}

#[tokio::test]
async fn a_failed_turn_ends_the_subagent_and_what_is_queued_behind_it() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let failing = Turn::future(move |_| {
        let held = Arc::clone(&held);
        async move {
            held.acquire().await.unwrap().forget();
            Err::<Turn, _>(Error::new(ErrorKind::Provider, "secret detail"))
        }
    });
    let helper = helper([failing]);
    let model = ScriptedModel::new([
        spawn("look", "async"),
        Turn::new()
            .call(
                "send_message_to_subagent",
                message("look", "And now?", "sync"),
            )
            .call("open", json!({})),
        Turn::tool(
            "send_message_to_subagent",
            message("look", "Hello?", "sync"),
        ),
        Turn::tool("list_subagents", json!({})),
        Turn::text("Done."),
    ]);
    let run = lead_with(&model, &helper, opening(&gate, 1))
        .ask("Go")
        .await
        .unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    let read = answers(&model);
    assert_eq!(read[0]["status"], "working");
    assert_eq!(read[1]["status"], "failed");
    assert_eq!(read[1]["turn"], 2);
    assert!(
        read[3].as_str().unwrap().contains("takes no more messages"),
        "{}",
        read[3]
    );
    assert_eq!(read[4]["subagents"][0]["status"], "failed");
    assert!(!format!("{read:?}").contains("secret"));
}

#[tokio::test]
async fn interjections_steer_a_turn_at_work() {
    let gate = Arc::new(Semaphore::new(0));
    let entered = Arc::new(Semaphore::new(0));
    let (enter, leave) = (Arc::clone(&entered), Arc::clone(&gate));
    let work = tool_with_schema(
        "work",
        "Works.",
        json!({"type": "object"}),
        move |_: Map<String, Value>, _| {
            let (enter, leave) = (Arc::clone(&enter), Arc::clone(&leave));
            async move {
                enter.add_permits(1);
                leave.acquire().await.unwrap().forget();
                Ok::<_, Error>("worked")
            }
        },
    )
    .unwrap();
    let own = ScriptedModel::new([
        Turn::text("Let me   look.").call("work", json!({})),
        Turn::text("Euros, fine.").call("work", json!({})),
        Turn::text("12 euros."),
    ]);
    let helper = Agent::builder("helper")
        .model(own.clone())
        .tool(work)
        .build()
        .unwrap();
    let model = ScriptedModel::new([
        spawn("look", "async"),
        Turn::future(move |_| {
            let entered = Arc::clone(&entered);
            async move {
                entered.acquire().await.unwrap().forget();
                Ok(Turn::new()
                    .call("list_subagents", json!({}))
                    .call(
                        "interject_subagent",
                        json!({"subagent_id": "/root/look", "message": "In euros"}),
                    )
                    .call("open", json!({})))
            }
        }),
        wait(),
        Turn::tool(
            "interject_subagent",
            json!({"subagent_id": "/root/look", "message": "Late"}),
        ),
        Turn::text("Done."),
    ]);
    let run = lead_with(&model, &helper, opening(&gate, 2))
        .ask("Go")
        .await
        .unwrap();
    assert_eq!(run.response(), "Done.");
    let read = answers(&model);
    let seen = &read[1]["subagents"][0];
    assert_eq!(seen["status"], "running");
    assert_eq!(seen["progress"]["message"], "Let me look.");
    assert_eq!(read[2]["status"], "interjection_delivered", "{}", read[2]);
    assert_eq!(read[2]["response"], "Euros, fine.");
    assert_eq!(read[2]["response_disposition"], "text_with_tool_calls");
    assert_eq!(read[4]["subagents"][0]["response"], "12 euros.");
    assert!(read[5].as_str().unwrap().contains("not running"));
}

#[tokio::test]
async fn those_at_work_are_stopped_at_the_end() {
    struct Closed(Arc<AtomicUsize>);
    #[async_trait]
    impl Resource for Closed {
        async fn close(&self) -> Result<()> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }
    let closed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&closed);
    let started = Arc::new(Semaphore::new(0));
    let begin = Arc::clone(&started);
    let stuck = tool_with_schema(
        "work",
        "Works.",
        json!({"type": "object"}),
        move |_: Map<String, Value>, context: little_ghost::RunContext| {
            let (counted, begin) = (Arc::clone(&counted), Arc::clone(&begin));
            async move {
                context.run().register(Closed(counted)).unwrap();
                begin.add_permits(1);
                std::future::pending::<()>().await;
                Ok::<_, Error>("never")
            }
        },
    )
    .unwrap();
    let helper = Agent::builder("helper")
        .model(ScriptedModel::new([Turn::tool("work", json!({}))]).repeating())
        .tool(stuck)
        .build()
        .unwrap();
    for ending in ["answer", "cancel", "deadline"] {
        closed.store(0, Ordering::SeqCst);
        let begun = Arc::clone(&started);
        let model = ScriptedModel::new([
            Turn::new()
                .call("spawn_subagent", spawning("one", "async"))
                .call("spawn_subagent", spawning("two", "async")),
            Turn::future(move |_| {
                let begun = Arc::clone(&begun);
                async move {
                    begun.acquire_many(2).await.unwrap().forget();
                    if ending != "answer" {
                        std::future::pending::<()>().await;
                    }
                    Ok(Turn::text("Done."))
                }
            }),
        ]);
        let mut invocation = Invocation::new("Go").unwrap();
        if ending == "deadline" {
            invocation = invocation.with_deadline(Deadline::after(Duration::from_millis(300)));
        }
        let mut stream = lead(&model, &helper).stream_ask(invocation).unwrap();
        let run = stream.run();
        let mut cancelled = Vec::new();
        let mut last = "";
        let mut tools = 0;
        while let Some(event) = stream.next().await {
            last = event.kind();
            if let StreamEvent::Subagent(event) = event {
                match event.kind.as_str() {
                    "tool_started" => tools += 1,
                    "cancelled" | "turn_failed" => cancelled.push(event.subagent_id.to_string()),
                    _ => {}
                }
            }
            if tools == 2 && ending == "cancel" {
                run.cancel();
            }
        }
        let run = stream.finish().await.unwrap();
        cancelled.sort();
        assert_eq!(cancelled, ["/root/one", "/root/two"], "{ending}");
        assert_eq!(closed.load(Ordering::SeqCst), 2, "{ending}");
        let (outcome, terminal) = match ending {
            "answer" => (Outcome::Completed, "run_stop"),
            "cancel" => (Outcome::Cancelled, "run_cancel"),
            _ => (Outcome::Partial, "run_partial"),
        };
        assert_eq!((run.outcome(), last), (Some(outcome), terminal), "{ending}");
        assert_eq!(Arc::strong_count(&started), 3, "{ending}: a task holds on");
        while started.try_acquire().is_ok_and(|permit| {
            permit.forget();
            true
        }) {}
    }
}

#[tokio::test]
async fn what_cannot_be_made_is_told_and_leaves_the_name_free() {
    let broken = Arc::new(AtomicUsize::new(0));
    let tries = Arc::clone(&broken);
    let good = helper([Turn::text("Here.")]);
    let factory = Subagent::from_factory("helper", move |request| {
        assert_eq!(&*request.path, "/root/look");
        if tries.fetch_add(1, Ordering::SeqCst) == 0 {
            return Err(Error::new(ErrorKind::Configuration, "the key is s3cret"));
        }
        Ok(good.clone())
    });
    let model = ScriptedModel::new([
        spawn("look", "async"),
        spawn("look", "sync"),
        spawn("look", "sync"),
        Turn::text("Done."),
    ]);
    let agent = Agent::builder("lead")
        .model(model.clone())
        .subagent(factory)
        .build()
        .unwrap();
    let mut stream = agent.stream_ask("Go").unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::Subagent(event) = event {
            events.push((event.kind.as_str(), event.error_type.clone()));
        }
    }
    let read = answers(&model);
    assert_eq!(read[0]["status"], "failed");
    assert!(!read[0].to_string().contains("s3cret"));
    assert_eq!(read[1]["response"], "Here.");
    assert!(read[2].as_str().unwrap().contains("already a subagent"));
    assert_eq!(
        events[0],
        ("factory_failed", Some("ConfigurationError".into()))
    );
}

#[tokio::test]
async fn settings_of_the_request_reach_subagents_and_overrides_hold() {
    let own = ScriptedModel::new([Turn::text("Here.")]);
    let unused = helper([]);
    let tool: Arc<dyn Tool> = Arc::new(
        tool_with_schema(
            "look",
            "Looks.",
            json!({"type": "object"}),
            |_: Map<String, Value>, _| async { Ok::<_, Error>("x") },
        )
        .unwrap(),
    );
    let chosen = own.clone();
    let subagent = Subagent::new(&unused)
        .model_with(move |_run: &Run| Ok(chosen.clone().into()))
        .tools([tool]);
    let model = ScriptedModel::new([spawn("look", "sync"), Turn::text("Done.")]);
    let agent = Agent::builder("lead")
        .model(model.clone())
        .subagent(subagent)
        .build()
        .unwrap();
    let settings = json!({"temperature": 0.5}).as_object().unwrap().clone();
    let invocation = Invocation::new("Go").unwrap().with_settings(settings);
    agent.ask(invocation).await.unwrap();
    let request = &own.requests()[0];
    assert_eq!(request.settings["temperature"], 0.5);
    assert_eq!(request.tools[0].name(), "look");
}

#[tokio::test]
async fn subagents_have_subagents_below_them() {
    let deepest = helper([Turn::text("Deep.")]);
    let middle_model = ScriptedModel::new([spawn("inner", "sync"), Turn::text("Middle.")]);
    let middle = lead(&middle_model, &deepest);
    let model = ScriptedModel::new([
        Turn::tool(
            "spawn_subagent",
            json!({"kind": "lead", "task_name": "outer", "task": "Go", "mode": "sync"}),
        ),
        Turn::text("Top."),
    ]);
    let top = Agent::builder("top")
        .model(model.clone())
        .subagent(&middle)
        .build()
        .unwrap();
    let mut stream = top
        .stream_ask(Invocation::new("Go").unwrap().with_agent_events(true))
        .unwrap();
    let mut paths = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::AgentStream { source, event, .. } = event
            && let StreamEvent::TextDelta { text } = &*event
        {
            paths.push(format!("{} {text}", source.agent_path));
        }
    }
    assert_eq!(
        paths,
        [
            "/root/outer/inner Deep.",
            "/root/outer Middle.",
            "/root Top."
        ]
    );
}

#[test]
fn kinds_have_names_of_their_own() {
    let helper = helper([]);
    let error = Agent::builder("lead")
        .subagent(&helper)
        .subagent(&helper)
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}
