//! The bytes of an answer, as the scripted server sends them.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::case::Case;
use super::variant::is_stream;
use crate::Server;

/// One recorded stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The path of its request, below the base URL.
    pub path: String,
    /// The body of the answer.
    pub body: Vec<u8>,
}

/// Every successful stream of `case`, without what breaks it off.
pub async fn streams(case: &Case) -> Vec<Stream> {
    let mut streams = Vec::new();
    for exchange in &case.tape.exchanges {
        let mut answer = exchange.answer.clone();
        for key in ["then", "after_frames", "split", "headers", "match"] {
            answer.shift_remove(key);
        }
        if is_stream(&answer) {
            let scenario = Server::shared().scenario(&[Value::Object(answer)]).await;
            streams.push(Stream {
                path: exchange.expect.path.clone(),
                body: fetch(&scenario.base_url).await,
            });
        }
    }
    streams
}

async fn fetch(base_url: &str) -> Vec<u8> {
    let (host, path) = base_url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    );
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = find(&answer, b"\r\n\r\n").unwrap();
    unchunk(&answer[end + 4..])
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = find(rest, b"\r\n").unwrap();
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        let begin = line + 2;
        body.extend_from_slice(&rest[begin..begin + size]);
        rest = &rest[begin + size + 2..];
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
