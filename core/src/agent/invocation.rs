//! One invocation of an agent, from the first model call to the result.

use std::collections::HashSet;
use std::sync::Arc;

use super::PreparedAgent;
use super::tool_batch::execute_batch;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::{Content, Message, Role, ToolUse};
use crate::model::{ModelRequest, ModelResponse};
use crate::run::{RunCore, RunResult};

/// Answers the run's request with `agent`.
pub(crate) async fn invoke(run: &Arc<RunCore>, agent: &PreparedAgent) -> Result<Arc<RunResult>> {
    let events = run.events();
    let mut request = first_request(run, agent);
    events
        .send(StreamEvent::InvocationStart {
            agent_id: Arc::clone(&agent.id),
        })
        .await;
    let mut tool_calls = 0_usize;
    for turn in 0..agent.limits.max_turns {
        let response = call_model(run, agent, &request, turn).await?;
        let messages = Arc::make_mut(&mut request.messages);
        messages.push(response.message.clone());
        let calls: Vec<Arc<ToolUse>> = response
            .message
            .tool_uses()
            .map(|call| Arc::new(call.clone()))
            .collect();
        if calls.is_empty() {
            let result = conclude(run, &response, std::mem::take(messages))?;
            let event = StreamEvent::InvocationStop {
                result: Arc::clone(&result),
                metadata: agent.metadata(),
            };
            events.send(event).await;
            return Ok(result);
        }
        reject_repeated_ids(&calls)?;
        tool_calls += calls.len();
        if tool_calls > agent.limits.max_tool_calls as usize {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!(
                    "the model asked for more than {} tool calls (max_tool_calls)",
                    agent.limits.max_tool_calls
                ),
            ));
        }
        let results = execute_batch(run, agent, calls).await?;
        let content = results
            .into_iter()
            .map(|result| Content::ToolResult((*result).clone()));
        messages.push(Message::new(Role::Tool, content.collect()));
    }
    Err(Error::new(
        ErrorKind::Protocol,
        format!(
            "the agent did not finish within {} model calls (max_turns)",
            agent.limits.max_turns
        ),
    ))
}

fn first_request(run: &RunCore, agent: &PreparedAgent) -> ModelRequest {
    let mut messages = Vec::with_capacity(run.invocation.history().len() + 4);
    if let Some(prompt) = agent
        .system_prompt
        .as_deref()
        .filter(|prompt| !prompt.is_empty())
    {
        messages.push(Message::system(prompt));
    }
    messages.extend_from_slice(run.invocation.history());
    messages.push(run.invocation.message().clone());
    let mut settings = agent.limits.model_settings.clone();
    for (key, value) in run.invocation.settings() {
        settings.insert(key.clone(), value.clone());
    }
    ModelRequest {
        messages: Arc::new(messages),
        tools: Arc::clone(agent.tools.definitions()),
        settings,
        deadline: run.invocation.deadline(),
        ..ModelRequest::default()
    }
}

async fn call_model(
    run: &Arc<RunCore>,
    agent: &PreparedAgent,
    request: &ModelRequest,
    turn: u32,
) -> Result<Arc<ModelResponse>> {
    let events = run.events();
    events.send(StreamEvent::ModelStart { turn }).await;
    let response = Arc::new(agent.model.stream(request, &events).await?);
    events
        .send(StreamEvent::MessageStop {
            response: Arc::clone(&response),
        })
        .await;
    events
        .send(StreamEvent::ModelStop {
            turn,
            response: Arc::clone(&response),
        })
        .await;
    Ok(response)
}

fn reject_repeated_ids(calls: &[Arc<ToolUse>]) -> Result<()> {
    let mut seen = HashSet::with_capacity(calls.len());
    for call in calls {
        if !seen.insert(call.id.as_str()) {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!(
                    "the model used the tool call id {:?} twice in one response",
                    call.id
                ),
            ));
        }
    }
    Ok(())
}

fn conclude(
    run: &RunCore,
    response: &ModelResponse,
    messages: Vec<Message>,
) -> Result<Arc<RunResult>> {
    if response.stop_reason.is_output_limit() {
        return Err(Error::new(
            ErrorKind::OutputLimit,
            "the model reached its output limit before it finished; raise max_tokens or ask for less",
        ));
    }
    let result = Arc::new(RunResult {
        message: Some(response.message.clone()),
        stop_reason: response.stop_reason.clone(),
        usage: run.usage(),
        messages,
    });
    run.keep_result(Arc::clone(&result));
    Ok(result)
}
