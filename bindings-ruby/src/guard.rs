//! The edge of the extension: engine errors and panics leave it as Ruby exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use little_ghost::ErrorKind;
use magnus::{Error, Exception, RModule, Ruby, prelude::*};

use crate::value;

/// Why an exported function did not return.
pub(crate) enum Failure {
    Engine(little_ghost::Error),
    Ruby(Error),
}

impl From<little_ghost::Error> for Failure {
    fn from(error: little_ghost::Error) -> Self {
        Failure::Engine(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Ruby(error)
    }
}

/// Runs the body of an exported function.
///
/// A panic must not unwind into Ruby's C frames, and a `fatal` would take the process down, so a
/// panic becomes an ordinary `LittleGhost::Error`.
pub(crate) fn guard<T>(ruby: &Ruby, body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Failure::Ruby(error))) => Err(error),
        Ok(Err(Failure::Engine(error))) => Err(exception(ruby, &error)),
        Err(panic) => {
            let message = format!("the engine panicked: {}", panic_text(panic.as_ref()));
            Err(exception(
                ruby,
                &little_ghost::Error::new(ErrorKind::Error, message),
            ))
        }
    }
}

/// The public exception for `error`. Ruby builds it, because it owns the classes.
fn exception(ruby: &Ruby, error: &little_ghost::Error) -> Error {
    match build(ruby, error) {
        Ok(exception) => exception.into(),
        Err(problem) => problem,
    }
}

fn build(ruby: &Ruby, error: &little_ghost::Error) -> Result<Exception, Error> {
    let native: RModule = ruby
        .class_object()
        .const_get::<_, RModule>("LittleGhost")?
        .const_get("Native")?;
    let failure: RModule = native.const_get("Failure")?;
    failure.funcall("build", (value::to_ruby(ruby, &error.to_value())?,))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no message"
    }
}
