//! One invocation of an agent, from the first model call to the result.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::contract::{Terms, Verdict};
use super::model_call::{ModelCall, Reply};
use super::tool_batch::execute_batch;
use super::{AgentInput, Conversation, PreparedAgent};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::{Content, Message, Role, ToolUse, make_whole, sign};
use crate::model::ModelResponse;
use crate::run::{RunCore, RunResult};

/// Answers `input` with `agent`, within the run's deadline and until it is cancelled. A failure
/// is announced and returned.
pub(crate) async fn invoke(
    run: &Arc<RunCore>,
    agent: Arc<PreparedAgent>,
    input: AgentInput,
) -> Result<Arc<RunResult>> {
    let conversation = Arc::new(Conversation::new(run, agent, &input));
    let operation = conversation.measure_agent(&input);
    let result = run.bounded(converse(&conversation, input)).await;
    let result = end_programs(&conversation, result).await;
    conversation.measured_agent(operation, &result);
    if let Err(error) = &result {
        let event = StreamEvent::InvocationError {
            error: error.clone(),
            usage: conversation.usage(),
            metadata: conversation.agent.metadata(),
        };
        conversation.events.send(event).await;
    }
    result
}

/// Ends programs that still run. An end that is not clean is told before all else.
async fn end_programs<T>(conversation: &Conversation, result: Result<T>) -> Result<T> {
    let Some(programs) = &conversation.programs else {
        return result;
    };
    match programs.close().await {
        Err(error) if result.is_ok() || error.is(ErrorKind::Cleanup) => Err(error),
        _ => result,
    }
}

/// The turn loop: ask the model, run its tools, until it answers.
async fn converse(conversation: &Arc<Conversation>, input: AgentInput) -> Result<Arc<RunResult>> {
    let agent = &conversation.agent;
    let run = &conversation.run;
    let _attendance = run.active.enter(conversation);
    let first = Arc::new(conversation.first_messages(input));
    let mut messages = agent
        .callbacks
        .before_invocation(first, &conversation.context())
        .await?;
    make_whole(&mut messages);
    run.checkpoint(&messages).await?;
    let started = StreamEvent::InvocationStart {
        agent_id: Arc::clone(&agent.id),
    };
    conversation.events.send(started).await;
    let mut progress = Progress {
        messages,
        terms: agent
            .contract
            .as_ref()
            .map(|contract| contract.begin(conversation)),
    };
    for turn in 0..agent.limits.max_turns {
        let id: Arc<str> = Uuid::new_v4().to_string().into();
        let operation = conversation.measure_turn(&id, turn);
        match progress.take_turn(conversation, turn, &id).await {
            Ok(Step::GoOn(outcome)) => operation.finish(|| json!({"outcome": outcome})),
            Ok(Step::End(result)) => {
                operation.finish(|| json!({"outcome": "completed"}));
                end_programs(conversation, Ok(())).await?;
                return conclude(conversation, *result, progress.messages).await;
            }
            Err(error) => {
                conversation.fail(operation, &error);
                return Err(error);
            }
        }
    }
    let exhausted = progress.terms.and_then(|terms| terms.exhausted());
    Err(exhausted.unwrap_or_else(|| {
        Error::new(
            ErrorKind::Protocol,
            format!(
                "the agent did not finish within {} model calls (max_turns)",
                agent.limits.max_turns
            ),
        )
    }))
}

/// What moves from turn to turn.
struct Progress {
    messages: Arc<Vec<Message>>,
    terms: Option<Box<dyn Terms>>,
}

/// What follows a turn.
enum Step {
    /// Another turn; the word says how this one ended.
    GoOn(&'static str),
    /// The result, still without usage and messages.
    End(Box<RunResult>),
}

impl Progress {
    /// One model call, and the tool calls that it asked for.
    async fn take_turn(
        &mut self,
        conversation: &Arc<Conversation>,
        turn: u32,
        operation_id: &Arc<str>,
    ) -> Result<Step> {
        let interjected = conversation.interjections.take();
        if let Some(batch) = &interjected {
            self.add(batch.messages.iter().cloned());
        }
        let call = ModelCall {
            conversation,
            turn,
            operation_id,
            interjected: interjected.as_ref(),
        };
        let Reply { response, verdict } = call.make(&mut self.messages, &mut self.terms).await?;
        if let Some(batch) = &interjected {
            conversation.respond(batch, &response);
        }
        let answered = interjected.map_or("completed", |_| "interjected");
        match verdict {
            Verdict::Ordinary => {}
            Verdict::Repair(repair) => {
                self.add(repair);
                conversation.run.checkpoint(&self.messages).await?;
                return Ok(Step::GoOn("repair"));
            }
            Verdict::Done(mut result) => {
                result.message = result.message.map(|said| signed(conversation, said));
                self.add(result.message.clone());
                return self.end(conversation, *result).await;
            }
        }
        self.add([signed(conversation, response.message.clone())]);
        let calls: Vec<Arc<ToolUse>> = response
            .message
            .tool_uses()
            .map(|call| Arc::new(call.clone()))
            .collect();
        if calls.is_empty() {
            return self.end(conversation, text_result(&response)?).await;
        }
        reject_repeated_ids(&calls)?;
        let counted = calls
            .iter()
            .filter(|call| !conversation.agent.is_control(&call.name));
        conversation.count_tool_calls(counted.count())?;
        let results = execute_batch(conversation, calls).await?;
        let content = results
            .into_iter()
            .map(|result| Content::ToolResult((*result).clone()));
        self.add([Message::new(Role::Tool, content.collect())]);
        conversation.run.checkpoint(&self.messages).await?;
        if conversation.agent.ends.as_ref().is_some_and(|ends| ends()) {
            return self.end(conversation, text_result(&response)?).await;
        }
        Ok(Step::GoOn(answered))
    }

    fn add(&mut self, messages: impl IntoIterator<Item = Message>) {
        Arc::make_mut(&mut self.messages).extend(messages);
    }

    /// The end, unless interjections arrived that still want an answer.
    async fn end(&self, conversation: &Conversation, result: RunResult) -> Result<Step> {
        if conversation.interjections.close_if_empty() {
            return Ok(Step::End(Box::new(result)));
        }
        conversation.run.checkpoint(&self.messages).await?;
        Ok(Step::GoOn("interjected"))
    }
}

/// What the model said, with its name on its reasoning.
fn signed(conversation: &Conversation, mut message: Message) -> Message {
    sign(&mut message, conversation.agent.model.target());
    message
}

fn reject_repeated_ids(calls: &[Arc<ToolUse>]) -> Result<()> {
    let mut seen = HashSet::with_capacity(calls.len());
    for call in calls {
        if call.id.is_empty() {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!("the model called the tool {:?} without an id", call.name),
            ));
        }
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

fn text_result(response: &ModelResponse) -> Result<RunResult> {
    if response.stop_reason.is_output_limit() {
        return Err(Error::new(
            ErrorKind::OutputLimit,
            "the model reached its output limit before it finished; raise max_tokens or ask for less",
        ));
    }
    Ok(RunResult {
        message: Some(response.message.clone()),
        stop_reason: response.stop_reason.clone(),
        usage: response.usage,
        cost: None,
        messages: Vec::new(),
        structured: None,
        steps: Vec::new(),
        scope: 0,
    })
}

/// Completes `result` with what the invocation knows, and announces it.
async fn conclude(
    conversation: &Arc<Conversation>,
    mut result: RunResult,
    messages: Arc<Vec<Message>>,
) -> Result<Arc<RunResult>> {
    let agent = &conversation.agent;
    let run = &conversation.run;
    run.checkpoint(&messages).await?;
    result.usage = conversation.usage();
    result.cost = run.cost();
    result.scope = run.place.scope;
    result.messages = Arc::unwrap_or_clone(messages);
    let mut result = agent
        .callbacks
        .after_invocation(Arc::new(result), &conversation.context())
        .await?;
    // A callback that makes a new result need not know of costs.
    if result.cost.is_none() && run.cost().is_some() {
        Arc::make_mut(&mut result).cost = run.cost();
    }
    run.checkpoint(&result.messages).await?;
    run.keep_result(Arc::clone(&result));
    let event = StreamEvent::InvocationStop {
        result: Arc::clone(&result),
        metadata: agent.metadata(),
    };
    conversation.events.send(event).await;
    Ok(result)
}
