//! The tool calls of one model response: checked, run, answered.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use uuid::Uuid;

use super::PreparedAgent;
use crate::error::{Error, ErrorKind, HostException, Result};
use crate::event::StreamEvent;
use crate::message::{ToolResult, ToolResultContent, ToolStatus, ToolUse};
use crate::run::{Run, RunCore};
use crate::tool::{
    RunContext, Tool, failure_text, input_error_text, truncate_middle_with_token_budget,
    unknown_tool_text, value_text,
};

/// Tool calls of one response that run at the same time.
const MAX_CONCURRENT_CALLS: usize = 8;

/// Runs `calls` and returns their results in the model's order.
///
/// Calls overlap unless one of them is exclusive. A failure that is not the
/// tool's own (cancellation, deadline, clean-up) ends the batch; the remaining calls are dropped.
pub(crate) async fn execute_batch(
    run: &Arc<RunCore>,
    agent: &PreparedAgent,
    calls: Vec<Arc<ToolUse>>,
) -> Result<Vec<Arc<ToolResult>>> {
    let events = run.events();
    for call in &calls {
        events
            .send(StreamEvent::ToolStart {
                tool_use: Arc::clone(call),
            })
            .await;
    }
    let is_exclusive = |call: &Arc<ToolUse>| {
        agent
            .tools
            .get(&call.name)
            .is_some_and(|tool| tool.definition().is_exclusive())
    };
    let concurrent = calls.len() > 1 && !calls.iter().any(is_exclusive);
    let width = if concurrent { MAX_CONCURRENT_CALLS } else { 1 };
    let mut waiting = calls.iter().cloned().enumerate();
    let mut running = FuturesUnordered::new();
    let mut finished = Vec::with_capacity(calls.len());
    loop {
        while running.len() < width
            && let Some((position, call)) = waiting.next()
        {
            running.push(async move {
                let result = execute(run, agent, &call, concurrent).await;
                (position, call, result)
            });
        }
        let Some((position, tool_use, result)) = running.next().await else {
            break;
        };
        let result = Arc::new(result?);
        finished.push((position, Arc::clone(&result)));
        events
            .send(StreamEvent::ToolStop { tool_use, result })
            .await;
    }
    finished.sort_by_key(|(position, _)| *position);
    Ok(finished.into_iter().map(|(_, result)| result).collect())
}

async fn execute(
    run: &Arc<RunCore>,
    agent: &PreparedAgent,
    call: &ToolUse,
    concurrent: bool,
) -> Result<ToolResult> {
    let (text, status) = match agent.tools.get(&call.name) {
        None => (
            unknown_tool_text(&call.name, agent.tools.names()),
            ToolStatus::Error,
        ),
        Some(tool) => match attempt(run, tool, call, concurrent).await {
            Ok(text) => (text, ToolStatus::Success),
            Err(error) if ends_the_run(&error) => return Err(error),
            Err(error) => (failure_text(&error), ToolStatus::Error),
        },
    };
    let (text, _) = truncate_middle_with_token_budget(&text, agent.limits.max_tool_result_tokens);
    Ok(ToolResult {
        tool_use_id: call.id.clone(),
        content: ToolResultContent::Text(text.into_owned()),
        status,
    })
}

async fn attempt(
    run: &Arc<RunCore>,
    tool: &Arc<dyn Tool>,
    call: &ToolUse,
    concurrent: bool,
) -> Result<String> {
    let violations = tool.definition().violations(&call.input);
    if !violations.is_empty() {
        return Err(Error::tool(input_error_text(&violations)));
    }
    let _exclusive = if tool.definition().is_exclusive() {
        Some(run.exclusive.lock().await)
    } else {
        None
    };
    let operation_id = Uuid::new_v4().to_string();
    let context = RunContext::new(
        Run::new(Arc::clone(run)),
        &call.id,
        &operation_id,
        concurrent,
    );
    let called = AssertUnwindSafe(tool.call(call.input.clone(), &context))
        .catch_unwind()
        .await;
    let value = called.unwrap_or_else(|_| {
        let panic = HostException {
            id: 0,
            class: "panic".into(),
        };
        Err(Error::host(panic, "the tool panicked"))
    })?;
    Ok(value_text(&value))
}

fn ends_the_run(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Cancelled | ErrorKind::DeadlineExceeded | ErrorKind::Cleanup
    )
}
