//! The one chance to correct a failed result.

use super::redaction::{emptied, placeholder};
use super::shaping::Structured;
use crate::message::{Content, Message, Role, ToolResult, ToolResultContent, ToolStatus, ToolUse};
use crate::model::ModelResponse;

impl Structured {
    /// What stands for the failed `response` in the conversation and asks for another.
    ///
    /// Nothing of the failed attempt is repeated: it may be what the schema was to keep out.
    pub(crate) fn repair(&self, response: &ModelResponse) -> Vec<Message> {
        let calls: Vec<ToolUse> = response.message.tool_uses().map(emptied).collect();
        if calls.is_empty() {
            return vec![
                Message::assistant(placeholder(self.name())),
                Message::user(self.request_again()),
            ];
        }
        let results = calls.iter().map(|call| {
            Content::ToolResult(ToolResult {
                tool_use_id: call.id.clone(),
                content: ToolResultContent::Text(self.request_again()),
                status: ToolStatus::Error,
            })
        });
        let results = Message::new(Role::Tool, results.collect());
        let calls = calls.into_iter().map(Content::ToolUse).collect();
        vec![Message::new(Role::Assistant, calls), results]
    }

    fn request_again(&self) -> String {
        let how = if self.by_tool {
            format!(
                "Make exactly one call of {}, as the only tool call.",
                self.name()
            )
        } else {
            "Answer with nothing but JSON that fits the configured schema.".to_owned()
        };
        format!(
            "The result was missing or not valid, and was not accepted. There is one attempt \
             left: submit the result again. {how}"
        )
    }
}
