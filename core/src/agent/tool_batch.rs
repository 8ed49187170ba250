//! The tool calls of one model response, run together and answered in the model's order.

use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::Conversation;
use super::tool_call::execute;
use crate::error::Result;
use crate::event::StreamEvent;
use crate::message::{ToolResult, ToolUse};

/// Tool calls of one response that run at the same time.
const MAX_CONCURRENT_CALLS: usize = 8;

/// Runs `calls` and returns their results in the model's order.
///
/// Calls overlap unless one of them is exclusive. A failure that is not the
/// tool's own (cancellation, deadline, clean-up, a callback) ends the batch; the remaining calls are dropped.
pub(super) async fn execute_batch(
    conversation: &Arc<Conversation>,
    calls: Vec<Arc<ToolUse>>,
) -> Result<Vec<Arc<ToolResult>>> {
    let events = &conversation.events;
    let is_shown = |call: &ToolUse| !conversation.agent.is_control(&call.name);
    for call in calls.iter().filter(|call| is_shown(call)) {
        events
            .send(StreamEvent::ToolStart {
                tool_use: Arc::clone(call),
            })
            .await;
    }
    let is_exclusive = |call: &Arc<ToolUse>| {
        conversation
            .agent
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
                let result = execute(conversation, &call, concurrent).await;
                (position, call, result)
            });
        }
        let Some((position, tool_use, result)) = running.next().await else {
            break;
        };
        let result = Arc::new(result?);
        finished.push((position, Arc::clone(&result)));
        if is_shown(&tool_use) {
            events
                .send(StreamEvent::ToolStop { tool_use, result })
                .await;
        }
    }
    finished.sort_by_key(|(position, _)| *position);
    Ok(finished.into_iter().map(|(_, result)| result).collect())
}
