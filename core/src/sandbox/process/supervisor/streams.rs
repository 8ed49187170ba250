//! The bytes of a process: what it writes, and what it reads.

use std::io::{self, Read, Write};
use std::time::Duration;

use super::{Source, Supervisor};
use crate::error::Error;
use crate::sandbox::process::state::{State, Stream};

/// How much of the end of standard error is kept to explain a failed start.
const LAST_WORDS: usize = 1024;

impl Supervisor {
    pub(super) fn read(&mut self, source: Source) {
        let is_stdout = source == Source::Stdout;
        let file = if is_stdout {
            &mut self.stdout
        } else {
            &mut self.stderr
        };
        let Some(open) = file else { return };
        let count = match open.read(&mut self.buffer) {
            Ok(count) => count,
            Err(problem) if waits(&problem) => return,
            Err(_) => 0,
        };
        if count == 0 {
            *file = None;
        }
        let bytes = self.buffer.get(..count).unwrap_or_default();
        if !is_stdout {
            remember(&mut self.last_words, bytes);
        }
        let limit = self.output_bytes;
        let too_much = self.shared.tell(|state| {
            let stream = if is_stdout {
                &mut state.stdout
            } else {
                &mut state.stderr
            };
            stream.ended = count == 0;
            let room = limit.saturating_sub(state.received);
            state.received = state.received.saturating_add(count as u64);
            let kept = usize::try_from(room).unwrap_or(usize::MAX).min(count);
            stream_of(state, is_stdout)
                .unread
                .extend_from_slice(bytes.get(..kept).unwrap_or_default());
            state.received > limit
        });
        if too_much {
            self.fail(
                Error::tool(format!(
                    "The program was ended because it wrote more than {limit} bytes of output."
                )),
                Duration::ZERO,
            );
        }
    }

    pub(super) fn write(&mut self) {
        let Some(input) = &mut self.input else { return };
        let mut state = self.shared.lock();
        let mut moved = false;
        let mut close = false;
        while !state.input.waiting.is_empty() {
            match input.write(state.input.waiting.as_slices().0) {
                Ok(count) => {
                    state.input.waiting.drain(..count);
                    state.input.written += count as u64;
                    moved = true;
                }
                Err(problem) if waits(&problem) => break,
                Err(_) => {
                    state.input.waiting.clear();
                    close = true;
                }
            }
        }
        close |= state.input.ending && state.input.waiting.is_empty();
        drop(state);
        if close {
            self.input = None;
        }
        if close || moved {
            self.shared.tell(|state| state.input.closed |= close);
        }
    }
}

fn stream_of(state: &mut State, is_stdout: bool) -> &mut Stream {
    if is_stdout {
        &mut state.stdout
    } else {
        &mut state.stderr
    }
}

fn remember(words: &mut Vec<u8>, bytes: &[u8]) {
    words.extend_from_slice(bytes);
    let excess = words.len().saturating_sub(LAST_WORDS);
    words.drain(..excess);
}

fn waits(problem: &io::Error) -> bool {
    matches!(
        problem.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
