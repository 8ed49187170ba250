//! A tool that stands in for the form of the answer.
//!
//! Older models take either tools or a form of the answer. With both they are offered one more tool,
//! whose input is the answer; its call is read as the answer's text.

use serde_json::{Map, Value, json};

use super::traits::Traits;
use crate::model::{ModelRequest, OutputSchema};
use crate::protocol::schema_dialect::{Dialect, reduce};

/// The tool's name, unless the application has one of this name.
const NAME: &str = "final_answer";

/// The name of the tool, if the request needs one. When the model must call a tool, there is no
/// answer to give a form to.
pub(super) fn name(request: &ModelRequest, traits: Traits) -> Option<String> {
    let needed = !traits.schema_beside_tools
        && request.output_schema.is_some()
        && !request.tools.is_empty()
        && request.tool_choice.is_none();
    needed.then(|| {
        let mut name = NAME.to_owned();
        while request.tools.iter().any(|tool| tool.name() == name) {
            name.push('_');
        }
        name
    })
}

/// The tool as it is offered.
pub(super) fn declaration(name: &str, schema: &OutputSchema) -> Value {
    let about = "Gives the final answer. Call it when no other tool is needed.";
    let description = match &schema.description {
        Some(purpose) => format!("{about} {purpose}"),
        None => about.to_owned(),
    };
    json!({
        "name": name, "description": description,
        "parametersJsonSchema": reduce(Dialect::Gemini, &schema.schema).schema,
    })
}

/// Has the model call a tool, unless the application configured something else.
pub(super) fn require(config: &mut Map<String, Value>) {
    let calling = config
        .entry("functionCallingConfig")
        .or_insert_with(|| json!({}));
    if let Some(calling) = calling.as_object_mut() {
        calling.entry("mode").or_insert_with(|| json!("ANY"));
    }
}
