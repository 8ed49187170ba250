//! Code mode in the agent loop, with an engine of the application whose programs are lists of steps.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use futures_util::future::join_all;
use little_ghost::code_mode::{
    Broker, CodeMode, Engine, ProgramResult, ProgramStatus, SandboxFactory, Session, Source,
};
use little_ghost::testing::{ScriptedModel, Turn};
use little_ghost::{
    Agent, AgentBuilder, Decision, Error, ErrorKind, Limits, Outcome, Result, Run, StreamEvent,
    ToolLoop, ToolResultContent, async_trait, tool_with_schema,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::Barrier;

/// Programs are JSON: an array of `{"call": [name, input]}`, `{"parallel": [[name, input]]}`, `{"fail": kind}`, `{"say": text}`
/// and, at the end, any value. A failed call ends the program.
#[derive(Default)]
struct Puppet {
    opened: Arc<AtomicUsize>,
    closed: Arc<AtomicUsize>,
    unclean: bool,
}

struct Theatre {
    broker: Arc<Broker>,
    closed: Arc<AtomicUsize>,
    unclean: bool,
}

#[async_trait]
impl Engine for Puppet {
    fn language(&self) -> &str {
        "puppet"
    }

    async fn instructions(&self, catalog: &[Value]) -> Result<String> {
        let names: Vec<&str> = catalog
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        Ok(format!("Puppets can call {}.", names.join(", ")))
    }

    async fn open_session(
        &self,
        broker: Arc<Broker>,
        _sandboxes: Arc<dyn SandboxFactory>,
        limits: Map<String, Value>,
    ) -> Result<Arc<dyn Session>> {
        if limits.contains_key("strings") {
            return Err(Error::new(
                ErrorKind::Argument,
                "puppets have no limit strings",
            ));
        }
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::new(Theatre {
            broker,
            closed: Arc::clone(&self.closed),
            unclean: self.unclean,
        }))
    }
}

impl Theatre {
    async fn call(&self, call: &Value) -> Result<Result<Value, String>> {
        let name = call[0].as_str().unwrap();
        let id = format!("{name}-{}", call[1]["id"].as_str().unwrap_or("1"));
        let answer = self.broker.call(name, call[1].clone(), id).await?.answer;
        Ok(match answer.error {
            Some(error) => Err(error),
            None => Ok(answer.value),
        })
    }
}

#[async_trait]
impl Session for Theatre {
    async fn execute(&self, source: Source) -> Result<ProgramResult> {
        let steps: Vec<Value> =
            serde_json::from_str(&source.source).map_err(|_| Error::tool("no program"))?;
        let mut result = ProgramResult::default();
        for step in steps {
            let came = if let Some(call) = step.get("call") {
                self.call(call).await?
            } else if let Some(calls) = step.get("parallel") {
                let called =
                    join_all(calls.as_array().unwrap().iter().map(|call| self.call(call))).await;
                let values: Result<Vec<_>> = called.into_iter().collect();
                values?
                    .into_iter()
                    .collect::<Result<Vec<Value>, String>>()
                    .map(Value::Array)
            } else if let Some(kind) = step.get("fail").and_then(Value::as_str) {
                return Err(Error::new(
                    ErrorKind::from_name(kind).unwrap(),
                    "the stage is broken",
                ));
            } else if let Some(said) = step.get("say").and_then(Value::as_str) {
                result.output.push_str(said);
                continue;
            } else if step.get("work").is_some() {
                result.status = ProgramStatus::StillWorking;
                return Ok(result);
            } else {
                Ok(step)
            };
            match came {
                Ok(value) => result.value = Some(value),
                Err(error) => {
                    result.status = ProgramStatus::Error;
                    result.error = Some(error);
                    result.value = None;
                    return Ok(result);
                }
            }
        }
        Ok(result)
    }

    async fn wait(&self, _tokens: Option<usize>) -> Result<ProgramResult> {
        Err(Error::tool("Nobody plays."))
    }

    async fn stop(&self, _tokens: Option<usize>) -> Result<ProgramResult> {
        Ok(ProgramResult {
            status: ProgramStatus::Terminated,
            ..ProgramResult::default()
        })
    }

    async fn close(&self) -> Result<()> {
        self.closed.fetch_add(1, Ordering::SeqCst);
        if self.unclean {
            return Err(Error::new(ErrorKind::Cleanup, "a string is caught"));
        }
        Ok(())
    }
}

fn exec(steps: Value) -> Turn {
    Turn::tool("exec", json!({"source": steps.to_string()}))
}

/// An agent with the tools `add` and `confirm`, whose model writes puppet programs.
fn agent(model: &ScriptedModel, mode: CodeMode) -> AgentBuilder {
    let add = tool_with_schema(
        "add",
        "Adds.",
        json!({
            "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "id": {"type": "string"}},
            "required": ["a", "b"], "additionalProperties": false,
        }),
        |input: Map<String, Value>, _context| async move {
            Ok::<_, Error>(
                json!({"sum": input["a"].as_i64().unwrap() + input["b"].as_i64().unwrap()}),
            )
        },
    );
    let confirm = tool_with_schema(
        "confirm",
        "Confirms.",
        json!({"type": "object"}),
        |_input: Map<String, Value>, _context| async move { Err::<Value, _>(Error::tool("not today")) },
    );
    Agent::builder("puppeteer")
        .model(model.clone())
        .system_prompt("You play.")
        .tool(add)
        .tool(confirm)
        .code_mode(mode)
}

/// The run, and its events with what matters of them.
async fn play(agent: AgentBuilder) -> (Run, Vec<String>) {
    let mut stream = agent.build().unwrap().stream_ask("Go").unwrap();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let detail = match &event {
            StreamEvent::ToolCallStart { index, id, name } => format!(" {index} {id} {name}"),
            StreamEvent::ToolCallDelta { index, arguments } => format!(" {index} {arguments}"),
            StreamEvent::ToolCallStop { tool_use, .. } | StreamEvent::ToolStart { tool_use } => {
                format!(" {} {}", tool_use.id, tool_use.name)
            }
            StreamEvent::ToolStop { result, .. } => {
                format!(
                    " {} {} {}",
                    result.tool_use_id,
                    result.status.as_str(),
                    result.content.text()
                )
            }
            _ => String::new(),
        };
        seen.push(format!("{}{detail}", event.kind()));
    }
    (stream.run(), seen)
}

/// What the model was told about the result of its last call.
fn last_result(model: &ScriptedModel) -> String {
    let requests = model.requests();
    let message = requests.last().unwrap().messages.last().unwrap().clone();
    let results: Vec<Value> = message.to_value()["content"].as_array().unwrap().clone();
    let content = &results[0]["content"];
    content
        .as_str()
        .map_or_else(|| content.to_string(), str::to_owned)
}

#[tokio::test]
async fn tools_move_into_programs_and_controls_take_their_place() {
    let model = ScriptedModel::new([Turn::from("Done")]);
    let mode = CodeMode::engine(Puppet::default()).except(["confirm"]);
    play(agent(&model, mode)).await;
    let request = &model.requests()[0];
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["exec", "wait", "stop", "confirm"]);
    assert_eq!(
        request.messages[0].text(),
        "You play.\n\nPuppets can call add."
    );
    assert_eq!(
        request.tools[0].input_schema()["required"],
        json!(["source"])
    );
}

#[tokio::test]
async fn calls_of_programs_are_seen_and_controls_are_not() {
    let model = ScriptedModel::new([
        exec(json!([{"say": "hi"}, {"call": ["tools.add", {"a": 1, "b": 2}]}])),
        Turn::from("Done"),
    ]);
    let (run, events) = play(agent(&model, CodeMode::engine(Puppet::default()))).await;
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    let calls: Vec<&str> = events
        .iter()
        .map(String::as_str)
        .filter(|event| event.starts_with("tool_"))
        .collect();
    assert_eq!(
        calls,
        [
            "tool_call_start 0 tools.add-1 add",
            "tool_call_delta 0 {\"a\":1,\"b\":2}",
            "tool_call_stop tools.add-1 add",
            "tool_start tools.add-1 add",
            "tool_stop tools.add-1 success {\"sum\":3}",
        ]
    );
    assert_eq!(
        last_result(&model),
        r#"{"status":"completed","output":"hi","value":{"sum":3}}"#
    );
}

#[tokio::test]
async fn failures_of_tools_are_for_the_program() {
    for (call, error) in [
        (json!(["confirm", {}]), "not today"),
        (json!(["add", {"a": 1}]), "Invalid tool input"),
        (json!(["nobody", {}]), "not available"),
        (json!(["exec", {"source": "[]"}]), "not available"),
        (json!(["add", [1]]), "must be an object"),
    ] {
        let model = ScriptedModel::new([exec(json!([{"call": call}])), Turn::from("Done")]);
        let (run, _) = play(agent(&model, CodeMode::engine(Puppet::default()))).await;
        assert_eq!(run.outcome(), Some(Outcome::Completed));
        let told: Value = serde_json::from_str(&last_result(&model)).unwrap();
        assert_eq!(told["status"], "error", "{call}");
        assert!(told["error"].as_str().unwrap().contains(error), "{told}");
    }
}

#[tokio::test]
async fn calls_of_programs_overlap() {
    let barrier = Arc::new(Barrier::new(3));
    let meeting = Arc::clone(&barrier);
    let meet = tool_with_schema(
        "meet",
        "Meets.",
        json!({"type": "object"}),
        move |_input: Map<String, Value>, _context| {
            let meeting = Arc::clone(&meeting);
            async move {
                meeting.wait().await;
                Ok::<_, Error>("met")
            }
        },
    );
    let calls: Vec<Value> = (0..3)
        .map(|id| json!(["meet", {"id": id.to_string()}]))
        .collect();
    let model = ScriptedModel::new([exec(json!([{"parallel": calls}])), Turn::from("Done")]);
    let (run, _) = play(agent(&model, CodeMode::engine(Puppet::default())).tool(meet)).await;
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert!(last_result(&model).contains(r#"["met","met","met"]"#));
}

#[tokio::test]
async fn exclusive_tools_may_be_called_by_programs() {
    let alone = tool_with_schema(
        "alone",
        "Alone.",
        json!({"type": "object"}),
        |_input: Map<String, Value>, _context| async { Ok::<_, Error>("alone") },
    );
    let calls = json!([["alone", {"id": "1"}], ["alone", {"id": "2"}]]);
    let model = ScriptedModel::new([exec(json!([{"parallel": calls}])), Turn::from("Done")]);
    let (run, _) =
        play(agent(&model, CodeMode::engine(Puppet::default())).tool(alone.unwrap().exclusive()))
            .await;
    assert_eq!(run.outcome(), Some(Outcome::Completed));
}

#[tokio::test]
async fn only_calls_of_programs_count() {
    let add = json!({"call": ["add", {"a": 1, "b": 2}]});
    let limits = Limits {
        max_tool_calls: 2,
        ..Limits::default()
    };
    let turns = || {
        [
            exec(json!([add])),
            Turn::tool("stop", json!({})),
            exec(json!([add])),
            Turn::from("Done"),
        ]
    };
    let model = ScriptedModel::new(turns());
    let (run, _) =
        play(agent(&model, CodeMode::engine(Puppet::default())).limits(limits.clone())).await;
    assert_eq!(run.outcome(), Some(Outcome::Completed));

    let model = ScriptedModel::new([exec(json!([add, add, add])), Turn::from("Done")]);
    let (run, _) = play(agent(&model, CodeMode::engine(Puppet::default())).limits(limits)).await;
    let error = run.error().unwrap();
    assert!(
        error.is(ErrorKind::Protocol) && error.message().contains("max_tool_calls"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn callbacks_are_asked_about_calls_of_programs() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&asked);
    let model = ScriptedModel::new([
        exec(json!([{"call": ["add", {"a": 1, "b": 2}]}])),
        Turn::from("Done"),
    ]);
    let agent =
        agent(&model, CodeMode::engine(Puppet::default())).before_tool(move |payload, _context| {
            let name = payload.tool_use.name.clone();
            names.lock().push(name.clone());
            async move {
                Ok(match name.as_str() {
                    "add" => Decision::Cancel(Some("no adding".into())),
                    _ => Decision::Continue,
                })
            }
        });
    play(agent).await;
    assert_eq!(*asked.lock(), ["exec", "add"]);
    assert!(last_result(&model).contains(r#""error":"no adding""#));
}

#[tokio::test]
async fn what_a_callback_withholds_is_kept_from_programs_too() {
    let call = json!([{"call": ["add", {"a": 1, "b": 2}]}]);
    for (content, value, told) in [
        ("[removed]", None, r#""value":"[removed]""#),
        ("[removed]", Some(json!({"sum": 0})), r#""value":{"sum":0}"#),
        ("Note. {\"sum\":3}", None, r#""value":{"sum":3}"#),
    ] {
        let model = ScriptedModel::new([exec(call.clone()), Turn::from("Done")]);
        let agent = agent(&model, CodeMode::engine(Puppet::default())).after_tool(
            move |payload, _context| {
                let mut outcome = payload.outcome.clone();
                let replaces = payload.tool_use.name == "add";
                outcome.content = ToolResultContent::Text(content.into());
                outcome.value = value.clone().or(outcome.value);
                async move {
                    Ok(if replaces {
                        Decision::Replace(outcome)
                    } else {
                        Decision::Continue
                    })
                }
            },
        );
        play(agent).await;
        assert!(
            last_result(&model).contains(told),
            "{}",
            last_result(&model)
        );
    }
}

#[tokio::test]
async fn a_callback_that_fails_within_a_program_fails_the_run() {
    let model = ScriptedModel::new([
        exec(json!([{"call": ["add", {"a": 1, "b": 2}]}])),
        Turn::from("Done"),
    ]);
    let agent =
        agent(&model, CodeMode::engine(Puppet::default())).before_tool(|payload, _context| {
            let fails = payload.tool_use.name == "add";
            async move {
                if fails {
                    return Err(Error::new(ErrorKind::Configuration, "the judge is out"));
                }
                Ok(Decision::Continue)
            }
        });
    let (run, _) = play(agent).await;
    assert_eq!(run.error().unwrap().message(), "the judge is out");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn one_session_is_opened_when_it_is_needed_and_closed_with_the_invocation() {
    let puppet = Puppet::default();
    let (opened, closed) = (Arc::clone(&puppet.opened), Arc::clone(&puppet.closed));
    let model = ScriptedModel::new([
        exec(json!([1])),
        exec(json!([2])),
        Turn::from("Done"),
        Turn::from("Again"),
    ]);
    let agent = agent(&model, CodeMode::engine(puppet)).build().unwrap();
    let counts = || (opened.load(Ordering::SeqCst), closed.load(Ordering::SeqCst));
    agent.ask("Go").await.unwrap();
    // Closed by the invocation, and seen again by the run, whose resources close twice without harm.
    assert_eq!(counts().0, 1);
    assert!(counts().1 >= 1);
    let before = counts();
    agent.ask("Go on").await.unwrap();
    assert_eq!(counts(), before, "a run without programs needs no session");
}

#[tokio::test]
async fn an_end_that_is_not_clean_fails_the_run() {
    let puppet = Puppet {
        unclean: true,
        ..Puppet::default()
    };
    let model = ScriptedModel::new([exec(json!([1])), Turn::from("Done")]);
    let failed = agent(&model, CodeMode::engine(puppet))
        .build()
        .unwrap()
        .ask("Go")
        .await;
    assert!(failed.unwrap_err().is(ErrorKind::Cleanup));
}

#[tokio::test]
async fn failures_of_sessions_are_results_or_end_the_run() {
    for (kind, told) in [
        ("ToolError", "the stage is broken"),
        (
            "ProtocolError",
            "The tool failed unexpectedly (ProtocolError).",
        ),
        (
            "ConfigurationError",
            "The tool failed unexpectedly (ConfigurationError).",
        ),
    ] {
        let model = ScriptedModel::new([exec(json!([{"fail": kind}])), Turn::from("Done")]);
        let (run, _) = play(agent(&model, CodeMode::engine(Puppet::default()))).await;
        assert_eq!(run.outcome(), Some(Outcome::Completed));
        assert_eq!(last_result(&model), told);
    }
    let model = ScriptedModel::new([exec(json!([{"fail": "CleanupError"}])), Turn::from("Done")]);
    let (run, _) = play(agent(&model, CodeMode::engine(Puppet::default()))).await;
    assert!(run.error().unwrap().is(ErrorKind::Cleanup));

    let model = ScriptedModel::new([exec(json!([1])), Turn::from("Done")]);
    let mode = CodeMode::engine(Puppet::default()).limit("strings", json!(3));
    play(agent(&model, mode)).await;
    assert_eq!(
        last_result(&model),
        "The tool failed unexpectedly (ArgumentError)."
    );
}

#[tokio::test]
async fn controls_keep_their_names_and_input() {
    let taken = tool_with_schema(
        "wait",
        "Waits.",
        json!({"type": "object"}),
        |_input: Map<String, Value>, _context| async { Ok::<_, Error>("waited") },
    );
    let model = ScriptedModel::new([Turn::from("Done")]);
    let (run, _) = play(agent(&model, CodeMode::engine(Puppet::default())).tool(taken)).await;
    assert!(run.error().unwrap().is(ErrorKind::Configuration));

    for input in [
        json!({}),
        json!({"source": 3}),
        json!({"source": "[]", "more": 1}),
        json!({"source": "[]", "max_output_tokens": 0}),
    ] {
        let model = ScriptedModel::new([Turn::tool("exec", input), Turn::from("Done")]);
        play(agent(&model, CodeMode::engine(Puppet::default()))).await;
        assert!(last_result(&model).starts_with("Invalid tool input"));
    }
    let model = ScriptedModel::new([
        Turn::tool("add", json!({"a": 1, "b": 2})),
        Turn::from("Done"),
    ]);
    play(agent(&model, CodeMode::engine(Puppet::default()))).await;
    assert!(
        last_result(&model).contains("Unknown tool \"add\". Available tools: exec, wait, stop")
    );
}

#[tokio::test]
async fn loops_of_controls_are_no_loops() {
    let mut turns: Vec<Turn> = (0..8).map(|_| exec(json!([{"work": 1}]))).collect();
    turns.push(Turn::from("Done"));
    let model = ScriptedModel::new(turns);
    let agent =
        agent(&model, CodeMode::engine(Puppet::default())).detect_tool_loops(ToolLoop::default());
    let (run, _) = play(agent).await;
    assert_eq!(run.outcome(), Some(Outcome::Completed));
}

#[tokio::test]
async fn an_unknown_engine_fails_the_run() {
    let model = ScriptedModel::new([Turn::from("Done")]);
    let (run, _) = play(agent(&model, CodeMode::named("cobol"))).await;
    let error = run.error().unwrap();
    assert!(error.is(ErrorKind::Configuration) && error.message().contains("cobol"));
}
