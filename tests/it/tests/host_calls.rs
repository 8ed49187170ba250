//! What the engine asks of a host besides tools: callbacks, models, hooks, interjections.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::os::fd::BorrowedFd;

use little_ghost::host::{HostCall, HostRun, HostStart, HostTicket, Item, RunReport};
use little_ghost::{CancellationToken, ErrorKind, Interjection, Invocation, Runtime, StreamEvent};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

/// A host that answers each call by a function.
struct Host<F> {
    run: HostRun,
    answer: F,
    events: Vec<StreamEvent>,
    instruments: Vec<Value>,
    /// Parts that ended without being closed.
    over: Vec<u64>,
}

impl<F: FnMut(&HostRun, &HostCall) -> Option<Value>> Host<F> {
    /// Drives a run to its end. `None` leaves a call without an answer.
    fn drive(invocation: Value, start: Value, answer: F) -> (Vec<StreamEvent>, RunReport) {
        let host = Self::driven(invocation, start, answer);
        (host.events, host.run.report())
    }

    fn driven(invocation: Value, start: Value, answer: F) -> Self {
        let runtime = Runtime::from_value(&json!({"providers": {"none": {
            "adapter": "openai_compatible", "base_url": "http://127.0.0.1:1", "api_key": "x",
        }}}));
        let invocation = Invocation::from_value(&invocation).unwrap();
        let run = HostRun::new(runtime.unwrap(), invocation, &CancellationToken::new()).unwrap();
        run.start(&HostStart::from_value(&start).unwrap()).unwrap();
        let mut host = Self {
            run,
            answer,
            events: Vec::new(),
            instruments: Vec::new(),
            over: Vec::new(),
        };
        while host.step() {}
        host
    }

    fn step(&mut self) -> bool {
        wait(self.run.fd());
        for item in self.run.drain().unwrap() {
            match item {
                Item::Done => return false,
                Item::Event(event) => self.events.push(event),
                Item::Call(call) => {
                    if let Some(answer) = (self.answer)(&self.run, &call) {
                        self.run.complete(call.id, Ok(answer));
                    }
                }
                Item::Instrument(instrument) => self.instruments.push(instrument.to_value()),
                Item::PartOver(scope) => self.over.push(scope),
                _ => {}
            }
        }
        true
    }
}

fn wait(descriptor: i32) {
    /// Far longer than any test takes.
    const PATIENCE: Timespec = Timespec {
        tv_sec: 30,
        tv_nsec: 0,
    };
    // SAFETY: the descriptor is open as long as its run or ticket is.
    #[expect(unsafe_code, reason = "hosts get raw descriptors")]
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let ready = poll(
        &mut [PollFd::new(&descriptor, PollFlags::IN)],
        Some(&PATIENCE),
    )
    .unwrap();
    assert!(ready > 0, "nothing happened for 30 s");
}

fn text(text: &str) -> Value {
    json!({
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 2},
        "metadata": {},
    })
}

fn tool_call() -> Value {
    json!({
        "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "call_1", "name": "look", "input": {}},
        ]},
        "stop_reason": "tool_use",
    })
}

fn agent(more: Value) -> Value {
    let mut agent = json!({
        "agent_id": "hosted", "model": {"host": {"target": "own:parrot"}},
        "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}],
    });
    let map = agent.as_object_mut().unwrap();
    map.extend(more.as_object().unwrap().clone());
    agent
}

fn kinds(events: &[StreamEvent]) -> Vec<&str> {
    events.iter().map(StreamEvent::kind).collect()
}

#[test]
fn a_model_of_the_host_streams_and_answers() {
    let (events, report) = Host::drive(json!({"message": "Hi"}), json!({}), |run, call| {
        Some(match call.kind.as_str() {
            "entrypoint" => agent(json!({})),
            "model" => {
                let request = &call.payload["request"];
                assert_eq!(request["messages"][0]["content"][0]["text"], "Hi");
                assert_eq!(request["tools"][0]["name"], "look");
                let start = json!({"type": "message_start", "data": {"id": null, "model": "p"}});
                run.emit(call.id, &[start]).unwrap();
                let deltas = ["Hel", "lo"]
                    .map(|piece| json!({"type": "text_delta", "data": {"text": piece}}));
                run.emit(call.id, &deltas).unwrap();
                run.emit(call.id, &[json!({"type": "message_stop", "data": {}})])
                    .unwrap();
                text("Hello")
            }
            other => panic!("unexpected call {other}"),
        })
    });
    assert_eq!(report.outcome, Some("completed"));
    assert_eq!(report.response, "Hello");
    assert_eq!(report.usage.total_tokens(), 7);
    assert_eq!(
        kinds(&events),
        [
            "run_start",
            "invocation_start",
            "model_start",
            "message_start",
            "text_delta",
            "text_delta",
            "message_stop",
            "model_stop",
            "invocation_stop",
            "run_stop"
        ]
    );
}

#[test]
fn a_model_of_the_host_is_told_what_it_cannot_say() {
    let events = [
        (json!("text"), "must be an object"),
        (json!({"type": "run_stop", "data": {}}), "\"run_stop\""),
        (
            json!({"type": "text_delta", "data": {"text": 1}}),
            "text_delta: text must be a string, got a number",
        ),
        (
            json!({"type": "tool_call_stop", "data": {"index": 0}}),
            "tool_use must be a tool_use block",
        ),
        (
            json!({"type": "usage"}),
            "usage must be an object of token counts",
        ),
    ];
    let (_, report) = Host::drive(json!({"message": "Hi"}), json!({}), |run, call| {
        Some(match call.kind.as_str() {
            "entrypoint" => agent(json!({})),
            _ => {
                for (event, problem) in &events {
                    let error = run.emit(call.id, std::slice::from_ref(event)).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Protocol);
                    assert!(error.message().contains(problem), "{error}");
                }
                Value::Null
            }
        })
    });
    let error = report.error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(
        error.message().contains("ended without message_stop"),
        "{error}"
    );
}

#[test]
fn only_the_declared_callbacks_are_called() {
    let mut asked = Vec::new();
    let (_, report) = Host::drive(json!({"message": "Hi"}), json!({}), |_, call| {
        Some(match call.kind.as_str() {
            "entrypoint" => {
                agent(json!({"callbacks": ["before_model", "after_tool", "after_invocation"]}))
            }
            "model" => {
                let messages = call.payload["request"]["messages"].as_array().unwrap();
                match messages.last().unwrap()["role"].as_str() {
                    Some("tool") => text(
                        messages.last().unwrap()["content"][0]["content"]
                            .as_str()
                            .unwrap(),
                    ),
                    _ => tool_call(),
                }
            }
            "tool" => json!("seen"),
            "callback" => {
                asked.push(call.payload["name"].as_str().unwrap().to_owned());
                match call.payload["name"].as_str().unwrap() {
                    "after_tool" => {
                        assert_eq!(
                            call.payload["result"],
                            json!({"content": "seen", "status": "success"})
                        );
                        json!({"replace": {"result": {"content": "unseen"}}})
                    }
                    "before_model" => {
                        let mut request = call.payload["request"].clone();
                        request["settings"] = json!({"temperature": 1});
                        json!({"replace": {"request": request}})
                    }
                    _ => Value::Null,
                }
            }
            other => panic!("unexpected call {other}"),
        })
    });
    assert_eq!(report.error.map(|error| error.message().to_owned()), None);
    assert_eq!(report.response, "unseen");
    assert_eq!(
        asked,
        [
            "before_model",
            "after_tool",
            "before_model",
            "after_invocation"
        ]
    );
}

#[test]
fn a_callback_that_cancels_or_answers_nonsense_ends_the_run() {
    let cases = [
        (json!({"cancel": "not today"}), "cancelled", "not today"),
        (
            json!({"cancel": null}),
            "cancelled",
            "a callback cancelled the invocation",
        ),
        (
            json!("yes"),
            "failed",
            "callback before_invocation: the answer must be",
        ),
        (json!({"replace": {}}), "failed", "lacks the key"),
    ];
    for (answer, outcome, message) in cases {
        let (_, report) = Host::drive(json!({"message": "Hi"}), json!({}), |_, call| {
            Some(match call.kind.as_str() {
                "entrypoint" => agent(json!({"callbacks": ["before_invocation"]})),
                _ => answer.clone(),
            })
        });
        assert_eq!(report.outcome, Some(outcome));
        let error = report.error.unwrap();
        assert!(error.message().contains(message), "{error}");
    }
}

#[test]
fn an_agent_without_a_run_has_its_events_alone() {
    let history = json!([{"role": "user", "content": "Go on"}]);
    let invocation = json!({"without_message": true, "history": history});
    let (events, report) = Host::drive(invocation, json!({"kind": "agent"}), |_, call| {
        Some(match call.kind.as_str() {
            "entrypoint" => agent(json!({})),
            _ => {
                let messages = call.payload["request"]["messages"].as_array().unwrap();
                assert_eq!(messages.len(), 1);
                text("Gone on")
            }
        })
    });
    assert_eq!(report.result.unwrap().text(), "Gone on");
    assert!(report.raise.is_none());
    let events = kinds(&events);
    assert_eq!(events.first(), Some(&"invocation_start"));
    assert_eq!(events.last(), Some(&"invocation_stop"));

    let (events, report) = Host::drive(
        json!({"message": "Hi"}),
        json!({"kind": "agent"}),
        |_, call| {
            Some(match call.kind.as_str() {
                "entrypoint" => agent(json!({})),
                _ => Value::Null,
            })
        },
    );
    assert_eq!(report.raise.unwrap().kind(), ErrorKind::Protocol);
    assert_eq!(kinds(&events).last(), Some(&"invocation_error"));
}

#[test]
fn a_single_model_request_has_the_models_events_alone() {
    let (events, report) = Host::drive(
        json!({"without_message": true}),
        json!({"kind": "model"}),
        |run, call| {
            Some(match call.kind.as_str() {
                "entrypoint" => json!({
                    "model": {"host": {"target": "own:parrot"}},
                    "request": {
                        "messages": [{"role": "user", "content": "Hi"}], "settings": {"seed": 1},
                        "tool_choice": {"name": "look"}, "required_capabilities": ["tools"],
                        "tools": [{"name": "look", "description": "Looks."}],
                    },
                }),
                _ => {
                    let request = &call.payload["request"];
                    assert_eq!(request["settings"], json!({"seed": 1}));
                    assert_eq!(request["tool_choice"], json!({"name": "look"}));
                    assert_eq!(request["required_capabilities"], json!(["tools"]));
                    run.emit(
                        call.id,
                        &[json!({"type": "text_delta", "data": {"text": "Hello"}})],
                    )
                    .unwrap();
                    text("Hello")
                }
            })
        },
    );
    assert_eq!(kinds(&events), ["text_delta", "message_stop"]);
    assert_eq!(report.model_response.unwrap().message.text(), "Hello");
    assert!(report.raise.is_none());
}

#[test]
fn the_host_words_the_failure_if_it_has_the_hook() {
    for (hooks, expected) in [
        (json!(["error_message"]), "Ask again."),
        (json!([]), "Sorry"),
    ] {
        let (events, _) = Host::drive(
            json!({"message": "Hi"}),
            json!({"hooks": hooks}),
            |_, call| {
                Some(match call.kind.as_str() {
                    "entrypoint" => agent(json!({})),
                    "hook" => {
                        assert_eq!(call.payload["name"], "error_message");
                        assert_eq!(call.payload["error"]["kind"], "ProtocolError");
                        json!("Ask again.")
                    }
                    _ => Value::Null,
                })
            },
        );
        let data = events.last().unwrap().data();
        assert!(
            data["message"].as_str().unwrap().starts_with(expected),
            "{data}"
        );
    }
}

#[test]
fn an_interjection_is_answered_through_its_own_descriptor() {
    let mut ticket: Option<HostTicket> = None;
    let mut withdrawn = None;
    let (_, report) = Host::drive(json!({"message": "Hi"}), json!({}), |run, call| {
        Some(match call.kind.as_str() {
            "entrypoint" => {
                let early = run.interject(Interjection::new("too early")).unwrap_err();
                assert_eq!(early.kind(), ErrorKind::AgentInterjection);
                agent(json!({}))
            }
            "model" => {
                let messages = call.payload["request"]["messages"].as_array().unwrap();
                let last = messages.last().unwrap();
                match last["role"].as_str() {
                    Some("user") if last["content"].as_array().unwrap().len() == 2 => {
                        text(last["content"][1]["text"].as_str().unwrap())
                    }
                    _ => tool_call(),
                }
            }
            _ => {
                let value = json!({"message": "In euros", "interjection_id": "one"});
                let interjection = Interjection::from_value(&value).unwrap();
                let first = run.interject(interjection).unwrap();
                assert_eq!(
                    first.take().unwrap_err().kind(),
                    ErrorKind::Error,
                    "not answered yet"
                );
                ticket = Some(first);
                let second = run.interject(Interjection::new("never mind")).unwrap();
                second.withdraw();
                withdrawn = Some(second);
                json!("looked")
            }
        })
    });
    assert_eq!(report.response, "In euros");
    let ticket = ticket.unwrap();
    wait(ticket.fd());
    let answer = ticket.take().unwrap().to_value();
    assert_eq!(
        answer,
        json!({"text": "In euros", "tool_calls": false, "interjection_ids": ["one"], "batch_key": null})
    );
    assert!(ticket.take().is_err(), "it is taken once");
    assert!(withdrawn.unwrap().take().is_err());
}

/// One turn with a tool, then text.
fn look_and_tell(run: &HostRun, call: &HostCall) -> Option<Value> {
    Some(match call.kind.as_str() {
        "entrypoint" => agent(json!({})),
        "tool" => json!("seen"),
        _ => {
            let messages = call.payload["request"]["messages"].as_array().unwrap();
            if messages.len() == 1 {
                return Some(tool_call());
            }
            let delta = json!({"type": "text_delta", "data": {"text": "Seen"}});
            run.emit(call.id, &[delta]).unwrap();
            text("Seen")
        }
    })
}

#[test]
fn operations_are_measured_for_whoever_asks() {
    let start = json!({"instrument": true, "events": false});
    let host = Host::driven(json!({"message": "Hi"}), start, look_and_tell);
    let phases: Vec<String> = host
        .instruments
        .iter()
        .map(|item| {
            format!(
                "{} {}",
                item["phase"].as_str().unwrap(),
                item["name"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        phases,
        [
            "start run",
            "start agent",
            "start agent_turn",
            "start model",
            "finish model",
            "start tool",
            "finish tool",
            "finish agent_turn",
            "start agent_turn",
            "start model",
            "finish model",
            "finish agent_turn",
            "finish agent",
            "finish run"
        ]
    );
    let attributes = |index: usize| &host.instruments[index]["attributes"];
    assert_eq!(
        attributes(1)["parent_operation_id"],
        attributes(0)["operation_id"]
    );
    assert_eq!(
        attributes(2)["parent_operation_id"],
        attributes(1)["operation_id"]
    );
    assert_eq!(
        attributes(3)["parent_operation_id"],
        attributes(2)["operation_id"]
    );
    assert_eq!(attributes(3)["model_provider"], "own");
    assert_eq!(attributes(5)["tool_name"], "look");
    assert_eq!(attributes(6)["diagnostic"]["output"], "seen");
    assert!(attributes(10)["time_to_first_token"].as_f64().is_some());
    assert_eq!(attributes(12)["total_tokens"], 7);
    assert_eq!(attributes(13)["outcome"], "completed");

    let host = Host::driven(json!({"message": "Hi"}), json!({}), look_and_tell);
    assert_eq!(host.instruments, Vec::<Value>::new());
}

#[test]
fn content_stays_out_of_measurements_when_the_agent_keeps_it() {
    let start = json!({"instrument": true});
    let host = Host::driven(json!({"message": "Hi"}), start, |run, call| {
        if call.kind.as_str() == "entrypoint" {
            return Some(agent(json!({"capture_diagnostics": false})));
        }
        look_and_tell(run, call)
    });
    for item in &host.instruments {
        let diagnostic = item["attributes"].get("diagnostic");
        assert!(diagnostic.is_none() || item["name"] == "run", "{item}");
    }
}

#[test]
fn an_operation_that_is_given_up_finishes() {
    let start = json!({"instrument": true});
    let host = Host::driven(json!({"message": "Hi"}), start, |run, call| {
        match call.kind.as_str() {
            "entrypoint" => Some(agent(json!({}))),
            _ => {
                run.cancel();
                None
            }
        }
    });
    let finished: Vec<(&Value, &Value)> = host
        .instruments
        .iter()
        .filter(|item| item["phase"] == "finish")
        .map(|item| (&item["name"], &item["attributes"]["outcome"]))
        .collect();
    assert_eq!(
        json!(finished),
        json!([
            ["model", "cancelled"],
            ["agent_turn", "cancelled"],
            ["agent", "cancelled"],
            ["run", "cancelled"]
        ])
    );
}

#[test]
fn each_event_of_an_agent_comes_wrapped_before_it_when_asked_for() {
    let invocation = json!({"message": "Hi", "include_agent_events": true});
    let (events, _) = Host::drive(invocation, json!({}), look_and_tell);
    let mut wrapped = None;
    let mut count = 0;
    for event in &events[1..events.len() - 1] {
        match event {
            StreamEvent::AgentStream {
                source,
                event: inner,
                input,
            } => {
                assert_eq!(&*source.agent_id, "hosted");
                let first = inner.kind() == "invocation_start";
                assert_eq!(
                    input.as_ref().map(|input| input.text()),
                    first.then(|| "Hi".into())
                );
                wrapped = Some(inner.kind());
            }
            event => {
                assert_eq!(wrapped.take(), Some(event.kind()));
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
    let nonsense = Invocation::from_value(&json!({"message": "Hi", "include_agent_events": "yes"}));
    assert_eq!(nonsense.unwrap_err().kind(), ErrorKind::Invocation);
}

fn said(text: &str) -> Value {
    json!({
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "stop_reason": "end_turn", "usage": {"input_tokens": 2, "output_tokens": 1}, "metadata": {},
    })
}

#[test]
fn the_body_of_a_workflow_runs_in_the_host_and_its_participants_in_parts_of_the_run() {
    let participant =
        |key: &str| json!({"kind": "agent", "key": key, "id": key, "description": ""});
    let mut waiting = None;
    let mut calls = Vec::new();
    let host = Host::driven(
        json!({"message": "Why?", "context": {"tenant": "a"}}),
        json!({}),
        |run, call| {
            let payload = &call.payload;
            calls.push((call.kind.as_str(), payload["scope"].as_u64()));
            match call.kind.as_str() {
                "entrypoint" if payload["participant"].is_null() => Some(json!({
                    "assembly": {"kind": "workflow", "key": 1, "id": "response", "description": ""},
                })),
                "entrypoint" => {
                    assert_eq!(payload["context"], json!({"tenant": "a"}));
                    Some(json!({
                        "agent_id": payload["participant"],
                        "model": {"host": {"target": "mine:m"}},
                    }))
                }
                "perform" => {
                    let call_of = json!({"participant": participant("research"), "name": "look"});
                    let ticket = run.invoke(0, &call_of).unwrap();
                    run.settle(0, &[ticket], 1).unwrap();
                    assert_eq!(
                        run.settle(0, &[ticket], 1).unwrap_err().kind(),
                        ErrorKind::Protocol
                    );
                    waiting = Some(call.id);
                    None
                }
                "settled" => {
                    let found = payload["outputs"][0].as_str().unwrap();
                    let last = json!({"participant": participant("support"), "message": format!("Say {found}")});
                    let ticket = run.invoke(0, &last).unwrap();
                    run.complete(waiting.take().unwrap(), Ok(json!(ticket)));
                    Some(Value::Null)
                }
                "model" => {
                    let asked = payload["request"]["messages"][0]["content"][0]["text"].as_str();
                    Some(said(&format!("re: {}", asked.unwrap())))
                }
                other => panic!("{other}"),
            }
        },
    );
    let report = host.run.report();
    assert_eq!(report.outcome, Some("completed"));
    assert_eq!(report.response, "re: Say re: Why?");
    let result = report.result.unwrap();
    assert_eq!(result.steps.len(), 2);
    assert_eq!(report.usage.input_tokens, 4);
    let steps: Vec<&str> = host
        .events
        .iter()
        .map(StreamEvent::kind)
        .filter(|kind| kind.starts_with("assembly_"))
        .collect();
    assert_eq!(
        steps,
        [
            "assembly_step_start",
            "assembly_step_stop",
            "assembly_step_start",
            "assembly_step_stop",
        ]
    );
    let over = host.over;
    let models: Vec<u64> = calls
        .iter()
        .filter(|(kind, _)| *kind == "model")
        .filter_map(|(_, scope)| *scope)
        .collect();
    assert_eq!(models.len(), 2);
    assert_ne!(models[0], models[1]);
    assert_eq!(over, models);
}

#[test]
fn a_workflow_that_returns_no_invocation_fails_and_says_so() {
    let (events, report) = Host::drive(json!({"message": "Why?"}), json!({}), |_, call| {
        Some(match call.kind.as_str() {
            "entrypoint" => json!({
                "assembly": {"kind": "workflow", "key": 1, "id": "response", "description": ""},
            }),
            "perform" => json!("the text instead"),
            _ => json!({}),
        })
    });
    assert_eq!(report.error.unwrap().kind(), ErrorKind::Protocol);
    let kinds: Vec<&str> = events.iter().map(StreamEvent::kind).collect();
    assert_eq!(kinds, ["run_start", "invocation_error", "run_error"]);
}

#[test]
fn conditions_and_inputs_of_a_graph_are_asked_of_the_host() {
    let node = |name: &str| json!({"name": name, "participant": {"kind": "agent", "key": name, "id": name}});
    let mut asked = Vec::new();
    let (_, report) = Host::drive(json!({"message": "Why?"}), json!({}), |_, call| {
        let payload = &call.payload;
        Some(match call.kind.as_str() {
            "entrypoint" if payload["participant"].is_null() => json!({"assembly": {
                "kind": "graph", "id": "flow", "start": "a", "finish": "z",
                "nodes": [node("a"), node("b"), node("z")],
                "edges": [
                    {"from": ["a"], "to": ["b"], "condition": 7},
                    {"from": ["a"], "to": ["z"]},
                    {"from": ["b"], "to": ["z"], "input": 8},
                ],
            }}),
            "entrypoint" => json!({
                "agent_id": payload["participant"], "model": {"host": {"target": "mine:m"}},
            }),
            "assembly" => {
                let state = &payload["state"];
                asked.push((payload["key"].clone(), state["current"].clone()));
                match payload["op"].as_str().unwrap() {
                    "condition" => {
                        json!(state["results"][0][1]["message"]["content"][0]["text"] == "Why?!")
                    }
                    "input" => json!("Mapped"),
                    other => panic!("{other}"),
                }
            }
            "model" => {
                let messages = payload["request"]["messages"].as_array().unwrap();
                let blocks = messages[0]["content"].as_array().unwrap();
                let text: String = blocks
                    .iter()
                    .filter_map(|block| block["text"].as_str())
                    .collect();
                said(&format!("{text}!"))
            }
            _ => json!({}),
        })
    });
    assert_eq!(report.response, "Mapped!");
    assert_eq!(asked, [(json!(7), json!("a")), (json!(8), json!("z"))]);
}

#[test]
fn a_description_is_checked_without_a_run() {
    let node = |name: &str| json!({"name": name, "participant": {"kind": "agent", "key": name, "id": name}});
    let mut graph = json!({
        "kind": "graph", "id": "flow", "start": "a", "finish": "z", "nodes": [node("a"), node("z")],
        "edges": [{"from": ["a"], "to": ["z"], "condition": 1}],
    });
    let chart = little_ghost::host::check_assembly(&graph).unwrap().unwrap();
    assert!(chart.contains("n_a -->|condition| n_z"), "{chart}");

    let kind = |described: &Value| {
        little_ghost::host::check_assembly(described)
            .unwrap_err()
            .kind()
    };
    graph["nodes"][0]["policy"] = json!({"retries": 1});
    assert_eq!(kind(&graph), ErrorKind::Argument);
    graph["nodes"][0]["policy"] = json!({"timeout": 0});
    assert_eq!(kind(&graph), ErrorKind::Argument);
    graph["nodes"][0]["policy"] = Value::Null;
    graph["finish"] = json!("nowhere");
    assert_eq!(kind(&graph), ErrorKind::Configuration);

    let agent = json!({"kind": "agent", "key": 1, "id": "one"});
    assert_eq!(little_ghost::host::check_assembly(&agent).unwrap(), None);
}

#[test]
fn a_part_is_closed_by_a_call_only_if_the_host_has_something_to_close() {
    let node = |name: &str| json!({"name": name, "participant": {"kind": "agent", "key": name, "id": name}});
    let graph = json!({"assembly": {
        "kind": "graph", "id": "row", "start": "one", "finish": "two",
        "nodes": [node("one"), node("two")], "edges": [{"from": ["one"], "to": ["two"]}],
    }});
    let mut calls = Vec::new();
    let host = Host::driven(json!({"message": "Hi"}), json!({}), |run, call| {
        let scope = call.payload["scope"].as_u64().unwrap_or_default();
        calls.push((call.kind.as_str(), scope));
        Some(match call.kind.as_str() {
            "entrypoint" if scope == 0 => graph.clone(),
            "entrypoint" => {
                if scope == 1 {
                    run.register_part(scope).unwrap();
                } else {
                    let late = run.register_part(1).unwrap_err();
                    assert!(late.to_string().contains("before it ends"), "{late}");
                }
                agent(json!({}))
            }
            "model" => text("fine"),
            "close" => Value::Null,
            other => panic!("unexpected call {other}"),
        })
    });
    assert_eq!(host.run.report().outcome, Some("completed"));
    assert_eq!(host.over, [2]);
    drop(host);
    assert_eq!(
        calls,
        [
            ("entrypoint", 0),
            ("entrypoint", 1),
            ("model", 1),
            ("close", 1),
            ("entrypoint", 2),
            ("model", 2),
        ]
    );
}
