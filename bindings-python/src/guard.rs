//! The one door out of Rust: a panic becomes a Python exception and the process lives on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use little_ghost::{Error, ErrorKind};
use pyo3::prelude::*;

use crate::error::to_python;

/// Runs the body of an exported function.
///
/// Unwind safety is asserted because core keeps its state behind locks that do not poison, and a
/// run that panicked is reported as broken rather than used further.
pub(crate) fn guard<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        Err(to_python(&Error::new(
            ErrorKind::Error,
            format!("the engine failed unexpectedly: {}", message(&*panic)),
        )))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
