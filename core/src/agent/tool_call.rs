//! One tool call: checked, run, answered.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use uuid::Uuid;

use super::callback::{AfterTool, BeforeTool, ToolOutcome};
use super::{Conversation, ToolSet};
use crate::error::{Error, ErrorKind, HostException, Result};
use crate::message::{Content, ToolResult, ToolResultContent, ToolStatus, ToolUse};
use crate::tool::{
    RunContext, Tool, failure_text, input_error_text, truncate_middle_with_token_budget,
    unknown_tool_text, value_text,
};

/// Whose call it is.
pub(super) enum Purpose {
    /// The model's.
    OfModel,
    /// Of a program that the model wrote, and that the control `operation` looks after.
    OfProgram { operation: Option<Arc<str>> },
}

impl Purpose {
    fn tools<'a>(&self, conversation: &'a Conversation) -> &'a ToolSet {
        let agent = &conversation.agent;
        match (self, &agent.code_mode) {
            (Purpose::OfProgram { .. }, Some(plan)) => &plan.tools,
            _ => &agent.tools,
        }
    }
}

/// Runs one call of the model.
pub(super) async fn execute(
    conversation: &Arc<Conversation>,
    call: &Arc<ToolUse>,
    concurrent: bool,
) -> Result<ToolResult> {
    let (result, _) = perform(conversation, call, concurrent, Purpose::OfModel).await?;
    Ok(result)
}

/// Runs one call. Fails only with what ends the run: a failure of the tool is its result.
pub(super) async fn perform(
    conversation: &Arc<Conversation>,
    call: &Arc<ToolUse>,
    concurrent: bool,
    purpose: Purpose,
) -> Result<(ToolResult, ToolOutcome)> {
    let operation_id: Arc<str> = Uuid::new_v4().to_string().into();
    let tools = purpose.tools(conversation);
    let parent = match &purpose {
        Purpose::OfProgram {
            operation: Some(operation),
        } => operation,
        _ => &conversation.operation_id,
    };
    let is_known = tools.get(&call.name).is_some();
    let operation = conversation.measure_tool(&operation_id, parent, call, is_known);
    let outcome = match tools.get(&call.name) {
        None => Ok(failed(Error::tool(unknown_tool_text(
            &call.name,
            tools.names(),
        )))),
        Some(tool) => attempt(conversation, tool, call, operation_id, concurrent).await,
    };
    match outcome {
        Ok(outcome) => {
            let result = ToolResult {
                tool_use_id: call.id.clone(),
                content: shortened(
                    outcome.content.clone(),
                    conversation.agent.limits.max_tool_result_tokens,
                ),
                status: outcome.status,
            };
            let error_type = outcome.error.as_ref().map(Error::class_name);
            conversation.measured_tool(operation, &result, error_type);
            Ok((result, outcome))
        }
        Err(error) => {
            conversation.fail(operation, &error);
            Err(error)
        }
    }
}

async fn attempt(
    conversation: &Arc<Conversation>,
    tool: &Arc<dyn Tool>,
    call: &Arc<ToolUse>,
    operation_id: Arc<str>,
    concurrent: bool,
) -> Result<ToolOutcome> {
    let callbacks = &conversation.agent.callbacks;
    let meant;
    let call = match tool.definition().without_nulls(&call.input) {
        Cow::Borrowed(_) => call,
        Cow::Owned(input) => {
            meant = Arc::new(ToolUse {
                input,
                ..ToolUse::clone(call)
            });
            &meant
        }
    };
    let context = RunContext::new(
        Arc::clone(conversation),
        &call.id,
        Arc::clone(&operation_id),
        concurrent,
    );
    let violations = tool.definition().violations(&call.input);
    let outcome = if violations.is_empty() {
        let payload = BeforeTool {
            tool_use: Arc::clone(call),
            operation_id: Arc::clone(&operation_id),
            parent_operation_id: Arc::clone(&conversation.operation_id),
        };
        if let Some(reason) = callbacks.before_tool(&payload, &context).await? {
            return Ok(failed(Error::tool(reason)));
        }
        match run(conversation, tool, call, &context).await {
            Ok(value) => ToolOutcome {
                content: content(conversation, call, &value),
                value: Some(value),
                status: ToolStatus::Success,
                error: None,
            },
            Err(error) if ends_the_run(&error) => return Err(error),
            Err(error) => {
                // What a call of a program failed with may end more than the program.
                if let Some(programs) = &conversation.programs {
                    programs.check()?;
                }
                failed(error)
            }
        }
    } else {
        failed(Error::tool(input_error_text(&violations)))
    };
    // Only programs see the value beside the content.
    let returned = conversation.programs.is_some().then(|| outcome.clone());
    let payload = AfterTool {
        tool_use: Arc::clone(call),
        operation_id,
        parent_operation_id: Arc::clone(&conversation.operation_id),
        outcome,
    };
    let outcome = callbacks.after_tool(payload, &context).await?;
    Ok(match returned {
        Some(returned) => without_withheld(outcome, &returned),
        None => outcome,
    })
}

async fn run(
    conversation: &Conversation,
    tool: &Arc<dyn Tool>,
    call: &ToolUse,
    context: &RunContext,
) -> Result<Value> {
    // A control waits for programs, whose calls may need the lock.
    let is_locking = tool.definition().is_exclusive() && !conversation.agent.is_control(&call.name);
    let _exclusive = if is_locking {
        Some(conversation.run.exclusive.lock().await)
    } else {
        None
    };
    let called = AssertUnwindSafe(tool.call(call.input.clone(), context))
        .catch_unwind()
        .await;
    called.unwrap_or_else(|_| {
        let panic = HostException {
            id: 0,
            class: "panic".into(),
        };
        Err(Error::host(panic, "the tool panicked"))
    })
}

/// What the model reads of `value`, with what a program brought beside it.
fn content(conversation: &Conversation, call: &ToolUse, value: &Value) -> ToolResultContent {
    let text = value_text(value);
    let programs = conversation.programs.as_ref();
    match programs.and_then(|programs| programs.take_shown(&call.id)) {
        None => ToolResultContent::Text(text),
        Some(shown) => {
            ToolResultContent::Blocks([Content::text(text)].into_iter().chain(shown).collect())
        }
    }
}

/// The outcome without the value of `returned`, when a callback replaced its content: what a callback keeps from the
/// model is kept from its programs too. A remark before the content keeps nothing.
fn without_withheld(mut outcome: ToolOutcome, returned: &ToolOutcome) -> ToolOutcome {
    let is_replaced = !outcome.content.text().ends_with(&returned.content.text());
    if is_replaced && outcome.value == returned.value {
        outcome.value = None;
    }
    outcome
}

fn failed(error: Error) -> ToolOutcome {
    ToolOutcome {
        value: None,
        content: ToolResultContent::Text(failure_text(&error)),
        status: ToolStatus::Error,
        error: Some(error),
    }
}

/// The content with its text cut to `tokens`; attachments stay.
fn shortened(content: ToolResultContent, tokens: usize) -> ToolResultContent {
    let cut = |text: String| {
        let (cut, _) = truncate_middle_with_token_budget(&text, tokens);
        cut.into_owned()
    };
    match content {
        ToolResultContent::Text(text) => ToolResultContent::Text(cut(text)),
        ToolResultContent::Blocks(blocks) => ToolResultContent::Blocks(
            blocks
                .into_iter()
                .map(|block| match block {
                    Content::Text(text) => Content::Text(cut(text)),
                    other => other,
                })
                .collect(),
        ),
    }
}

fn ends_the_run(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Cancelled | ErrorKind::DeadlineExceeded | ErrorKind::Cleanup
    )
}
