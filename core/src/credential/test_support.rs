//! A loopback server and a home directory for tests.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::provider::Environment;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) method: String,
    /// With its query.
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl Recorded {
    /// The fields of a form.
    pub(super) fn form(&self) -> BTreeMap<String, String> {
        let url = reqwest::Url::parse(&format!("form:?{}", self.body)).unwrap();
        url.query_pairs().into_owned().collect()
    }
}

/// What to answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: &'static str,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn new(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: "",
            body: body.into(),
        }
    }
}

type Handler = dyn Fn(&Recorded) -> Answer + Send + Sync;

/// A server that closes each connection after one answer.
pub(super) struct Server {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<Recorded>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(
        handler: impl Fn(&Recorded) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, handler): (_, Arc<Handler>) = (Arc::clone(&requests), Arc::new(handler));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&handler)));
            }
        });
        Self {
            url,
            requests,
            task,
        }
    }

    /// `host:port`.
    pub(super) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub(super) fn requests(&self) -> Vec<Recorded> {
        self.requests.lock().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, seen: Arc<Mutex<Vec<Recorded>>>, handler: Arc<Handler>) {
    let mut bytes = Vec::new();
    let recorded = loop {
        if let Some(recorded) = parse(&bytes) {
            break recorded;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let answer = handler(&recorded);
    seen.lock().push(recorded);
    let head = format!(
        "HTTP/1.1 {} -\r\ncontent-length: {}\r\nconnection: close\r\n{}\r\n",
        answer.status,
        answer.body.len(),
        answer.headers
    );
    let _ = stream.write_all((head + &answer.body).as_bytes()).await;
}

fn parse(bytes: &[u8]) -> Option<Recorded> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    (body.len() >= length).then(|| Recorded {
        method: first.next().unwrap().to_owned(),
        path: first.next().unwrap().to_owned(),
        headers,
        body: body.to_owned(),
    })
}

/// A directory of a user, which goes with the test.
pub(super) struct Home(PathBuf);

impl Home {
    pub(super) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("little-ghost-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the directories to it.
    pub(super) fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An environment of these variables only.
pub(super) fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables: HashMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Environment::new(move |name| variables.get(name).cloned())
}
