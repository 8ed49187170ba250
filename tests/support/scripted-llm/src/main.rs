//! A scripted LLM server: tests describe what a provider answers, byte by
//! byte, and read back what it was asked and when its clients left.
//!
//! The README next to this crate documents the control API and every field.

mod chat;
mod completion;
mod connection;
mod control;
mod eventstream;
mod exchange;
mod frames;
mod journal;
mod playback;
mod reply;
mod request;
mod responses;
mod scenario;
mod script;
mod server;

use std::io::{self, Read, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: scripted-llm [--port N] [--stay]";

struct Options {
    port: u16,
    stay: bool,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        port: 0,
        stay: false,
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--stay" => options.stay = true,
            "--port" => {
                options.port = arguments
                    .next()
                    .and_then(|port| port.parse().ok())
                    .ok_or("--port needs a number from 0 to 65535")?;
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if !options.stay {
        // A blocking read in a thread of its own: when the test that started
        // us ends, however it ends, its end of the pipe closes and we go too.
        std::thread::spawn(|| {
            let _ = io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink());
            std::process::exit(0);
        });
    }
    match serve(options.port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "scripted-llm: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(port: u16) -> io::Result<()> {
    server::raise_file_limit();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(server::run(port, |address| {
            let mut out = io::stdout().lock();
            writeln!(out, "listening http://{address}")?;
            out.flush()
        }))
}
