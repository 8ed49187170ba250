//! The conversation with the process of a program, from the first frame to its end.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::calls::{Call, Calls};
use super::{End, Observed, Plan};
use crate::code_mode::CallResult;
use crate::code_mode::protocol::{FrameBuffer, dump};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{ExitStatus, Output, Process};

/// How long one read waits; the process is looked after meanwhile.
const READ: Duration = Duration::from_secs(60);
/// How long a program that is done may take to leave, while its last output comes in.
const LEAVE: Duration = Duration::from_millis(300);
/// The longest error that is kept of a program, in bytes.
const MOST_ERROR_BYTES: usize = 16 * 1024;
/// As much is shown of a frame that is none.
const MOST_SHOWN_CHARACTERS: usize = 80;
/// The longest identifier of a call.
const MOST_ID_BYTES: usize = 64;

type Writing = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// The conversation with the process of a program.
pub(super) struct Exchange<'a> {
    plan: &'a Plan,
    observed: &'a Observed,
    process: Arc<dyn Process>,
    frames: FrameBuffer,
    printed: Text,
    calls: Calls,
    outgoing: VecDeque<Vec<u8>>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(plan: &'a Plan, observed: &'a Observed, process: Arc<dyn Process>) -> Self {
        let limits = &plan.limits;
        Self {
            plan,
            observed,
            process,
            frames: FrameBuffer::default(),
            printed: Text::default(),
            calls: Calls::new(
                Arc::clone(&plan.broker),
                limits.concurrency,
                limits.tool_calls,
            ),
            outgoing: VecDeque::new(),
        }
    }

    /// Plays the program to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for frames that are none, [`ErrorKind::Tool`] for too much output, and what ends more than
    /// the program.
    pub(super) async fn play(mut self) -> Result<End> {
        self.outgoing.push_back(dump(&self.plan.request())?);
        let process = Arc::clone(&self.process);
        let mut reading = Box::pin(process.read(READ));
        let mut writing: Option<Writing> = None;
        loop {
            if writing.is_none()
                && let Some(frame) = self.outgoing.pop_front()
            {
                let process = Arc::clone(&self.process);
                writing = Some(Box::pin(async move { process.write(&frame).await }));
            }
            tokio::select! {
                output = &mut reading => {
                    let output = match output {
                        Ok(output) => output,
                        Err(error) if error.is(ErrorKind::Tool) => return Ok(failed(error.message())),
                        Err(error) => return Err(error),
                    };
                    if let Some(end) = self.hear(&output)? {
                        return self.leave(end, output.eof).await;
                    }
                    if output.eof {
                        return self.explain().await;
                    }
                    reading = Box::pin(process.read(READ));
                }
                // A process that does not read any more is about to end, and then says so itself.
                _ = done(&mut writing) => writing = None,
                called = self.calls.next() => {
                    let (tool, called) = called?;
                    self.answer(&tool, called)?;
                }
            }
        }
    }

    /// Reads what came in; the end, if the program told it.
    fn hear(&mut self, output: &Output) -> Result<Option<End>> {
        let printed = self.printed.take(&output.stderr, output.eof);
        if !printed.is_empty() {
            self.check(self.observed.print(&printed))?;
        }
        self.frames.push(&output.stdout);
        let next = |frames: &mut FrameBuffer| {
            let read = frames.next();
            read.map_err(|problem| broken(problem.message()))
        };
        while let Some(frame) = next(&mut self.frames)? {
            if let Some(end) = self.obey(frame)? {
                return Ok(Some(end));
            }
        }
        if output.eof && self.frames.is_cut() {
            return Err(broken("the program ended within a frame"));
        }
        Ok(None)
    }

    fn obey(&mut self, mut frame: Value) -> Result<Option<End>> {
        let kind = frame
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let mut take = |key: &str| frame.get_mut(key).map(Value::take).unwrap_or_default();
        match kind.as_str() {
            "text" => {
                let Value::String(text) = take("value") else {
                    return Err(broken("a frame of type text needs a string as value"));
                };
                self.check(self.observed.say(&text))?;
            }
            "call" => {
                let (Value::String(id), Value::String(name)) = (take("id"), take("name")) else {
                    return Err(broken(
                        "a frame of type call needs an id and a name that are strings",
                    ));
                };
                if id.len() > MOST_ID_BYTES {
                    return Err(broken("the id of a call is longer than 64 bytes"));
                }
                let arguments = take("arguments");
                let call = Call {
                    id,
                    name,
                    arguments,
                };
                if let Some(refused) = self.calls.add(call) {
                    self.answer("", refused)?;
                }
            }
            "done" => {
                let value = Some(take("value")).filter(|value| !value.is_null());
                return Ok(Some(End::Completed(value)));
            }
            "error" => {
                let error = take("error");
                return Ok(Some(failed(error.as_str().unwrap_or("the program failed"))));
            }
            _ => {
                return Err(broken(&format!(
                    "a frame must be an object of type text, call, done or error, not {}",
                    brief(&frame)
                )));
            }
        }
        Ok(None)
    }

    fn answer(&mut self, tool: &str, called: CallResult) -> Result<()> {
        let CallResult { id, answer } = called;
        self.observed.keep(tool, answer.attachments);
        let frame = match answer.error {
            None => json!({"type": "result", "id": id, "value": answer.value}),
            Some(error) => json!({"type": "result", "id": id, "error": error}),
        };
        let frame = dump(&frame).or_else(|_| {
            let error = "The result is too large for a program.";
            dump(&json!({"type": "result", "id": id, "error": error}))
        })?;
        self.outgoing.push_back(frame);
        Ok(())
    }

    fn check(&self, shown: u64) -> Result<()> {
        let most = self.plan.limits.output_bytes;
        if shown > most {
            return Err(Error::tool(format!(
                "The program was ended, because its output is over {most} bytes (output_bytes)."
            )));
        }
        Ok(())
    }

    /// Waits a moment for the process to leave, because what it printed last may come after its last frame.
    async fn leave(mut self, end: End, eof: bool) -> Result<End> {
        let until = Instant::now() + LEAVE;
        let mut is_over = eof;
        while !is_over {
            let Ok(Ok(output)) = timeout_at(until, self.process.read(LEAVE)).await else {
                break;
            };
            is_over = output.eof || Instant::now() >= until;
            let printed = self.printed.take(&output.stderr, is_over);
            if !printed.is_empty() {
                self.check(self.observed.print(&printed))?;
            }
        }
        Ok(end)
    }

    /// Says why a process ended that told no end.
    async fn explain(self) -> Result<End> {
        match self.process.wait(Some(LEAVE), true).await {
            Ok(status) => Ok(failed(&reason(status))),
            Err(error) if error.is(ErrorKind::Tool) => Ok(failed(error.message())),
            Err(error) => Err(error),
        }
    }
}

/// Completes with what is being written, if anything is.
async fn done(writing: &mut Option<Writing>) -> Result<()> {
    match writing {
        Some(writing) => writing.await,
        None => std::future::pending().await,
    }
}

fn failed(error: &str) -> End {
    let mut end = error.len().min(MOST_ERROR_BYTES);
    while !error.is_char_boundary(end) {
        end -= 1;
    }
    End::Failed(error.get(..end).unwrap_or_default().to_owned())
}

/// The program wrote to the pipe that carries its calls and texts. The source is what its model reads.
fn broken(problem: &str) -> Error {
    let told = format!(
        "The program was ended, because it broke the connection that its calls of tools and its texts go through: \
         {problem}. Leave the pipes that the program was started with alone; show what you have with text or print, \
         and end with finish."
    );
    Error::new(ErrorKind::Protocol, told.clone()).with_source(Error::tool(told))
}

/// The beginning of a frame that is no frame.
fn brief(frame: &Value) -> String {
    let shown = match frame.get("type") {
        Some(kind) => format!("type {kind}"),
        None => frame.to_string(),
    };
    shown.chars().take(MOST_SHOWN_CHARACTERS).collect()
}

fn reason(status: ExitStatus) -> String {
    // A sandbox that has a process of its own around the program hands a signal on as 128 and its number.
    let signal = status.signal.or_else(|| {
        status
            .code
            .filter(|code| *code > 128)
            .map(|code| code - 128)
    });
    match (signal, status.code) {
        (Some(SIGXCPU), _) => "The program used up its computing time (cpu_seconds).".into(),
        (Some(SIGXFSZ), _) => "The program wrote a file that is too large (file_bytes).".into(),
        (Some(signal), _) => format!("The program's process was ended by signal {signal}."),
        (None, Some(code)) => format!("The program's process ended by itself, with status {code}."),
        (None, None) => "The program's process ended by itself.".into(),
    }
}

const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// Bytes that become text, where a character may be cut between two of them.
#[derive(Default)]
struct Text {
    rest: Vec<u8>,
}

impl Text {
    /// The text so far; with `is_last`, also of a character that was never completed.
    fn take(&mut self, bytes: &[u8], is_last: bool) -> String {
        self.rest.extend_from_slice(bytes);
        let cut = match std::str::from_utf8(&self.rest) {
            Err(problem) if problem.error_len().is_none() && !is_last => problem.valid_up_to(),
            _ => self.rest.len(),
        };
        let rest = self.rest.split_off(cut);
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        self.rest = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_survive_being_cut() {
        let mut text = Text::default();
        assert_eq!(text.take(b"a\xc3", false), "a");
        assert_eq!(text.take(b"\xa9b\xff", false), "éb\u{fffd}");
        assert_eq!(text.take(b"\xc3", false), "");
        assert_eq!(text.take(b"", true), "\u{fffd}");
    }

    #[test]
    fn an_end_by_signal_is_explained_through_every_sandbox() {
        let ended = |code, signal| ExitStatus {
            pid: 1,
            code,
            signal,
        };
        assert!(reason(ended(Some(128 + SIGXCPU), None)).contains("cpu_seconds"));
        assert!(reason(ended(None, Some(SIGXFSZ))).contains("file_bytes"));
        assert!(reason(ended(None, Some(9))).contains("signal 9"));
        assert!(reason(ended(Some(3), None)).contains("status 3"));
    }
}
