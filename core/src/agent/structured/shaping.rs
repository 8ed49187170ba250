//! What a request must say so that the model gives the result.

use std::sync::Arc;

use super::declaration::collision;
use super::strategy::ResultStrategy;
use crate::error::Result;
use crate::model::{ModelRequest, OutputSchema, ToolChoice};
use crate::tool::ToolDefinition;

/// A declared result, bound to a model that can give it.
#[derive(Clone, Debug)]
pub(crate) struct Structured {
    /// Name, description and schema; in the tool strategy also what the model calls.
    pub(super) definition: ToolDefinition,
    description: Option<String>,
    pub(super) by_tool: bool,
}

impl Structured {
    pub(super) fn new(
        definition: ToolDefinition,
        description: Option<String>,
        strategy: ResultStrategy,
    ) -> Self {
        Self {
            definition,
            description,
            by_tool: strategy == ResultStrategy::Tool,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.definition.name()
    }

    /// `"provider"` or `"tool"`.
    pub(crate) fn strategy(&self) -> &'static str {
        if self.by_tool { "tool" } else { "provider" }
    }

    /// Adds the result to `request`. `forced` is what the model must do in this turn; without it,
    /// after an interjection, it may answer freely.
    pub(crate) fn shape(&self, request: &mut ModelRequest, forced: Forced) -> Result<()> {
        if request.tools.iter().any(|tool| tool.name() == self.name()) {
            return Err(collision(self.name()));
        }
        if self.by_tool {
            let tools = request.tools.iter().cloned();
            request.tools = tools.chain([self.definition.clone()]).collect::<Arc<[_]>>();
            request.tool_choice = match forced {
                Forced::No => return Ok(()),
                Forced::Any => Some(ToolChoice::Required),
                Forced::Result => Some(ToolChoice::Named(self.name().to_owned())),
            };
            require(request, &["tools", "tool_choice"]);
        } else if forced != Forced::No {
            request.output_schema = Some(OutputSchema {
                name: self.name().to_owned(),
                description: self.description.clone(),
                schema: self.definition.input_schema().clone(),
            });
            require(request, &["native_structured_output"]);
        }
        Ok(())
    }
}

/// What a turn forces the model to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forced {
    /// Nothing.
    No,
    /// To work on, or to give the result.
    Any,
    /// To give the result.
    Result,
}

fn require(request: &mut ModelRequest, capabilities: &[&str]) {
    for capability in capabilities {
        if !request
            .required_capabilities
            .iter()
            .any(|known| known == capability)
        {
            request.required_capabilities.push((*capability).to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::ResultSchema;
    use super::*;
    use crate::error::ErrorKind;
    use crate::model::ModelCapabilities;

    fn structured(strategy: ResultStrategy) -> Structured {
        ResultSchema::new(json!({"type": "object", "additionalProperties": false}))
            .description("The answer.")
            .strategy(strategy)
            .bind(
                "triage",
                &ModelCapabilities::permissive(),
                "c:m",
                [""; 0].iter(),
            )
            .unwrap()
    }

    #[test]
    fn the_provider_strategy_sends_the_schema() {
        let mut request = ModelRequest::default();
        structured(ResultStrategy::Provider)
            .shape(&mut request, Forced::Any)
            .unwrap();
        let schema = request.output_schema.unwrap();
        assert_eq!(schema.name, "triage_result");
        assert_eq!(schema.description.as_deref(), Some("The answer."));
        assert_eq!(request.required_capabilities, ["native_structured_output"]);
        assert!(request.tools.is_empty() && request.tool_choice.is_none());
    }

    #[test]
    fn the_tool_strategy_sends_a_last_tool() {
        let structured = structured(ResultStrategy::Tool);
        for (forced, choice) in [
            (Forced::Any, Some(ToolChoice::Required)),
            (
                Forced::Result,
                Some(ToolChoice::Named("triage_result".into())),
            ),
            (Forced::No, None),
        ] {
            let mut request = ModelRequest {
                tools: [ToolDefinition::new("lookup", "Looks up.", json!({})).unwrap()].into(),
                ..ModelRequest::default()
            };
            structured.shape(&mut request, forced).unwrap();
            let names: Vec<&str> = request.tools.iter().map(ToolDefinition::name).collect();
            assert_eq!(names, ["lookup", "triage_result"]);
            assert!(request.tools[1].is_strict());
            assert_eq!(request.tool_choice, choice);
        }
    }

    #[test]
    fn a_tool_of_the_same_name_is_refused_in_each_request() {
        let mut request = ModelRequest {
            tools: [ToolDefinition::new("triage_result", "Clashes.", json!({})).unwrap()].into(),
            ..ModelRequest::default()
        };
        let error = structured(ResultStrategy::Tool)
            .shape(&mut request, Forced::Any)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
    }
}
