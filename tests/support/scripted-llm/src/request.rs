//! Reading HTTP/1.1 requests from a socket, and noticing that it closed.

use std::io;

use serde_json::{Map, Value};
use tokio::net::TcpStream;

/// Requests sent ahead while an answer is being written; past this the
/// connection is no longer watched, so a flood cannot fill memory.
const READ_AHEAD: usize = 1 << 20;
const MAX_HEADERS: usize = 256;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: Vec<u8>,
    pub(crate) keep_alive: bool,
}

impl Request {
    /// The value of `key` in the query string, undecoded.
    pub(crate) fn parameter(&self, key: &str) -> Option<&str> {
        self.query
            .as_deref()?
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(Value::as_str)
    }
}

/// Bytes that arrived and were not consumed yet.
#[derive(Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Completes when the client closes or resets the connection. A client
    /// that only closes its sending side counts as gone, too.
    pub(crate) async fn closed(&mut self, stream: &TcpStream) {
        while self.bytes.len() < READ_AHEAD {
            match self.fill(stream).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        std::future::pending().await
    }

    async fn fill(&mut self, stream: &TcpStream) -> io::Result<usize> {
        loop {
            stream.readable().await?;
            match self.try_fill(stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }

    fn try_fill(&mut self, stream: &TcpStream) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let count = stream.try_read(&mut buffer)?;
        self.bytes
            .extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }

    async fn more(&mut self, stream: &TcpStream) -> io::Result<()> {
        match self.fill(stream).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// The next request; None when the client closed between two requests.
    pub(crate) async fn request(&mut self, stream: &TcpStream) -> io::Result<Option<Request>> {
        let (mut request, head) = loop {
            if let Some(parsed) = parse_head(&self.bytes)? {
                break parsed;
            }
            if self.fill(stream).await? == 0 {
                return if self.bytes.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        };
        self.bytes.drain(..head);
        if request
            .header("expect")
            .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
        {
            write_all(stream, b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        request.body = if request
            .header("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
        {
            self.chunked(stream).await?
        } else {
            let length = match request.header("content-length") {
                Some(length) => length
                    .parse()
                    .map_err(|_| invalid("content-length is not a number"))?,
                None => 0,
            };
            self.take(stream, length).await?
        };
        Ok(Some(request))
    }

    async fn take(&mut self, stream: &TcpStream, count: usize) -> io::Result<Vec<u8>> {
        while self.bytes.len() < count {
            self.more(stream).await?;
        }
        let rest = self.bytes.split_off(count);
        Ok(std::mem::replace(&mut self.bytes, rest))
    }

    async fn chunked(&mut self, stream: &TcpStream) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            match httparse::parse_chunk_size(&self.bytes) {
                Ok(httparse::Status::Complete((line, size))) => {
                    self.bytes.drain(..line);
                    let size = usize::try_from(size).map_err(|_| invalid("chunk too large"))?;
                    let mut chunk = self.take(stream, size.saturating_add(2)).await?;
                    chunk.truncate(size);
                    if size == 0 {
                        return Ok(body);
                    }
                    body.append(&mut chunk);
                }
                Ok(httparse::Status::Partial) => self.more(stream).await?,
                Err(_) => return Err(invalid("the chunk size is not hexadecimal")),
            }
        }
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Option<(Request, usize)>> {
    let mut slots = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut slots);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(invalid(&error.to_string())),
    };
    let mut headers = Map::new();
    for header in parsed.headers.iter() {
        let value = String::from_utf8_lossy(header.value).into_owned();
        match headers.entry(header.name.to_ascii_lowercase()) {
            serde_json::map::Entry::Vacant(slot) => {
                slot.insert(Value::String(value));
            }
            serde_json::map::Entry::Occupied(mut slot) => {
                if let Value::String(before) = slot.get_mut() {
                    before.push_str(", ");
                    before.push_str(&value);
                }
            }
        }
    }
    let target = parsed.path.unwrap_or_default();
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (target, None),
    };
    let connection = headers
        .get("connection")
        .and_then(Value::as_str)
        .map(str::to_ascii_lowercase);
    let keep_alive = match connection.as_deref() {
        Some(value) if value.contains("close") => false,
        Some(value) if value.contains("keep-alive") => true,
        _ => parsed.version == Some(1),
    };
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query,
        headers,
        body: Vec::new(),
        keep_alive,
    };
    Ok(Some((request, length)))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Writes all of `bytes`, waiting while the client does not read.
pub(crate) async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
