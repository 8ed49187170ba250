//! A command wrapper of the host.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::program::invalid;
use crate::error::Result;
use crate::host::HostQuestions;
use crate::sandbox::{CommandWrapper, Narrowing, Policy, register_command_wrapper};
use crate::support::Registration;

/// A command wrapper of the host, known under its key. It is asked `{op: "wrap", command, scope}` and answers the whole
/// command; the scope is `{files, runtime_paths, capabilities, network}` or null.
pub struct HostCommandWrapper(Registration<dyn CommandWrapper>);

impl HostCommandWrapper {
    /// The wrapper that answers these questions.
    ///
    /// # Errors
    /// [`Error`](crate::ErrorKind::Error) in a forked child whose parent was registering one at that moment.
    pub fn new(key: u64, questions: Arc<HostQuestions>) -> Result<Self> {
        register_command_wrapper(key, Arc::new(Asked(questions))).map(Self)
    }

    /// How the options of a sandbox name it.
    #[must_use]
    pub fn declaration(&self) -> Value {
        self.0.declaration()
    }
}

impl fmt::Debug for HostCommandWrapper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostCommandWrapper")
    }
}

struct Asked(Arc<HostQuestions>);

#[async_trait]
impl CommandWrapper for Asked {
    async fn wrap(&self, command: Vec<String>, scope: Option<&Narrowing>) -> Result<Vec<String>> {
        let question = json!({"op": "wrap", "command": command, "scope": scope.map(left)});
        let Value::Array(words) = self.0.ask(question).await? else {
            return Err(no_command());
        };
        let words: Option<Vec<String>> = words
            .into_iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect();
        words
            .filter(|words| !words.is_empty())
            .ok_or_else(no_command)
    }
}

fn no_command() -> crate::Error {
    invalid(
        "a command wrapper must return the command line: a program and its arguments, all texts",
    )
}

/// What is left in a scope, as a scope is declared.
fn left(scope: &Narrowing) -> Value {
    let paths = Policy {
        files: scope.files.clone(),
        runtime_paths: scope.runtime_paths.clone(),
        network: scope.network.clone(),
        ..Policy::default()
    }
    .to_value();
    json!({
        "files": paths.get("files"), "runtime_paths": paths.get("runtime_paths"),
        "capabilities": scope.capabilities.to_value().get("features"), "network": paths.get("network"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    async fn answered(answer: Value) -> Result<Vec<String>> {
        let questions = HostQuestions::new()?;
        let wrapper = HostCommandWrapper::new(77, Arc::clone(&questions))?;
        assert_eq!(wrapper.declaration(), json!({"host": 77}));
        let host = async {
            loop {
                for (id, question) in questions.drain().unwrap_or_default() {
                    assert_eq!(
                        question,
                        json!({"op": "wrap", "command": ["bwrap"], "scope": null})
                    );
                    questions.complete(id, Ok(answer.clone()));
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            wrapped = wrapper.0.object().wrap(vec!["bwrap".to_owned()], None) => wrapped,
            () = host => Ok(Vec::new()),
        }
    }

    #[tokio::test]
    async fn the_host_makes_the_command() {
        assert_eq!(
            answered(json!(["nice", "bwrap"])).await.unwrap(),
            ["nice", "bwrap"]
        );
        for wrong in [json!("bwrap"), json!([]), json!([1]), Value::Null] {
            let problem = answered(wrong).await.unwrap_err();
            assert_eq!(problem.kind(), ErrorKind::Argument);
        }
    }
}
