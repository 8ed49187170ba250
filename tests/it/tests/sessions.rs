//! Conversations that outlive a run and a process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use it::{MODEL, Scenario, Server, runtime};
use little_ghost::{
    Agent, AskOptions, Error, ErrorKind, FilesystemStore, MemoryStore, Message, Outcome, Result,
    Session, SessionKey, SessionStore, Snapshot, async_trait,
};
use serde_json::{Map, json};

const ROOT: &str = "LITTLE_GHOST_TEST_SESSION_ROOT";

/// A directory that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Not a test of its own: the process that the next test kills. Says each count once it is stored.
#[tokio::test]
#[ignore = "run by the test that kills it"]
async fn writer() {
    let store = FilesystemStore::new(std::env::var_os(ROOT).unwrap()).unwrap();
    let key = SessionKey::new("c", None);
    let mut count = store
        .load(&key)
        .await
        .unwrap()
        .map_or(0, |found| found.messages.len());
    loop {
        let addition = Snapshot {
            messages: vec![Message::user(format!("{count} {}", "x".repeat(5_000)))],
            state: Map::from_iter([("count".to_owned(), json!(count + 1))]),
            metadata: Map::new(),
        };
        store.append(&key, addition, count).await.unwrap();
        count += 1;
        let mut out = std::io::stdout().lock();
        writeln!(out, "stored {count}").unwrap();
        out.flush().unwrap();
    }
}

/// `kill -9` at any point loses nothing that was acknowledged, and leaves nothing half written.
#[tokio::test]
async fn a_killed_writer_loses_nothing() {
    let folder = Folder::new("kill");
    let root = folder.0.join("sessions");
    let key = SessionKey::new("c", None);
    let mut acknowledged = 0;
    for round in 0..30_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "writer",
                "--exact",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(ROOT, &root)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || {
            lines.by_ref().map(Result::unwrap).find_map(|line| {
                line.split("stored ")
                    .nth(1)
                    .map(|count| count.parse().unwrap())
            })
        };
        // Once it writes, at a point of its work that differs from round to round.
        acknowledged = next().unwrap();
        std::thread::sleep(Duration::from_micros(round * 173 % 5_000));
        child.kill().unwrap();
        child.wait().unwrap();
        while let Some(count) = next() {
            acknowledged = count;
        }
        let store = FilesystemStore::new(&root).unwrap();
        let found = store.load(&key).await.unwrap().unwrap();
        let count = found.messages.len();
        assert!(
            (acknowledged..=acknowledged + 1).contains(&count),
            "{acknowledged} were acknowledged, {count} are there"
        );
        assert_eq!(found.state["count"], json!(count));
        for (number, message) in found.messages.iter().enumerate() {
            assert!(message.text().starts_with(&format!("{number} ")));
        }
    }
    assert!(acknowledged >= 30);
    let left = std::fs::read_dir(&root).unwrap().flatten();
    let left: Vec<_> = left
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

fn agent(scenario: &Scenario, store: Arc<dyn SessionStore>) -> Agent {
    let runtime = runtime(scenario).to_builder().session_store(store);
    Agent::builder("support")
        .model(MODEL)
        .runtime(runtime.build().unwrap())
        .build()
        .unwrap()
}

fn request(text: &str) -> AskOptions {
    AskOptions::from(text)
        .with_session_id("conversation-42")
        .with_actor_id("user-7")
}

#[tokio::test]
async fn a_later_run_continues() {
    let scenario = Server::shared()
        .scenario(&[
            json!({"chat": {"text": "Hi Ada"}}),
            json!({"chat": {"text": "Ada"}}),
        ])
        .await;
    let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let agent = agent(&scenario, Arc::clone(&store));
    agent.ask(request("I am Ada")).await.unwrap();
    let run = agent.ask(request("Who am I?")).await.unwrap();
    assert_eq!(run.response(), "Ada");
    let session = run.session().unwrap();
    assert_eq!(
        (session.id(), session.actor_id()),
        ("conversation-42", Some("user-7"))
    );
    let reopened = Session::new("conversation-42", store).with_actor_id("user-7");
    let history = reopened.history(Vec::new()).await.unwrap();
    let texts: Vec<String> = history.iter().map(Message::text).collect();
    assert_eq!(texts, ["I am Ada", "Hi Ada", "Who am I?", "Ada"]);
    assert_eq!(
        scenario.journal().await[1]["body"]["messages"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test]
async fn runs_of_one_conversation_take_turns() {
    let exchanges = vec![json!({"chat": {"text": "a"}}); 8];
    let scenario = Server::shared().scenario(&exchanges).await;
    let folder = Folder::new("turns");
    let store = FilesystemStore::new(folder.0.join("sessions")).unwrap();
    let agent = agent(&scenario, Arc::new(store));
    let runs = join_all((0..8).map(|_| agent.ask(request("hi")))).await;
    assert!(runs.iter().all(|run| run.as_ref().unwrap().is_completed()));
    let mut lengths: Vec<usize> = scenario
        .journal()
        .await
        .iter()
        .map(|request| request["body"]["messages"].as_array().unwrap().len())
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 3, 5, 7, 9, 11, 13, 15]);
}

/// Fails, or never comes to an end, where it is told to.
struct Broken(&'static str);

#[async_trait]
impl SessionStore for Broken {
    async fn load(&self, _: &SessionKey) -> Result<Option<Snapshot>> {
        match self.0 {
            "load" => Err(Error::new(ErrorKind::Protocol, "gone")),
            _ => Ok(None),
        }
    }

    async fn append(&self, _: &SessionKey, _: Snapshot, _: usize) -> Result<()> {
        match self.0 {
            "append" => Err(Error::new(ErrorKind::Protocol, "full")),
            "panic" => panic!("the store panics"),
            _ => Ok(()),
        }
    }

    async fn replace(&self, _: &SessionKey, _: Snapshot) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_store_that_fails_makes_a_failed_run() {
    for (at, kind) in [
        ("load", ErrorKind::Protocol),
        ("append", ErrorKind::Protocol),
        ("panic", ErrorKind::Error),
    ] {
        let scenario = Server::shared().scenario(&[]).await;
        let run = agent(&scenario, Arc::new(Broken(at)))
            .ask("hi")
            .await
            .unwrap();
        assert_eq!(run.outcome(), Some(Outcome::Failed), "{at}");
        assert_eq!(run.error().unwrap().kind(), kind, "{at}");
        assert!(scenario.journal().await.is_empty(), "{at}");
    }
}
