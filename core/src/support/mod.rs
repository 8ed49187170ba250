//! Small parts that the engine and its hosts share.

mod capture;
mod redactor;

pub use capture::{ContentCapture, DiagnosticKind, Scrubber};
pub use redactor::{REDACTED, Redactor};
