//! What was tried before credentials were found, or were not.

use crate::error::{Error, ErrorKind, Retry};

/// What one source has.
pub(super) enum Search<T> {
    Found(T),
    /// It is not set up, for this reason; the next source is asked.
    Absent(String),
}

/// The sources that were asked in vain.
pub(super) struct Trail {
    /// Such as `AWS credentials`.
    what: &'static str,
    skipped: Vec<String>,
}

impl Trail {
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            skipped: Vec::new(),
        }
    }

    pub(super) fn skip(&mut self, source: &str, why: &str) {
        self.skipped.push(format!("{source}: {why}"));
    }

    /// The error for a source that is set up and yet failed: asking another one would hide that.
    pub(super) fn failed(&self, source: &str, error: &Error) -> Error {
        if error.kind() == ErrorKind::DeadlineExceeded {
            return error.clone();
        }
        let mut message = format!("no {}: {source}: {}", self.what, error.message());
        if !self.skipped.is_empty() {
            message.push_str(&format!(" (before it, {})", self.skipped.join("; ")));
        }
        // What may pass is no mistake of a configuration.
        let kind = match error.retry() {
            Retry::Never => ErrorKind::Credential,
            _ => ErrorKind::Http,
        };
        Error::new(kind, message)
            .with_http(error.status(), None)
            .with_retry(error.retry())
            .with_source(error.clone())
    }

    /// The error for no source that is set up.
    pub(super) fn nothing(&self, advice: &str) -> Error {
        Error::new(
            ErrorKind::Credential,
            format!(
                "no {} were found; {advice}. Tried: {}",
                self.what,
                self.skipped.join("; ")
            ),
        )
    }
}

/// A failure that trying again cannot help.
pub(super) fn unusable(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Credential, message)
}
