//! How a run ended, and what callers are told about a failure.

use std::sync::Arc;

use super::RunResult;
use crate::error::{Error, ErrorKind};
use crate::model::ModelResponse;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The agent finished.
    Completed,
    /// Execution or clean-up failed.
    Failed,
    /// The deadline ended the run; the text so far is kept.
    Partial,
    /// Cancellation ended the run.
    Cancelled,
}

impl Outcome {
    /// `"completed"`, `"failed"`, `"partial"` or `"cancelled"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Failed => "failed",
            Outcome::Partial => "partial",
            Outcome::Cancelled => "cancelled",
        }
    }
}

/// What is known of a run once it ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ending {
    pub(crate) outcome: Option<Outcome>,
    pub(crate) response: String,
    pub(crate) result: Option<Arc<RunResult>>,
    pub(crate) error: Option<Error>,
    /// The response of a single model request.
    pub(crate) model_response: Option<Arc<ModelResponse>>,
    /// A failure that the caller must get as an error, because no clean ending can be promised.
    pub(crate) raise: Option<Error>,
}

/// A text about `error` that is safe to show to a caller.
pub(crate) fn caller_message(error: &Error) -> String {
    if error.is(ErrorKind::UnsupportedInput) || error.is(ErrorKind::ToolLoop) {
        return error.message().to_owned();
    }
    let text = if error.is(ErrorKind::OutputLimit) {
        "The model reached its output limit before it finished. Try a narrower request."
    } else if error.is(ErrorKind::MalformedToolCall) {
        "The model produced an invalid tool call. Try a narrower request."
    } else {
        "Sorry, something went wrong while answering. Please try again."
    };
    text.to_owned()
}
