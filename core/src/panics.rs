//! Panics of the application's code, which fail the run they happen in and nothing else.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

use crate::error::{Error, ErrorKind, Result};

/// Awaits `code`; its panic becomes an error that names `culprit`, such as `"the model"`.
///
/// What the panic said is left to the process's panic hook, because it may hold anything.
pub(crate) fn caught<T>(
    culprit: &str,
    code: impl Future<Output = Result<T>>,
) -> impl Future<Output = Result<T>> {
    // No async function: that would have room for `code` twice.
    AssertUnwindSafe(code)
        .catch_unwind()
        .map(move |result| result.unwrap_or_else(|_| Err(panicked(culprit))))
}

/// As [`caught`], for code that does not wait.
pub(crate) fn caught_call<T>(culprit: &str, code: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|_| Err(panicked(culprit)))
}

pub(crate) fn panicked(culprit: &str) -> Error {
    Error::new(
        ErrorKind::Error,
        format!("{culprit} panicked; the panic's message is where the process reports its panics"),
    )
}
