//! Arguments of a tool call, as models write them.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::http::shorten;
use crate::message::{ToolUse, kind_of};

/// Characters of faulty arguments that a message may show.
const MAX_SHOWN: usize = 120;

/// Builds the call, or says what is wrong with it. Empty arguments are an empty object.
pub(super) fn tool_use(id: &str, name: &str, arguments: &str) -> Result<ToolUse> {
    if name.is_empty() {
        return Err(malformed(
            "the model called a tool without naming it".into(),
        ));
    }
    let shown = shorten(name, 64);
    if id.is_empty() {
        return Err(malformed(format!(
            "the call of tool {shown:?} has no id, so its result could not be matched"
        )));
    }
    Ok(ToolUse {
        id: id.to_owned(),
        name: name.to_owned(),
        input: input(&shown, arguments)?,
    })
}

fn input(name: &str, arguments: &str) -> Result<Map<String, Value>> {
    let arguments = arguments.trim();
    if arguments.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => Ok(input),
        Ok(other) => Err(malformed(format!(
            "the arguments of tool {name:?} must be a JSON object, not {}",
            kind_of(&other)
        ))),
        Err(problem) => Err(malformed(format!(
            "the arguments of tool {name:?} are not valid JSON ({problem}): {:?}",
            shorten(arguments, MAX_SHOWN)
        ))),
    }
}

/// Whether `arguments` are one whole object, so that nothing can be missing from them.
pub(super) fn is_whole(arguments: &str) -> bool {
    arguments.trim_end().ends_with('}')
        && serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

fn malformed(message: String) -> Error {
    Error::new(ErrorKind::MalformedToolCall, message)
}
