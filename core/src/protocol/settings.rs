//! Settings that the OpenAI formats share.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// Settings that are sent under their own name, in the order in which they are sent.
const PASSED: &[&str] = &[
    "temperature",
    "top_p",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "service_tier",
    "user",
    "metadata",
];

/// Copies the settings that keep their name; the others are for the caller or are ignored.
pub(super) fn pass(settings: &Map<String, Value>, body: &mut Map<String, Value>) {
    for name in PASSED {
        if let Some(value) = present(settings, name) {
            body.insert((*name).to_owned(), value.clone());
        }
    }
}

/// A setting that is there and not null.
pub(super) fn present<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    settings.get(name).filter(|value| !value.is_null())
}

/// Merges the object `extra_body` over the finished body: the way to send a field that the
/// engine does not know. Its top-level keys replace those of the body.
pub(super) fn merge_extra(
    settings: &Map<String, Value>,
    body: &mut Map<String, Value>,
) -> Result<()> {
    match present(settings, "extra_body") {
        None => Ok(()),
        Some(Value::Object(extra)) => {
            for (key, value) in extra {
                body.insert(key.clone(), value.clone());
            }
            Ok(())
        }
        Some(other) => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "the setting extra_body must be an object whose keys are added to the request, \
                 not {}",
                kind_of(other)
            ),
        )),
    }
}
