//! What a program may ask of the application: the one way from a program to its tools.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::message::{Attachment, ToolUse};

/// Runs the calls of a [`Broker`]. An async closure that takes a [`ToolUse`] does so too.
///
/// ```
/// use std::sync::Arc;
/// use little_ghost::code_mode::{Answer, Broker};
/// use little_ghost::{ToolUse, json};
///
/// let catalog = vec![json!({"name": "price", "description": "Looks up a price.", "input_schema": {"type": "object"}})];
/// let broker = Broker::new(catalog, Arc::new(|call: ToolUse| async move {
///     Ok(Answer::value(json!({"of": call.input.get("article"), "cents": 4_900})))
/// }));
/// ```
#[async_trait]
pub trait Dispatch: Send + Sync {
    /// Runs `call`, whose name is in the catalog. The arguments are still as the program made them.
    ///
    /// # Errors
    /// What ends more than the call: cancellation, a deadline, a limit of the whole run. What the program may know
    /// and handle is an answer with an error instead.
    async fn dispatch(&self, call: ToolUse) -> Result<Answer>;
}

#[async_trait]
impl<F, A> Dispatch for F
where
    F: Fn(ToolUse) -> A + Send + Sync,
    A: Future<Output = Result<Answer>> + Send,
{
    async fn dispatch(&self, call: ToolUse) -> Result<Answer> {
        self(call).await
    }
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What the tool returned.
    pub value: Value,
    /// Why it failed, in words for the model.
    pub error: Option<String>,
    /// Images and documents beside the value. Programs do not get them; the model does.
    pub attachments: Vec<Attachment>,
}

impl Answer {
    /// A successful call.
    #[must_use]
    pub fn value(value: Value) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// A failed call.
    pub fn error(error: impl Into<String>) -> Self {
        Self {
            error: Some(error.into()),
            ..Self::default()
        }
    }
}

/// What came of one call, with its identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Of the call.
    pub id: String,
    /// What came of it.
    pub answer: Answer,
}

/// Keeps the authority over tools with the application. A program names a tool and gives arguments; whether the call is
/// one, and what it may do, is decided here and behind here.
pub struct Broker {
    catalog: Arc<[Value]>,
    names: HashSet<String>,
    dispatch: Arc<dyn Dispatch>,
    max_calls: Option<u64>,
    calls: AtomicU64,
}

impl Broker {
    /// A broker for the tools of `catalog`, each `{name, description, input_schema, ...}`.
    #[must_use]
    pub fn new(catalog: Vec<Value>, dispatch: Arc<dyn Dispatch>) -> Self {
        let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
        Self {
            names: catalog.iter().filter_map(name).collect(),
            catalog: catalog.into(),
            dispatch,
            max_calls: None,
            calls: AtomicU64::new(0),
        }
    }

    /// The most calls that are passed on.
    #[must_use]
    pub fn max_calls(mut self, calls: u64) -> Self {
        self.max_calls = Some(calls);
        self
    }

    /// The tools that programs may call.
    #[must_use]
    pub fn catalog(&self) -> &Arc<[Value]> {
        &self.catalog
    }

    /// Calls the tool `name`, with or without a leading `tools.`. A tool that is not there and arguments that are no
    /// object are answered with an error.
    ///
    /// # Errors
    /// As [`Dispatch::dispatch`].
    pub async fn call(&self, name: &str, arguments: Value, id: String) -> Result<CallResult> {
        let answer = match self.admit(name, arguments) {
            Ok((name, input)) => {
                let call = ToolUse {
                    id: id.clone(),
                    name,
                    input,
                };
                self.dispatch.dispatch(call).await?
            }
            Err(error) => Answer::error(error),
        };
        Ok(CallResult { id, answer })
    }

    fn admit(&self, name: &str, arguments: Value) -> Result<(String, Map<String, Value>), String> {
        let input = admit(name, arguments, |name| self.names.contains(name))?;
        if let Some(most) = self.max_calls
            && self.calls.fetch_add(1, Ordering::Relaxed) >= most
        {
            return Err(format!(
                "The limit of {most} tool calls is reached (tool_calls)."
            ));
        }
        Ok(input)
    }
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Broker")
            .field("tools", &self.catalog.len())
            .finish_non_exhaustive()
    }
}

/// The tool and the arguments of a call, when `known` knows the tool. The error is for the program.
pub(crate) fn admit(
    name: &str,
    arguments: Value,
    known: impl Fn(&str) -> bool,
) -> Result<(String, Map<String, Value>), String> {
    let plain = name.strip_prefix("tools.").unwrap_or(name);
    if !known(plain) {
        return Err(format!(
            "Tool {plain:?} is not available to code-mode programs."
        ));
    }
    match arguments {
        Value::Object(input) => Ok((plain.to_owned(), input)),
        Value::Null => Ok((plain.to_owned(), Map::new())),
        _ => Err(format!("The arguments of {plain} must be an object.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn echo(call: ToolUse) -> Result<Answer> {
        Ok(Answer::value(
            json!({"name": call.name, "input": call.input}),
        ))
    }

    async fn call(broker: &Broker, name: &str, arguments: Value) -> Answer {
        let called = broker.call(name, arguments, "7".into()).await.unwrap();
        assert_eq!(called.id, "7");
        called.answer
    }

    #[tokio::test]
    async fn only_calls_of_the_catalog_pass() {
        let broker = Broker::new(vec![json!({"name": "look"})], Arc::new(echo));
        let looked = json!({"name": "look", "input": {"at": 1}});
        for name in ["look", "tools.look"] {
            let answer = call(&broker, name, json!({"at": 1})).await;
            assert_eq!(answer, Answer::value(looked.clone()));
        }
        for (name, arguments) in [
            ("exec", json!({})),
            ("tools.tools.look", json!({})),
            ("look", json!([1])),
            ("look", json!("at")),
        ] {
            assert!(
                call(&broker, name, arguments).await.error.is_some(),
                "{name}"
            );
        }
    }

    #[tokio::test]
    async fn calls_are_counted() {
        let broker = Broker::new(vec![json!({"name": "look"})], Arc::new(echo)).max_calls(2);
        for _ in 0..2 {
            assert_eq!(call(&broker, "look", json!({})).await.error, None);
        }
        let over = call(&broker, "look", json!({})).await.error;
        assert!(over.is_some_and(|error| error.contains("2 tool calls")));
    }
}
