//! Small parts that the engine and its hosts share.

mod capture;
mod redactor;
mod registry;

pub use capture::{ContentCapture, DiagnosticKind, Scrubber};
pub use redactor::{REDACTED, Redactor};
pub(crate) use registry::{Registration, Registry};
