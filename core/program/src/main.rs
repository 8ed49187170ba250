//! Runs one JavaScript program for LittleGhost, and nothing else.
//!
//! The first frame on standard input holds the program and its tools. From then on the program's calls, texts and end
//! go out on standard output, and results come in on standard input. The process has no way to files,
//! sockets or other processes, and the one that started it trusts nothing that it says.

mod frame;
mod program;

use std::process::ExitCode;

/// Standard input or output is broken, so that there is nobody to tell.
const BROKEN: u8 = 3;

fn main() -> ExitCode {
    match program::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(BROKEN),
    }
}
