//! The scripted LLM server as a child process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control;

/// A running server. It ends with the test process, whose end of its standard input closes then.
pub struct Server {
    address: String,
    _process: Child,
}

/// One script on a server, with its own base URL and journal.
pub struct Scenario {
    server: &'static Server,
    id: String,
    /// Where a provider connection sends its requests.
    pub base_url: String,
}

impl Server {
    /// The server that all tests of this process share.
    pub fn shared() -> &'static Server {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(Server::start)
    }

    fn start() -> Server {
        let mut process = Command::new(program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim_end().strip_prefix("listening http://");
        Server {
            address: address.expect(&line).to_owned(),
            _process: process,
        }
    }

    /// A scenario that answers with `exchanges`, in order.
    pub async fn scenario(&'static self, exchanges: &[Value]) -> Scenario {
        self.script(&json!({"exchanges": exchanges})).await
    }

    /// A scenario from a whole script, `cycle` and `unordered` included.
    pub async fn script(&'static self, script: &Value) -> Scenario {
        let (status, made) = control::send(&self.address, "POST", "/_scenarios", script).await;
        assert_eq!(status, 200, "{made}");
        Scenario {
            server: self,
            id: made["id"].as_str().unwrap().to_owned(),
            base_url: made["base_url"].as_str().unwrap().to_owned(),
        }
    }
}

impl Scenario {
    /// Every request so far.
    pub async fn journal(&self) -> Vec<Value> {
        self.requests("journal").await.1
    }

    /// The journal once `query` holds, such as `disconnects=1`; fails after ten seconds.
    pub async fn wait(&self, query: &str) -> Vec<Value> {
        let (status, journal) = self
            .requests(&format!("wait?{query}&timeout_ms=10000"))
            .await;
        assert_eq!(status, 200, "waited in vain for {query}: {journal:?}");
        journal
    }

    /// Lets the answers go on that wait for `label`.
    pub async fn signal(&self, label: &str) {
        let path = format!("/_scenarios/{}/signal", self.id);
        let body = json!({"label": label});
        let (status, answer) = control::send(&self.server.address, "POST", &path, &body).await;
        assert_eq!(status, 200, "{answer}");
    }

    async fn requests(&self, path: &str) -> (u16, Vec<Value>) {
        let path = format!("/_scenarios/{}/{path}", self.id);
        let sent = control::send(&self.server.address, "GET", &path, &Value::Null);
        let (status, mut journal) = tokio::time::timeout(Duration::from_secs(20), sent)
            .await
            .expect("the scripted server does not answer");
        match journal["requests"].take() {
            Value::Array(requests) => (status, requests),
            _ => panic!("no requests in {journal}"),
        }
    }
}

/// The program that `LITTLE_GHOST_SCRIPTED_LLM` names, or the one beside this test's own, built
/// when it is missing.
fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("LITTLE_GHOST_SCRIPTED_LLM") {
        return path.into();
    }
    // target/PROFILE/deps/THIS_TEST
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(2).unwrap();
    let program = folder.join(format!("scripted-llm{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        build(folder);
    }
    program
}

fn build(folder: &Path) {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "-p", "scripted-llm", "--target-dir"]);
    command.arg(folder.parent().unwrap());
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let built = command.status().unwrap();
    assert!(built.success(), "cargo could not build scripted-llm");
}
