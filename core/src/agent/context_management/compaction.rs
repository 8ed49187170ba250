//! Replacing the older part of a conversation by a summary.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::ContextManagement;
use super::transcript::transcript;
use crate::agent::Conversation;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Content, Message, Role};
use crate::model::{ModelRequest, ToolChoice};

/// Instructions for the model that summarises.
const INSTRUCTIONS: &str = "\
Summarise the conversation that follows, so that somebody can go on with it without having read it.
Write concise bullet points in the third person. Keep the topics, the facts and decisions, the tool \
results that matter, code and identifiers as they are, and what is still open. Do not address \
the user, do not answer them, and add nothing that was not said.";

const HEADING: &str = "Summary of the conversation so far:";

/// Marks the message that holds a summary.
const MARK: &str = "little_ghost_context_summary";

/// Bytes that stand for one token.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Tokens of a request, roughly: a quarter of the characters of its JSON.
pub(super) fn estimate(request: &ModelRequest) -> u64 {
    let mut whole = Map::new();
    let messages = request.messages.iter().map(Message::to_value);
    whole.insert("messages".into(), messages.collect());
    whole.insert(
        "tools".into(),
        request.tools.iter().map(|tool| tool.to_value()).collect(),
    );
    if let Some(schema) = &request.output_schema {
        whole.insert("output_schema".into(), schema.schema.clone());
    }
    if let Some(choice) = &request.tool_choice {
        let choice = match choice {
            ToolChoice::Required => json!("required"),
            ToolChoice::Named(name) => json!({"name": name}),
        };
        whole.insert("tool_choice".into(), choice);
    }
    let characters = Value::Object(whole).to_string().chars().count();
    characters.div_ceil(CHARACTERS_PER_TOKEN) as u64
}

/// One replacement.
pub(super) struct Compaction<'a> {
    pub(super) options: &'a ContextManagement,
    pub(super) conversation: &'a Arc<Conversation>,
    pub(super) request: &'a ModelRequest,
}

impl Compaction<'_> {
    /// The messages of the request, shorter.
    ///
    /// # Errors
    /// When everything must stay, and what the model fails with.
    pub(super) async fn run(&self) -> Result<Vec<Message>> {
        let (instructions, conversation): (Vec<&Message>, Vec<&Message>) = self
            .request
            .messages
            .iter()
            .partition(|message| matches!(message.role, Role::System | Role::Developer));
        let at = split(&conversation, self.options).ok_or_else(|| {
            Error::new(
                ErrorKind::Error,
                "the conversation has no older messages that a summary could replace",
            )
        })?;
        let (old, recent) = conversation.split_at(at);
        let summary = self.summary(old).await?;
        let instructions = instructions.into_iter().cloned();
        Ok(instructions
            .chain([summary])
            .chain(recent.iter().copied().cloned())
            .collect())
    }

    async fn summary(&self, messages: &[&Message]) -> Result<Message> {
        let request = ModelRequest {
            messages: Arc::new(vec![
                Message::system(INSTRUCTIONS),
                Message::user(transcript(messages)),
            ]),
            settings: self.request.settings.clone(),
            deadline: self.request.deadline,
            ..ModelRequest::default()
        };
        let conversation = &self.conversation;
        let purpose = json!({"purpose": "context_compaction"});
        conversation.notify("model_start", purpose.clone());
        let response = self.conversation.ask_aside(&request).await;
        conversation.notify("model_stop", purpose);
        let response = response?;
        if response.stop_reason.is_output_limit() {
            return Err(Error::new(
                ErrorKind::OutputLimit,
                "the model reached its output limit before its summary of the conversation was \
                 complete; raise max_tokens",
            ));
        }
        let text = response.message.text();
        if text.trim().is_empty() {
            return Err(Error::new(
                ErrorKind::Protocol,
                "the model gave no summary of the conversation",
            ));
        }
        let mut message = Message::user(format!("{HEADING}\n\n{}", text.trim()));
        message.metadata.insert(MARK.into(), json!(true));
        Ok(message)
    }
}

/// Where to cut: messages before it are summarised. Never between a call and its result, and never
/// so that nothing stays.
fn split(conversation: &[&Message], options: &ContextManagement) -> Option<usize> {
    let share = options.share_of(conversation.len());
    if share == 0 {
        return None;
    }
    let answers = |at: &usize| {
        conversation.get(*at).is_some_and(|message| {
            message
                .content
                .iter()
                .any(|block| matches!(block, Content::ToolResult(_)))
        })
    };
    (share..conversation.len())
        .find(|at| !answers(at))
        .or_else(|| (1..share).rev().find(|at| !answers(at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolResult, ToolResultContent, ToolStatus, ToolUse};

    fn call() -> Message {
        let tool_use = ToolUse {
            id: "1".into(),
            name: "lookup".into(),
            input: Map::new(),
        };
        Message::new(Role::Assistant, vec![Content::ToolUse(tool_use)])
    }

    fn result() -> Message {
        let result = ToolResult {
            tool_use_id: "1".into(),
            content: ToolResultContent::Text("found".into()),
            status: ToolStatus::Success,
        };
        Message::new(Role::Tool, vec![Content::ToolResult(result)])
    }

    fn cut(messages: &[Message], keep: usize) -> Option<usize> {
        let options = ContextManagement::default()
            .summary_ratio(0.5)
            .preserve_recent_messages(keep);
        split(&messages.iter().collect::<Vec<_>>(), &options)
    }

    #[test]
    fn the_cut_never_parts_a_call_from_its_result() {
        let user = || Message::user("a");
        assert_eq!(cut(&[user(), call(), result(), user()], 2), Some(3));
        assert_eq!(
            cut(&[user(), call(), result(), result(), user()], 2),
            Some(4)
        );
        assert_eq!(cut(&[user(), user(), user(), user()], 2), Some(2));
        // Nothing would stay behind the results, so that less is summarised.
        assert_eq!(cut(&[user(), user(), call(), result()], 2), Some(2));
        assert_eq!(cut(&[user(), call(), result()], 2), Some(1));
        assert_eq!(cut(&[call(), result(), result()], 2), None);
        assert_eq!(cut(&[user(), user()], 2), None);
    }

    #[test]
    fn the_estimate_counts_everything_that_is_sent() {
        let request = |text: &str| ModelRequest {
            messages: Arc::new(vec![Message::user(text)]),
            ..ModelRequest::default()
        };
        let short = estimate(&request("é"));
        assert_eq!(estimate(&request(&"é".repeat(4_001))), short + 1_000);
        let mut shaped = request("é");
        shaped.tool_choice = Some(ToolChoice::Named("lookup".into()));
        assert!(estimate(&shaped) > short);
    }
}
