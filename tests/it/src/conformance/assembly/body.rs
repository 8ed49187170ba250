//! The body of a workflow, statement by statement.

use std::collections::HashMap;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use little_ghost::async_trait;
use serde_json::{Value, json};

use super::template::fill;

/// What a body works with, whichever door it comes through.
#[async_trait]
pub(super) trait Flow: Send + Sync {
    /// A prepared call.
    type Call: Send;
    /// What keeps a participant from an answer.
    type Failure: Send;

    /// Prepares the call of `spec`, which asks `input` unless that is missing.
    fn invoke(&self, spec: &Value, input: Option<String>) -> Result<Self::Call, Self::Failure>;
    async fn read(&self, call: Self::Call) -> Result<Value, Self::Failure>;
    async fn parallel(
        &self,
        calls: Vec<Self::Call>,
        max_concurrency: usize,
    ) -> Result<Vec<Value>, Self::Failure>;
    /// `input`, `history`, or one `context` value.
    fn given(&self, name: &str, key: &str) -> Option<Value>;
    /// Whether the failure is of that class.
    fn is(&self, failure: &Self::Failure, class: &str) -> bool;
    fn class(&self, failure: &Self::Failure) -> String;
    /// An exception of the application.
    fn boom(&self, message: &str) -> Self::Failure;
}

/// What a body came to.
pub(super) enum Ending<C> {
    /// The final invocation.
    Call(C),
    /// Something that is no open invocation.
    Other,
    /// It goes on.
    Nothing,
}

enum Known<C> {
    Value(Value),
    Call(C),
}

/// One call of a body.
pub(super) struct Body<'a, F: Flow> {
    flow: &'a F,
    known: HashMap<String, Known<F::Call>>,
}

impl<'a, F: Flow> Body<'a, F> {
    pub(super) fn new(flow: &'a F) -> Self {
        Self {
            flow,
            known: HashMap::new(),
        }
    }

    /// Runs `statements` until one returns.
    pub(super) fn run<'b>(
        &'b mut self,
        statements: &'b Value,
    ) -> BoxFuture<'b, Result<Ending<F::Call>, F::Failure>> {
        async move {
            for statement in statements.as_array().into_iter().flatten() {
                match self.step(statement).await? {
                    Ending::Nothing => {}
                    ending => return Ok(ending),
                }
            }
            Ok(Ending::Nothing)
        }
        .boxed()
    }

    async fn step(&mut self, statement: &Value) -> Result<Ending<F::Call>, F::Failure> {
        let text = |key: &str| statement[key].as_str().unwrap_or_default();
        let kind = statement
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .as_str();
        match kind {
            "let" => {
                let value = self.value(statement).await?;
                self.note(text("let"), value);
            }
            "prepare" => {
                let call = self.invoke(&statement["of"])?;
                self.known
                    .insert(text("prepare").to_owned(), Known::Call(call));
            }
            "read" => {
                let value = match self.known.remove(text("read")) {
                    Some(Known::Call(call)) => self.flow.read(call).await?,
                    Some(Known::Value(value)) => value,
                    None => panic!("nothing is called {}", text("read")),
                };
                self.note(text("read"), value.clone());
                self.note(text("as"), value);
            }
            "if" => {
                let condition = &statement["if"];
                let holds = self.fill(condition["that"].as_str().unwrap()) == condition["is"];
                let branch = if holds { "then" } else { "else" };
                return self.run(&statement[branch]).await;
            }
            "try" => match self.run(&statement["try"]).await {
                Err(failure) if self.flow.is(&failure, text("catch")) => {
                    self.note("error", json!(self.flow.class(&failure)));
                    return self.run(&statement["then"]).await;
                }
                other => return other,
            },
            "raise" => return Err(self.flow.boom(text("raise"))),
            "return" => return Ok(Ending::Call(self.invoke(&statement["return"])?)),
            "return_prepared" => {
                return Ok(match self.known.remove(text("return_prepared")) {
                    Some(Known::Call(call)) => Ending::Call(call),
                    _ => Ending::Other,
                });
            }
            "return_value" => return Ok(Ending::Other),
            other => panic!("unknown statement {other}"),
        }
        Ok(Ending::Nothing)
    }

    async fn value(&mut self, statement: &Value) -> Result<Value, F::Failure> {
        if let Some(call) = statement.get("of") {
            return self.flow.read(self.invoke(call)?).await;
        }
        let calls = statement["parallel"].as_array().unwrap().iter();
        let calls = calls
            .map(|call| self.invoke(call))
            .collect::<Result<_, _>>()?;
        let limit = statement["max_concurrency"].as_u64().unwrap_or(8);
        let outputs = self.flow.parallel(calls, usize::try_from(limit).unwrap());
        outputs.await.map(Value::Array)
    }

    fn invoke(&self, call: &Value) -> Result<F::Call, F::Failure> {
        let named;
        let spec = if call.is_string() {
            named = json!({"run": call});
            &named
        } else {
            call
        };
        self.flow
            .invoke(spec, spec["input"].as_str().map(|text| self.fill(text)))
    }

    fn note(&mut self, name: &str, value: Value) {
        self.known.insert(name.to_owned(), Known::Value(value));
    }

    fn fill(&self, text: &str) -> String {
        fill(text, |name, key| {
            if let Some(value) = self.flow.given(name, key) {
                return value;
            }
            match self.known.get(name) {
                Some(Known::Value(value)) if key.is_empty() => value.clone(),
                Some(Known::Value(value)) => value[key].clone(),
                _ => panic!("nothing is called {name}"),
            }
        })
    }
}
