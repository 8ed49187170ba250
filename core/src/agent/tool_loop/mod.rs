//! Tool calls that are repeated without progress.

mod options;
mod progress;

pub use options::ToolLoop;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::callback::{
    AfterInvocation, AfterTool, BeforeModel, BeforeTool, Callbacks, Decision, ToolOutcome,
};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Content, ToolResultContent, ToolUse};
use crate::model::ModelRequest;
use crate::run::RunResult;
use crate::tool::RunContext;
use progress::{Call, Progress, Repeats, canonical, digest};

/// Invocations that are watched at once; those that were begun first are forgotten.
const MAX_INVOCATIONS: usize = 1_000;

/// [`ToolLoop`] at work.
pub(crate) struct ToolLoopWatch {
    options: ToolLoop,
    invocations: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    begun: u64,
    progress: HashMap<Arc<str>, Progress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    None,
    Warn,
    FinalWarning,
    Terminate,
}

impl Action {
    const fn as_str(self) -> &'static str {
        match self {
            Action::None => "none",
            Action::Warn => "warn",
            Action::FinalWarning => "final_warning",
            Action::Terminate => "terminate",
        }
    }
}

impl ToolLoopWatch {
    pub(crate) fn new(options: ToolLoop) -> Self {
        Self {
            options,
            invocations: Mutex::default(),
        }
    }

    /// A batch of tool calls may follow. Fails once a loop was found.
    fn next_batch(&self, invocation: &Arc<str>) -> Result<()> {
        self.with_progress(invocation, |progress| {
            progress.batch += 1;
            match &progress.ended {
                Some(reason) => Err(Error::new(ErrorKind::ToolLoop, reason.clone())),
                None => Ok(()),
            }
        })
    }

    /// Why `call` must not run, if so, and whether this is news.
    fn refusal(&self, invocation: &Arc<str>, call: &ToolUse) -> Option<(String, bool)> {
        let key = Call::of(call);
        let last = self.options.terminate_at.saturating_sub(1);
        self.with_progress(invocation, |progress| {
            if let Some(reason) = &progress.ended {
                return Some((reason.clone(), false));
            }
            let repeats = progress.repeats.get(&key)?;
            if repeats.count < last || repeats.batch == progress.batch {
                return None;
            }
            let reason = self.reason(&call.name);
            progress.ended = Some(reason.clone());
            Some((reason, true))
        })
    }

    /// Counts a call that was answered.
    fn record(&self, invocation: &Arc<str>, call: &ToolUse, outcome: &ToolOutcome) -> Action {
        let result = digest(&(
            outcome.status.as_str(),
            canonical(&outcome.content.to_value()).to_string(),
        ));
        let options = &self.options;
        self.with_progress(invocation, |progress| {
            let batch = progress.batch;
            let count = match progress.repeats.get(&Call::of(call)) {
                Some(repeats) if repeats.result != result => 1,
                // Calls of one batch do not know of each other's results.
                Some(repeats) if repeats.batch == batch => return Action::None,
                Some(repeats) => repeats.count.saturating_add(1),
                None => 1,
            };
            let repeats = Repeats {
                result,
                count,
                batch,
            };
            progress.repeats.insert(Call::of(call), repeats);
            if count >= options.terminate_at {
                progress.ended = Some(self.reason(&call.name));
                Action::Terminate
            } else if count == options.warning_at {
                Action::Warn
            } else if count + 1 == options.terminate_at {
                Action::FinalWarning
            } else {
                Action::None
            }
        })
    }

    fn reason(&self, tool: &str) -> String {
        format!(
            "The agent is stuck: it called the tool {tool:?} {} times with the same input and \
             the same result.",
            self.options.terminate_at
        )
    }

    fn warning(&self, action: Action, tool: &str) -> Option<String> {
        match action {
            Action::Warn => Some(format!(
                "Warning: this is call number {} of {tool} with the same input and the same \
                 result. Change the input, use another tool, or answer with what is known.",
                self.options.warning_at
            )),
            Action::FinalWarning => Some(format!(
                "Final warning: {tool} keeps giving the same result. Do not call it with this \
                 input again: the next such call ends the work.",
            )),
            Action::None | Action::Terminate => None,
        }
    }

    fn with_progress<T>(
        &self,
        invocation: &Arc<str>,
        change: impl FnOnce(&mut Progress) -> T,
    ) -> T {
        let mut watched = self.invocations.lock();
        if !watched.progress.contains_key(invocation) {
            if watched.progress.len() >= MAX_INVOCATIONS {
                let first = watched
                    .progress
                    .iter()
                    .min_by_key(|(_, progress)| progress.begun)
                    .map(|(invocation, _)| Arc::clone(invocation));
                if let Some(first) = first {
                    watched.progress.remove(&first);
                }
            }
            watched.begun += 1;
        }
        let begun = watched.begun;
        let progress = watched
            .progress
            .entry(Arc::clone(invocation))
            .or_insert_with(|| Progress {
                begun,
                ..Progress::default()
            });
        change(progress)
    }
}

#[async_trait]
impl Callbacks for ToolLoopWatch {
    async fn after_invocation(
        &self,
        _payload: &AfterInvocation,
        context: &RunContext,
    ) -> Result<Decision<RunResult>> {
        let invocation = &context.conversation().operation_id;
        self.invocations.lock().progress.remove(invocation);
        Ok(Decision::Continue)
    }

    async fn before_model(
        &self,
        _payload: &BeforeModel,
        context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        self.next_batch(&context.conversation().operation_id)?;
        Ok(Decision::Continue)
    }

    async fn before_tool(
        &self,
        payload: &BeforeTool,
        context: &RunContext,
    ) -> Result<Decision<()>> {
        let call = &payload.tool_use;
        let invocation = &context.conversation().operation_id;
        if !self.options.watches(&call.name) || is_control(call, context) {
            return Ok(Decision::Continue);
        }
        let Some((reason, is_news)) = self.refusal(invocation, call) else {
            return Ok(Decision::Continue);
        };
        if is_news {
            publish(context, Action::Terminate, call);
        }
        Ok(Decision::Cancel(Some(reason)))
    }

    async fn after_tool(
        &self,
        payload: &AfterTool,
        context: &RunContext,
    ) -> Result<Decision<ToolOutcome>> {
        let call = &payload.tool_use;
        if !self.options.watches(&call.name)
            || is_control(call, context)
            || is_waiting(&call.name, &payload.outcome)
        {
            return Ok(Decision::Continue);
        }
        let invocation = &context.conversation().operation_id;
        let action = self.record(invocation, call, &payload.outcome);
        if action != Action::None {
            publish(context, action, call);
        }
        let Some(warning) = self.warning(action, &call.name) else {
            return Ok(Decision::Continue);
        };
        Ok(Decision::Replace(ToolOutcome {
            content: warned(&warning, &payload.outcome.content),
            ..payload.outcome.clone()
        }))
    }
}

fn publish(context: &RunContext, action: Action, call: &ToolUse) {
    let attributes = json!({"action": action.as_str(), "tool_name": call.name});
    context.conversation().notify("tool_loop", attributes);
}

/// Whether the call looks after a program, whose own calls are watched instead.
fn is_control(call: &ToolUse, context: &RunContext) -> bool {
    context.conversation().agent.is_control(&call.name)
}

/// Whether the result says that other agents are not done: asking again is how to wait for them.
fn is_waiting(tool: &str, outcome: &ToolOutcome) -> bool {
    tool == "wait_for_subagents"
        && serde_json::from_str::<Value>(&outcome.content.text()).is_ok_and(|result| {
            result
                .get("status")
                .is_some_and(|status| status == "still_working")
        })
}

fn warned(warning: &str, content: &ToolResultContent) -> ToolResultContent {
    match content {
        ToolResultContent::Text(text) => ToolResultContent::Text(format!("{warning}\n\n{text}")),
        ToolResultContent::Blocks(blocks) => {
            let warning = Content::text(format!("{warning}\n\n"));
            ToolResultContent::Blocks([warning].into_iter().chain(blocks.clone()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolStatus;

    fn call(input: &Value) -> ToolUse {
        ToolUse {
            id: "1".into(),
            name: "lookup".into(),
            input: input.as_object().unwrap().clone(),
        }
    }

    fn outcome(text: &str) -> ToolOutcome {
        ToolOutcome {
            value: None,
            content: ToolResultContent::Text(text.into()),
            status: ToolStatus::Success,
            error: None,
        }
    }

    fn repeat(watch: &ToolLoopWatch, input: &Value, text: &str) -> Action {
        let invocation = Arc::from("i");
        watch.next_batch(&invocation).unwrap();
        watch.record(&invocation, &call(input), &outcome(text))
    }

    #[test]
    fn the_third_fourth_and_fifth_repeat_differ() {
        let watch = ToolLoopWatch::new(ToolLoop::default());
        let invocation = Arc::from("i");
        let input = json!({"a": 1, "b": {"c": 2, "d": 3}});
        let same = json!({"b": {"d": 3, "c": 2}, "a": 1});
        let actions: Vec<Action> = [&input, &same, &input, &same]
            .map(|input| repeat(&watch, input, "x"))
            .into();
        assert_eq!(
            actions,
            [
                Action::None,
                Action::None,
                Action::Warn,
                Action::FinalWarning
            ]
        );
        watch.next_batch(&invocation).unwrap();
        let (reason, is_news) = watch.refusal(&invocation, &call(&input)).unwrap();
        assert!(reason.contains("\"lookup\"") && is_news);
        let other = call(&json!({}));
        assert_eq!(
            watch.refusal(&invocation, &other),
            Some((reason.clone(), false))
        );
        let error = watch.next_batch(&invocation).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::ToolLoop, &*reason)
        );
        assert!(watch.next_batch(&Arc::from("another")).is_ok());
    }

    #[test]
    fn a_changed_result_starts_anew() {
        let watch = ToolLoopWatch::new(ToolLoop::default());
        let input = json!({});
        for text in ["x", "x", "y", "y"] {
            assert_eq!(repeat(&watch, &input, text), Action::None);
        }
        assert_eq!(repeat(&watch, &input, "y"), Action::Warn);
    }

    #[test]
    fn calls_of_one_batch_count_once() {
        let watch = ToolLoopWatch::new(ToolLoop::default().warning_at(2).terminate_at(3));
        let invocation = Arc::from("i");
        watch.next_batch(&invocation).unwrap();
        for _ in 0..4 {
            assert_eq!(watch.refusal(&invocation, &call(&json!({}))), None);
            let action = watch.record(&invocation, &call(&json!({})), &outcome("x"));
            assert_eq!(action, Action::None);
        }
        // Both numbers coincide here: only the first warning is given.
        assert_eq!(repeat(&watch, &json!({}), "x"), Action::Warn);
    }

    #[test]
    fn invocations_are_forgotten_in_order() {
        let watch = ToolLoopWatch::new(ToolLoop::default());
        for number in 0..=MAX_INVOCATIONS {
            watch.next_batch(&Arc::from(number.to_string())).unwrap();
        }
        let watched = watch.invocations.lock();
        assert_eq!(watched.progress.len(), MAX_INVOCATIONS);
        assert!(!watched.progress.contains_key("0"));
    }

    #[test]
    fn waiting_for_others_is_no_loop() {
        let result = outcome("{\"status\":\"still_working\"}");
        assert!(is_waiting("wait_for_subagents", &result));
        assert!(!is_waiting("lookup", &result));
        assert!(!is_waiting(
            "wait_for_subagents",
            &outcome("{\"status\":\"done\"}")
        ));
    }

    #[test]
    fn a_warning_stands_before_the_result() {
        let text = warned("Careful.", &ToolResultContent::Text("x".into())).text();
        assert_eq!(text, "Careful.\n\nx");
        let blocks = ToolResultContent::Blocks(vec![Content::text("x")]);
        assert_eq!(warned("Careful.", &blocks).text(), "Careful.\n\nx");
    }
}
