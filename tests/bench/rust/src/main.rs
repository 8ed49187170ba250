//! One measurement in Rust: `bench SIDE MEASUREMENT BASE_URL COUNT`. Prints one JSON line.

mod plain;
mod programs;
#[cfg(target_os = "linux")]
mod sandbox;

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use little_ghost::{
    Agent, Error, FilesystemStore, Graph, Invocation, Limits, Message, RunContext, Runtime,
    Session, StreamEvent, tool_with_schema,
};
use plain::{PlainClient, PlainSession};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

async fn cpu_of(units: usize, work: impl Future<Output = ()>) {
    let before = cpu();
    work.await;
    let used = (cpu() - before).as_secs_f64() * 1e6 / units as f64;
    println!("{}", json!({"microseconds": used}));
}

fn history() -> Vec<Value> {
    (0..100)
        .map(|index| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            json!({"role": role, "content": format!("Message {index}. ").repeat(20)})
        })
        .collect()
}

fn turn() -> [Value; 2] {
    [
        json!({"role": "user", "content": "How long does shipping take? ".repeat(4)}),
        json!({"role": "assistant", "content": "Three days. ".repeat(10)}),
    ]
}

fn scratch() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("little-ghost-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    folder
}

fn large() -> String {
    "0123456789abcde\n".repeat(65_536)
}

fn runtime(base_url: &str) -> Arc<Runtime> {
    Runtime::from_value(&json!({"providers": {"scripted": {
        "adapter": "openai_compatible", "api_key": "test", "base_url": base_url,
        "api": "chat_completions",
    }}}))
    .unwrap()
}

fn agent(base_url: &str, answer: Option<String>) -> Agent {
    let lookup = tool_with_schema(
        "help_center_lookup",
        "Look up a help center entry by topic.",
        json!({"type": "object", "properties": {"topic": {"type": "string"}},
            "required": ["topic"], "additionalProperties": false}),
        move |input: Value, _context: RunContext| {
            let topic = input["topic"].as_str().unwrap_or_default();
            let text = answer
                .clone()
                .unwrap_or_else(|| format!("{topic}: within 30 days."));
            async move { Ok::<_, Error>(text) }
        },
    );
    Agent::builder("support")
        .model("scripted:scripted-model")
        .system_prompt("Answer clearly.")
        .tool(lookup)
        .limits(Limits {
            max_tool_result_tokens: 1_000_000,
            ..Limits::default()
        })
        .runtime(runtime(base_url))
        .build()
        .unwrap()
}

/// Three agents in a row.
fn graph(base_url: &str) -> Graph {
    let support = agent(base_url, None);
    Graph::builder("support_flow")
        .node("triage", &support)
        .node("research", &support)
        .node("respond", &support)
        .start("triage")
        .edge(("triage", "research"))
        .edge(("research", "respond"))
        .finish("respond")
        .build()
        .unwrap()
        .with_runtime(runtime(base_url))
}

async fn walk(graph: &Graph) {
    let run = graph.ask("Can I get a refund?").await.unwrap();
    assert!(run.is_completed(), "{:?}", run.error());
}

async fn read(agent: &Agent) {
    let mut stream = agent.stream_ask("Hello").unwrap();
    let mut seen = 0;
    while let Some(event) = stream.next().await {
        if let StreamEvent::TextDelta { text } = event {
            seen += text.len();
        }
    }
    assert!(seen > 0, "{:?}", stream.run().error());
}

async fn open(agent: Arc<Agent>, opened: Arc<AtomicUsize>, count: usize) {
    let mut stream = agent.stream_ask("Hello").unwrap();
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. })
            && opened.fetch_add(1, Ordering::Relaxed) + 1 == count
        {
            println!("{}", json!({"resident": resident()}));
            std::process::exit(0);
        }
    }
}

async fn cancel(agent: &Agent, base_url: &str, count: usize) {
    let (server, rest) = base_url.split_once("/s/").unwrap();
    let scenario = rest.split('/').next().unwrap();
    let client = reqwest::Client::new();
    let mut slowest = Duration::ZERO;
    for index in 0..count {
        let mut stream = agent.stream_ask("Hello").unwrap();
        while let Some(event) = stream.next().await {
            if matches!(event, StreamEvent::TextDelta { .. }) {
                break;
            }
        }
        let left = Instant::now();
        drop(stream);
        let wait = format!(
            "{server}/_scenarios/{scenario}/wait?disconnects={}&timeout_ms=5000",
            index + 1
        );
        client
            .get(wait)
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        slowest = slowest.max(left.elapsed());
    }
    println!("{}", json!({"milliseconds": slowest.as_secs_f64() * 1e3}));
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, side, measurement, base_url, count] = &arguments[..] else {
        panic!("usage: bench SIDE MEASUREMENT BASE_URL COUNT");
    };
    let count: usize = count.parse().unwrap();
    match (side.as_str(), measurement.as_str()) {
        ("plain", "deltas") => {
            let client = PlainClient::new(base_url);
            client.text(|_| {}).await;
            let mut seen = 0;
            cpu_of(count, client.text(|text| seen += text.len())).await;
        }
        ("ours", "deltas") => {
            let agent = agent(base_url, None);
            read(&agent).await;
            cpu_of(count, read(&agent)).await;
        }
        ("plain", "runs") => {
            let client = PlainClient::new(base_url);
            for _ in 0..100 {
                client.run_with_tool(None).await;
            }
            cpu_of(count, async {
                for _ in 0..count {
                    client.run_with_tool(None).await;
                }
            })
            .await;
        }
        ("ours", "runs") => {
            let agent = agent(base_url, None);
            for _ in 0..100 {
                agent.ask("Can I get a refund?").await.unwrap();
            }
            cpu_of(count, async {
                for _ in 0..count {
                    assert!(
                        agent
                            .ask("Can I get a refund?")
                            .await
                            .unwrap()
                            .is_completed()
                    );
                }
            })
            .await;
        }
        ("plain", "history") => {
            let client = PlainClient::new(base_url);
            let history = history();
            for _ in 0..20 {
                client.answer(&history, |_| {}).await;
            }
            cpu_of(count, async {
                for _ in 0..count {
                    client.answer(&history, |_| {}).await;
                }
            })
            .await;
        }
        ("ours", "history") => {
            let agent = agent(base_url, None);
            let history: Vec<Message> = history()
                .iter()
                .map(|message| Message::from_value(message).unwrap())
                .collect();
            let request = || {
                Invocation::new("Hello")
                    .unwrap()
                    .with_history(history.clone())
            };
            for _ in 0..20 {
                agent.ask(request()).await.unwrap();
            }
            cpu_of(count, async {
                for _ in 0..count {
                    assert!(agent.ask(request()).await.unwrap().is_completed());
                }
            })
            .await;
        }
        ("plain", "large") => {
            let client = PlainClient::new(base_url);
            let large = large();
            for _ in 0..5 {
                client.run_with_tool(Some(&large)).await;
            }
            cpu_of(count, async {
                for _ in 0..count {
                    client.run_with_tool(Some(&large)).await;
                }
            })
            .await;
        }
        ("ours", "large") => {
            let agent = agent(base_url, Some(large()));
            for _ in 0..5 {
                agent.ask("Can I get a refund?").await.unwrap();
            }
            cpu_of(count, async {
                for _ in 0..count {
                    assert!(
                        agent
                            .ask("Can I get a refund?")
                            .await
                            .unwrap()
                            .is_completed()
                    );
                }
            })
            .await;
        }
        ("plain", "session") => {
            let folder = scratch();
            let session = PlainSession {
                path: folder.join("session.json"),
            };
            cpu_of(count, async {
                for _ in 0..count {
                    session.append(&turn());
                }
            })
            .await;
            std::fs::remove_dir_all(folder).unwrap();
        }
        ("ours", "session") => {
            let folder = scratch();
            let store = Arc::new(FilesystemStore::new(folder.join("sessions")).unwrap());
            let session = Session::new("conversation", store).with_actor_id("user");
            let turn: Vec<Message> = turn()
                .iter()
                .map(|message| Message::from_value(message).unwrap())
                .collect();
            cpu_of(count, async {
                for _ in 0..count {
                    session.append(turn.clone()).await.unwrap();
                }
            })
            .await;
            std::fs::remove_dir_all(folder).unwrap();
        }
        ("ours", "memory") => {
            let agent = agent(base_url, None);
            for _ in 0..count / 10 {
                agent.ask("Can I get a refund?").await.unwrap();
            }
            let first = resident();
            for _ in 0..count {
                agent.ask("Can I get a refund?").await.unwrap();
            }
            println!("{}", json!({"first": first, "last": resident()}));
        }
        ("ours", "agents") => {
            let agent = agent(base_url, None);
            let ask = || async {
                assert!(
                    agent
                        .ask("Can I get a refund?")
                        .await
                        .unwrap()
                        .is_completed()
                )
            };
            for _ in 0..50 {
                ask().await;
            }
            cpu_of(count, async {
                for _ in 0..3 * count {
                    ask().await;
                }
            })
            .await;
        }
        ("ours", "graph") => {
            let graph = graph(base_url);
            for _ in 0..50 {
                walk(&graph).await;
            }
            cpu_of(count, async {
                for _ in 0..count {
                    walk(&graph).await;
                }
            })
            .await;
        }
        ("ours", "graph_memory") => {
            let graph = graph(base_url);
            for _ in 0..count {
                walk(&graph).await;
            }
            let first = resident();
            for _ in 0..count {
                walk(&graph).await;
            }
            println!("{}", json!({"first": first, "last": resident()}));
        }
        ("ours", "open") => {
            let limit = getrlimit(Resource::Nofile);
            let wanted = (count as u64 * 4).min(limit.maximum.unwrap_or(u64::MAX));
            setrlimit(
                Resource::Nofile,
                Rlimit {
                    current: Some(wanted),
                    ..limit
                },
            )
            .unwrap();
            let agent = Arc::new(agent(base_url, None));
            let opened = Arc::new(AtomicUsize::new(0));
            let streams = (0..count)
                .map(|_| tokio::spawn(open(Arc::clone(&agent), Arc::clone(&opened), count)));
            join_all(streams).await;
        }
        ("ours", "cancel") => {
            let _ = rustls::crypto::ring::default_provider().install_default();
            cancel(&agent(base_url, None), base_url, count).await;
        }
        #[cfg(target_os = "linux")]
        ("sandbox", _) => println!("{}", sandbox::measure(count).await),
        ("programs", what) => println!("{}", programs::measure(what, count).await),
        other => panic!("no such measurement: {other:?}"),
    }
}
