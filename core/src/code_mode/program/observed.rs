//! What a program shows of itself between two looks.

use parking_lot::Mutex;
use serde_json::Value;

use crate::code_mode::delivery::deliver;
use crate::code_mode::{ProgramResult, ProgramStatus};
use crate::error::{Error, ErrorKind, Result};
use crate::message::Attachment;
use crate::tool::truncate_middle_with_token_budget;

/// How a program ended.
#[derive(Clone, Debug)]
pub(in crate::code_mode) enum End {
    /// By itself, with its value.
    Completed(Option<Value>),
    /// It failed, for this reason.
    Failed(String),
    /// On request.
    Terminated,
    /// With something that is no result.
    Raised(Error),
}

/// What a program shows of itself between two looks.
pub(in crate::code_mode) struct Observed {
    /// What stands between two texts.
    separator: &'static str,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    output: String,
    /// Bytes of output of the whole program.
    total: u64,
    attachments: Vec<(String, Attachment)>,
    end: Option<End>,
}

impl Observed {
    pub(super) fn new(separator: &'static str) -> Self {
        Self {
            separator,
            seen: Mutex::default(),
        }
    }

    /// Adds a text of the program. The answer is how many bytes it has shown.
    pub(super) fn say(&self, text: &str) -> u64 {
        let mut seen = self.seen.lock();
        if !seen.output.is_empty() {
            seen.output.push_str(self.separator);
        }
        seen.output.push_str(text);
        seen.total += text.len() as u64;
        seen.total
    }

    /// Adds what the process printed.
    pub(super) fn print(&self, text: &str) -> u64 {
        let mut seen = self.seen.lock();
        seen.output.push_str(text);
        seen.total += text.len() as u64;
        seen.total
    }

    /// Keeps what a tool call brought beside its value.
    pub(super) fn keep(&self, tool: &str, attachments: Vec<Attachment>) {
        let mut seen = self.seen.lock();
        let kept = attachments.into_iter().map(|one| (tool.to_owned(), one));
        seen.attachments.extend(kept);
    }

    pub(super) fn finish(&self, end: End) {
        self.seen.lock().end = Some(end);
    }

    /// How it ended, if it has.
    pub(in crate::code_mode) fn end(&self) -> Option<End> {
        self.seen.lock().end.clone()
    }

    /// What a program that has ended left to look at, with the output cut to `tokens`.
    ///
    /// # Errors
    /// What the program ended with, when that is no result.
    pub(in crate::code_mode) fn look(&self, tokens: Option<usize>) -> Result<ProgramResult> {
        let mut result = self.look_on(tokens);
        match self.end() {
            None => {}
            Some(End::Completed(value)) => {
                result.status = ProgramStatus::Completed;
                result.value = value;
            }
            Some(End::Terminated) => result.status = ProgramStatus::Terminated,
            Some(End::Failed(error)) => {
                result.status = ProgramStatus::Error;
                result.error = Some(error);
            }
            Some(End::Raised(error)) => return Err(error),
        }
        Ok(result)
    }

    /// As [`look`](Self::look), of a program that was stopped: how it might have ended otherwise does not matter any more.
    pub(in crate::code_mode) fn look_at_stopped(
        &self,
        tokens: Option<usize>,
    ) -> Result<ProgramResult> {
        if let Some(End::Raised(error)) = self.end()
            && !error.is(ErrorKind::Tool)
        {
            return Err(error);
        }
        let mut result = self.look_on(tokens);
        result.status = ProgramStatus::Terminated;
        Ok(result)
    }

    /// What a program that goes on has shown since the last look.
    pub(in crate::code_mode) fn look_on(&self, tokens: Option<usize>) -> ProgramResult {
        let (mut output, attachments) = {
            let mut seen = self.seen.lock();
            let output = std::mem::take(&mut seen.output);
            (output, std::mem::take(&mut seen.attachments))
        };
        if let Some(tokens) = tokens {
            let (cut, _) = truncate_middle_with_token_budget(&output, tokens);
            output = cut.into_owned();
        }
        let delivery = deliver(attachments);
        for remark in delivery.remarks {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(&remark);
        }
        ProgramResult {
            output,
            status: ProgramStatus::StillWorking,
            artifacts: delivery.artifacts,
            presentation_content: delivery.content,
            ..ProgramResult::default()
        }
    }
}
