//! The tools that a model controls programs with.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{ProgramResult, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::tool::{RunContext, Tool, ToolDefinition};

/// Their names.
pub(crate) const CONTROLS: [&str; 3] = ["exec", "wait", "stop"];

/// One of the tools that a model controls programs with.
pub(crate) struct Control {
    definition: ToolDefinition,
}

impl Control {
    /// All of them, for programs in `language`.
    pub(crate) fn all(language: &str) -> Result<Vec<Arc<dyn Tool>>> {
        let described = [
            format!(
                "Runs one {language} program in a fresh process of its own, and watches it for at most one minute. \
                 Answers completed, error or terminated when the program has ended, and still_working when it goes on."
            ),
            "Watches the program that is still working, for at most one more minute, and answers what it has shown \
             since. It neither resumes nor restarts the program. Use it only after still_working."
                .to_owned(),
            "Ends the program that is still working, when its result is no longer needed, and answers what it has \
             shown since."
                .to_owned(),
        ];
        CONTROLS
            .into_iter()
            .zip(described)
            .map(|(name, description)| {
                let definition =
                    ToolDefinition::cached(name, &description, schema(name, language))?;
                let control = Self {
                    definition: definition.exclusive(true),
                };
                Ok(Arc::new(control) as Arc<dyn Tool>)
            })
            .collect()
    }
}

fn schema(name: &str, language: &str) -> Value {
    let tokens = json!({
        "type": "integer", "minimum": 1,
        "description": "About how many tokens of output to return; the middle of more is left out.",
    });
    if name == "exec" {
        let source = json!({"type": "string", "description": format!("The {language} program.")});
        json!({
            "type": "object", "properties": {"source": source, "max_output_tokens": tokens},
            "required": ["source"], "additionalProperties": false,
        })
    } else {
        json!({
            "type": "object", "properties": {"max_output_tokens": tokens}, "additionalProperties": false,
        })
    }
}

/// What the model may read of an error: a program that broke its own connection is the model's to mend.
fn readable(error: &Error) -> Error {
    let source = std::error::Error::source(error);
    let told = source.and_then(|source| source.downcast_ref::<Error>());
    match told {
        Some(told) if error.kind() == ErrorKind::Protocol && told.is(ErrorKind::Tool) => {
            told.clone()
        }
        _ => error.clone(),
    }
}

#[async_trait]
impl Tool for Control {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, mut input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        let conversation = context.conversation();
        let programs = conversation
            .programs
            .as_ref()
            .ok_or_else(|| Error::tool("This agent runs no programs."))?;
        let operation = context.operation_id();
        let session = programs.enter(conversation, operation).await?;
        let tokens = input
            .get("max_output_tokens")
            .and_then(Value::as_u64)
            .map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
        let controlled = match self.definition.name() {
            "exec" => {
                let source = match input.get_mut("source").map(Value::take) {
                    Some(Value::String(source)) => source,
                    _ => String::new(),
                };
                session
                    .execute(Source {
                        source,
                        catalog: Arc::clone(programs.catalog()),
                        frame: None,
                        max_output_tokens: tokens,
                    })
                    .await
            }
            "wait" => session.wait(tokens).await,
            _ => session.stop(tokens).await,
        };
        programs.check()?;
        let ProgramResult {
            presentation_content,
            ..
        } = controlled.as_ref().map_err(readable)?;
        programs.show(context.tool_use_id(), presentation_content.clone());
        Ok(Value::Object(controlled?.to_report()))
    }
}
