//! Answers Envoy's questions about requests: HTTP/1.1 on a private socket.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener as StdListener;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustix::process::{Pid, getpgid};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::network::authorizer::Guard;
use crate::network::{Decision, Endpoint, Request};

/// Longest head of a question. Envoy refuses longer ones of clients by far.
const HEAD_BYTES: usize = 128 * 1_024;
const HEADERS: usize = 256;
/// Envoy's connections at once.
const CONNECTIONS: usize = 256;

/// The group of the only process that may ask, once it runs.
pub(super) type Asker = Arc<OnceLock<Arc<Mutex<Option<Pid>>>>>;

/// Decides by the policy.
pub(super) struct Desk {
    pub(super) guard: Guard,
    pub(super) allow: Vec<Endpoint>,
    pub(super) forward_headers: BTreeSet<String>,
    /// `None` where the asker's number means nothing here, as in a container.
    pub(super) asker: Option<Asker>,
}

/// A server that answers until it is dropped.
pub(super) struct Authorization {
    _stop: DropGuard,
}

impl Authorization {
    pub(super) fn start(socket: &Path, desk: Desk) -> Result<Self> {
        let listen = || -> std::io::Result<StdListener> {
            let listener = StdListener::bind(socket)?;
            fs::set_permissions(socket, Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen().map_err(|error| {
            Error::new(
                ErrorKind::Dependency,
                format!("cannot listen for the network gateway's questions: {error}"),
            )
        })?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        executor::spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = serve(listener, Arc::new(desk), stopped.clone()) => {}
            }
        })?;
        Ok(Self {
            _stop: stop.drop_guard(),
        })
    }
}

async fn serve(listener: StdListener, desk: Arc<Desk>, stopped: CancellationToken) {
    let Ok(listener) = UnixListener::from_std(listener) else {
        return;
    };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: what Envoy cannot ask, it denies.
            tokio::task::yield_now().await;
            continue;
        };
        if !desk.knows(&stream) {
            continue;
        }
        let (desk, stopped) = (Arc::clone(&desk), stopped.clone());
        let spawned = executor::spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                // A connection that breaks is Envoy's to open again.
                _ = converse(stream, &desk) => {}
            }
            drop(place);
        });
        if spawned.is_err() {
            return;
        }
    }
}

/// Answers the questions of one connection.
async fn converse(mut stream: UnixStream, desk: &Desk) -> std::io::Result<()> {
    let mut buffer: Vec<u8> = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = memchr::memmem::find(&buffer, b"\r\n\r\n") {
                break at + 4;
            }
            if buffer.len() > HEAD_BYTES || stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let head: Vec<u8> = buffer.drain(..end).collect();
        let Some(question) = Question::parse(&head) else {
            return Ok(());
        };
        let answer = answer(&desk.decide(question).await);
        stream.write_all(&answer).await?;
    }
}

/// A question as it came.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
}

impl Question {
    /// Reads a head. `None` for one that Envoy would not write, such as one with a body.
    fn parse(head: &[u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        if !parsed.parse(head).ok()?.is_complete() {
            return None;
        }
        let headers: Vec<(String, String)> = parsed
            .headers
            .iter()
            .map(|header| {
                let value = String::from_utf8_lossy(header.value).into_owned();
                (header.name.to_ascii_lowercase(), value)
            })
            .collect();
        let framed = |(name, value): &(String, String)| match name.as_str() {
            "content-length" => value.trim() != "0",
            "transfer-encoding" => true,
            _ => false,
        };
        if headers.iter().any(framed) {
            return None;
        }
        Some(Self {
            method: parsed.method?.to_owned(),
            target: parsed.path?.to_owned(),
            headers,
        })
    }
}

impl Desk {
    /// Whether Envoy itself asks, and not somebody who got at the socket.
    fn knows(&self, stream: &UnixStream) -> bool {
        let Some(asker) = &self.asker else {
            return true;
        };
        let group = asker.get().and_then(|group| *group.lock());
        let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
        match (group, peer.and_then(Pid::from_raw)) {
            (Some(group), Some(peer)) => getpgid(Some(peer)) == Ok(group),
            _ => false,
        }
    }

    async fn decide(&self, question: Question) -> Decision {
        match self.request(question) {
            Some(request) => self.guard.decide(request).await,
            None => Decision::refusal(),
        }
    }

    /// What the question is about; `None` for what is denied without asking.
    fn request(&self, question: Question) -> Option<Request> {
        let (index, path) = destination(&question.target)?;
        if climbs(path) {
            return None;
        }
        let endpoint = self.allow.get(index)?;
        Request::new(
            &question.method,
            "https",
            endpoint.host(),
            endpoint.port(),
            path,
            self.forwarded(question.headers),
        )
        .ok()
    }

    /// The headers that the policy forwards; several of one name become one.
    fn forwarded(&self, headers: Vec<(String, String)>) -> Vec<(String, String)> {
        let mut forwarded: Vec<(String, String)> = Vec::new();
        for (name, value) in headers {
            if !self.forward_headers.contains(&name) {
                continue;
            }
            match forwarded.iter_mut().find(|(other, _)| *other == name) {
                Some((_, all)) => {
                    all.push_str(if name == "cookie" { "; " } else { ", " });
                    all.push_str(&value);
                }
                None => forwarded.push((name, value)),
            }
        }
        forwarded
    }
}

/// Splits what Envoy's configuration put before the path from it.
fn destination(target: &str) -> Option<(usize, &str)> {
    let rest = target.strip_prefix('/')?;
    let (index, _) = rest.split_once('/')?;
    let path = rest.get(index.len()..)?;
    let digits = index.bytes().all(|byte| byte.is_ascii_digit());
    let index = index.parse().ok().filter(|_| digits)?;
    Some((index, path))
}

/// Whether escaped slashes hide a step upwards: a server that decodes them would see another path than the authorizer.
fn climbs(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let decoded = path
        .to_ascii_lowercase()
        .replace("%2e", ".")
        .replace("%2f", "/")
        .replace("%5c", "/")
        .replace('\\', "/");
    // What a server may append to a segment is no part of its name.
    let name = |segment: &str| segment.split(';').next().unwrap_or_default().to_owned();
    decoded
        .split('/')
        .any(|segment| matches!(name(segment).as_str(), "." | ".."))
}

fn answer(decision: &Decision) -> Vec<u8> {
    if !decision.allowed() {
        let reason = decision.reason().unwrap_or("denied by the network policy");
        return format!(
            "HTTP/1.1 {} Denied\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\r\n{reason}\n",
            decision.status(),
            reason.len() + 1,
        )
        .into_bytes();
    }
    let mut answer = String::from("HTTP/1.1 200 OK\r\n");
    for (name, value) in decision.set_headers() {
        answer.push_str(&format!("{name}: {value}\r\n"));
    }
    if !decision.remove_headers().is_empty() {
        let names = decision.remove_headers().join(",");
        answer.push_str(&format!("x-envoy-auth-headers-to-remove: {names}\r\n"));
    }
    answer.push_str("content-length: 0\r\n\r\n");
    answer.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_its_destination_first() {
        assert_eq!(destination("/0/a?b=1"), Some((0, "/a?b=1")));
        assert_eq!(destination("/12/"), Some((12, "/")));
        for target in ["/", "/0", "/x/a", "/+1/a", "0/a", "//a", "/0*"] {
            assert_eq!(destination(target), None, "{target}");
        }
    }

    #[test]
    fn hidden_steps_upwards_are_found() {
        for path in [
            "/a/..%2fb",
            "/a%2F..%2Fb",
            "/a/%2e%2e%2fb",
            "/a%5c..%5cb",
            "/..;x/a",
            "/a/.",
        ] {
            assert!(climbs(path), "{path}");
        }
        for path in [
            "/a/b",
            "/a..b/...",
            "/group%2Fproject",
            "/a?x=../b",
            "/.well-known/a",
        ] {
            assert!(!climbs(path), "{path}");
        }
    }

    #[test]
    fn only_heads_without_bodies_are_questions() {
        let question =
            Question::parse(b"GET /0/a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").unwrap();
        assert_eq!(
            (question.method.as_str(), question.target.as_str()),
            ("GET", "/0/a")
        );
        assert_eq!(
            Question::parse(b"GET /0/a HTTP/1.1\r\ncontent-length: 5\r\n\r\n"),
            None
        );
        assert_eq!(
            Question::parse(b"GET /0/a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"),
            None
        );
        assert_eq!(Question::parse(b"nonsense\r\n\r\n"), None);
    }

    #[test]
    fn answers_carry_what_was_decided() {
        let decision = Decision::allow()
            .set_header("authorization", "Bearer a")
            .unwrap()
            .remove_header("cookie")
            .unwrap();
        assert_eq!(
            String::from_utf8(answer(&decision)).unwrap(),
            "HTTP/1.1 200 OK\r\nauthorization: Bearer a\r\nx-envoy-auth-headers-to-remove: cookie\r\ncontent-length: 0\r\n\r\n"
        );
        let denied = Decision::deny(451)
            .unwrap()
            .with_reason("not here")
            .unwrap();
        assert!(
            String::from_utf8(answer(&denied))
                .unwrap()
                .ends_with("content-length: 9\r\n\r\nnot here\n")
        );
    }
}
