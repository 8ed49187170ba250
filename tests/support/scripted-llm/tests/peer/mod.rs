//! The program under test, and a client that sees every byte.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_scripted-llm"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim_end()
            .strip_prefix("listening http://")
            .expect(&line)
            .to_owned();
        Self { process, address }
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        // Nothing here takes long: a test that waits in vain must fail.
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Client {
            reader: BufReader::new(stream),
        }
    }

    pub(crate) fn control(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut client = self.connect();
        client.send(method, path, &body.to_string());
        let answer = client.answer();
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    pub(crate) fn scenario(&self, spec: &Value) -> Scenario<'_> {
        let (status, made) = self.control("POST", "/_scenarios", spec);
        assert_eq!(status, 200, "{made}");
        let id = made["id"].as_str().unwrap().to_owned();
        let base = format!("http://{}/s/{id}/v1/", self.address);
        assert_eq!(made["base_url"], base.as_str());
        Scenario { server: self, id }
    }

    /// A scenario of one exchange.
    pub(crate) fn exchange(&self, exchange: Value) -> Scenario<'_> {
        self.scenario(&serde_json::json!({"exchanges": [exchange]}))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

pub(crate) struct Scenario<'a> {
    pub(crate) server: &'a Server,
    pub(crate) id: String,
}

impl Scenario<'_> {
    /// Asks on a connection of its own.
    pub(crate) fn ask(&self) -> Client {
        let mut client = self.server.connect();
        self.ask_on(&mut client);
        client
    }

    pub(crate) fn ask_on(&self, client: &mut Client) {
        let path = format!("/s/{}/v1/chat/completions", self.id);
        client.send("POST", &path, r#"{"model":"m"}"#);
    }

    pub(crate) fn journal(&self) -> Vec<Value> {
        let path = format!("/_scenarios/{}/journal", self.id);
        self.requests(&path).1
    }

    pub(crate) fn wait(&self, query: &str) -> (u16, Vec<Value>) {
        self.requests(&format!("/_scenarios/{}/wait?{query}", self.id))
    }

    fn requests(&self, path: &str) -> (u16, Vec<Value>) {
        let (status, mut journal) = self.server.control("GET", path, &Value::Null);
        match journal["requests"].take() {
            Value::Array(requests) => (status, requests),
            _ => panic!("no requests in {journal}"),
        }
    }

    pub(crate) fn signal(&self, label: &str) {
        let path = format!("/_scenarios/{}/signal", self.id);
        let body = serde_json::json!({ "label": label });
        assert_eq!(self.server.control("POST", &path, &body).0, 200);
    }
}

pub(crate) struct Client {
    pub(crate) reader: BufReader<TcpStream>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The pieces the body came in.
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Whether the body ended as HTTP has it.
    pub(crate) complete: bool,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

impl Client {
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer key\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn head(&mut self) -> String {
        let mut head = String::new();
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "the connection closed after {head:?}");
            if line == "\r\n" {
                return head;
            }
            head.push_str(&line);
        }
    }

    /// One chunk of a chunked body; None when the connection closed instead.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.line();
        if line.is_empty() {
            return None;
        }
        let size = usize::from_str_radix(line.trim_end(), 16).expect(&line);
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).unwrap();
        assert_eq!(chunk.split_off(size), b"\r\n");
        Some(chunk)
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut chunks = Vec::new();
        let mut complete = true;
        if head.contains("transfer-encoding: chunked\r\n") {
            loop {
                match self.chunk() {
                    Some(chunk) if chunk.is_empty() => break,
                    Some(chunk) => chunks.push(chunk),
                    None => {
                        complete = false;
                        break;
                    }
                }
            }
        } else {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            self.reader.read_exact(&mut body).unwrap();
            chunks.push(body);
        }
        Answer {
            status,
            head,
            body: chunks.concat(),
            chunks,
            complete,
        }
    }
}
