//! Prints what one streamed text delta costs, from the socket to the consumer.
//!
//! `cargo run --release -p little-ghost --example decode_speed`
//!
//! A thread serves 100,000 Chat Completions deltas on loopback as fast as the client takes them.
//! The time covers reading, decoding the frames and the JSON, and handing the events over.
#![allow(clippy::print_stdout)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use futures_util::StreamExt;
use little_ghost::provider::{Api, ModelResolver, ProviderConfig};
use little_ghost::{Agent, Error, ErrorKind, Runtime, StreamEvent};

const DELTAS: usize = 100_000;
const ROUNDS: usize = 5;

type Failure = Box<dyn std::error::Error>;

fn answer() -> Vec<u8> {
    let delta = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"scripted","choices":[{"index":0,"delta":{"content":"tok "},"finish_reason":null}]}"#;
    let end =
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let mut bytes = format!("{delta}\n\n").repeat(DELTAS).into_bytes();
    bytes.extend_from_slice(format!("{end}\n\ndata: [DONE]\n\n").as_bytes());
    bytes
}

fn serve(mut socket: TcpStream, body: &[u8]) -> std::io::Result<()> {
    let mut request = [0_u8; 65_536];
    let mut seen = 0;
    while seen == 0 || !request.get(..seen).unwrap_or_default().ends_with(b"}") {
        let free = request.get_mut(seen..).unwrap_or_default();
        seen += socket.read(free)?;
    }
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")?;
    socket.write_all(body)
}

async fn round(agent: &Agent) -> Result<usize, Error> {
    let mut stream = agent.stream_ask("Talk.")?;
    let mut deltas = 0;
    while let Some(event) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. }) {
            deltas += 1;
        }
    }
    Ok(deltas)
}

fn main() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}/v1", listener.local_addr()?);
    std::thread::spawn(move || {
        let body = answer();
        for socket in listener.incoming().flatten() {
            let _ = serve(socket, &body);
        }
    });
    let resolver = ModelResolver::builder()
        .provider(
            "local",
            ProviderConfig::openai_compatible(base_url).api(Api::ChatCompletions),
        )
        .build()?;
    let agent = Agent::builder("speed")
        .model("local:scripted")
        .system_prompt("Talk.")
        .runtime(Runtime::new(resolver))
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let deltas = runtime.block_on(round(&agent))?;
        if deltas != DELTAS {
            let problem = format!("{deltas} of {DELTAS} deltas arrived");
            return Err(Error::new(ErrorKind::Error, problem).into());
        }
        println!(
            "{} ns per delta",
            begun.elapsed().as_nanos() / DELTAS as u128
        );
    }
    Ok(())
}
