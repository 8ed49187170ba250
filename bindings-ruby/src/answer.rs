//! Answers to what the engine asks, by number: values, or what an exception says of itself.

use little_ghost::host::HostFailure;
use little_ghost::{ErrorKind, HostException};
use magnus::{Error, Ruby, Value};
use serde_json::Value as Json;

use crate::guard::guard;
use crate::value;

/// Where the engine waits for answers.
pub(crate) trait Asking {
    /// Answers the question `id`; when nobody waits for it any more, nothing happens.
    fn answer(&self, id: u64, answer: Result<Json, HostFailure>);
}

/// What came of a question.
pub(crate) fn complete<T: Asking>(
    ruby: &Ruby,
    asking: &T,
    id: u64,
    answer: Value,
) -> Result<(), Error> {
    guard(ruby, || {
        asking.answer(id, Ok(value::from_ruby(ruby, answer)?));
        Ok(())
    })
}

/// What kept a question from being answered: kind, class name and message of an exception, and the number that Ruby
/// keeps it under, or zero.
pub(crate) fn fail<T: Asking>(
    ruby: &Ruby,
    asking: &T,
    id: u64,
    kind: String,
    class: String,
    message: String,
    exception: u64,
) -> Result<(), Error> {
    guard(ruby, || {
        asking.answer(id, Err(failure(&kind, class, message, exception)));
        Ok(())
    })
}

pub(crate) fn failure(kind: &str, class: String, message: String, id: u64) -> HostFailure {
    HostFailure {
        kind: ErrorKind::from_name(kind).unwrap_or(ErrorKind::Host),
        exception: HostException { id, class },
        message,
        status: None,
        body: None,
    }
}
