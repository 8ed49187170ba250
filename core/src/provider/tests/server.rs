//! A server that answers one scripted reply for each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What happens after a reply's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Then {
    /// The connection is closed.
    Close,
    /// The connection serves the next request.
    Keep,
    /// The connection is reset once [`Server::reset`] says so.
    Reset,
    /// Nothing, until the client leaves.
    Stall,
}

#[derive(Clone, Debug)]
pub(super) struct Reply {
    bytes: Vec<u8>,
    then: Then,
}

impl Reply {
    /// An answer with a body of any kind.
    pub(super) fn new(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let mut head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        Self {
            bytes: format!("{head}\r\n{body}").into_bytes(),
            then: Then::Keep,
        }
    }

    /// The events, without a mark of the end of the body.
    pub(super) fn open_stream(events: &[Value], then: Then) -> Self {
        let mut bytes = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
        for event in events {
            bytes.extend(format!("data: {event}\n\n").bytes());
        }
        Self { bytes, then }
    }

    /// The events and `[DONE]`, as a chunked body.
    pub(super) fn stream(events: &[Value]) -> Self {
        let mut text = String::from(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
             transfer-encoding: chunked\r\n\r\n",
        );
        let frames = events.iter().map(Value::to_string).chain(["[DONE]".into()]);
        for frame in frames {
            let body = format!("data: {frame}\n\n");
            text.push_str(&format!("{:x}\r\n{body}\r\n", body.len()));
        }
        text.push_str("0\r\n\r\n");
        Self {
            bytes: text.into_bytes(),
            then: Then::Keep,
        }
    }
}

/// Counts and requests that a test looks at.
#[derive(Default)]
struct Journal {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    departures: AtomicUsize,
    changed: Notify,
    reset: Notify,
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) head: String,
    pub(super) body: Value,
}

pub(super) struct Server {
    address: String,
    journal: Arc<Journal>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let journal = Arc::new(Journal::default());
        let replies = Arc::new(Mutex::new(replies.into_iter()));
        let seen = Arc::clone(&journal);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(socket, Arc::clone(&replies), Arc::clone(&seen)));
            }
        });
        Self {
            address,
            journal,
            task,
        }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.journal.requests.lock().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.journal.connections.load(Ordering::SeqCst)
    }

    /// Resets a connection whose reply ends so: not before the client has read what was sent,
    /// because a reset wipes that out.
    pub(super) fn reset(&self) {
        self.journal.reset.notify_one();
    }

    /// Waits until `count` clients left in the middle of an answer.
    pub(super) async fn departures(&self, count: usize) {
        self.until(|journal| journal.departures.load(Ordering::SeqCst) >= count)
            .await;
    }

    /// Waits until `count` requests have come.
    pub(super) async fn asked(&self, count: usize) {
        self.until(|journal| journal.requests.lock().len() >= count)
            .await;
    }

    async fn until(&self, reached: impl Fn(&Journal) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.journal.changed.notified());
            changed.as_mut().enable();
            if reached(&self.journal) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut socket: TcpStream,
    replies: Arc<Mutex<std::vec::IntoIter<Reply>>>,
    journal: Arc<Journal>,
) {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut socket, &mut buffer).await {
        journal.requests.lock().push(request);
        journal.changed.notify_waiters();
        let reply = replies.lock().next();
        let reply = reply.unwrap_or_else(|| Reply::new(599, &[], "no reply is left"));
        if socket.write_all(&reply.bytes).await.is_err() {
            return;
        }
        match reply.then {
            Then::Keep => {}
            Then::Close => return,
            Then::Reset => {
                journal.reset.notified().await;
                socket.set_zero_linger().unwrap();
                return;
            }
            Then::Stall => {
                let mut nothing = [0_u8];
                while matches!(socket.read(&mut nothing).await, Ok(count) if count > 0) {}
                journal.departures.fetch_add(1, Ordering::SeqCst);
                journal.changed.notify_waiters();
                return;
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Request> {
    loop {
        let text = String::from_utf8_lossy(buffer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                let (body, _) = body.split_at(length);
                let request = Request {
                    head: head.to_owned(),
                    body: serde_json::from_str(body).unwrap_or(Value::Null),
                };
                buffer.drain(..head.len() + 4 + length);
                return Some(request);
            }
        }
        let mut read = [0_u8; 4_096];
        let count = socket.read(&mut read).await.ok()?;
        if count == 0 {
            return None;
        }
        buffer.extend_from_slice(&read[..count]);
    }
}
