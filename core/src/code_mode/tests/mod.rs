//! Programs in real processes.

mod faults;
mod languages;
mod lifecycle;
mod limits;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::languages::Language;
use super::sandboxes::DeclaredSandboxes;
use super::session::ProgramSession;
use super::{
    Answer, Broker, Dispatch, JavascriptEngine, ProgramResult, PythonEngine, RubyEngine, Session,
    Source,
};
use crate::error::{Error, Result};
use crate::message::ToolUse;

/// Tools of the tests.
pub(super) struct Tools;

#[async_trait]
impl Dispatch for Tools {
    async fn dispatch(&self, call: ToolUse) -> Result<Answer> {
        Ok(match call.name.as_str() {
            "echo" => Answer::value(Value::Object(call.input)),
            "json-text" => Answer::value(json!("{\"a\": [1]}")),
            "fail" => Answer::error("not today"),
            "never" => std::future::pending().await,
            "fatal" => {
                return Err(Error::new(
                    crate::ErrorKind::Configuration,
                    "everything is over",
                ));
            }
            "huge" => Answer::value(json!("x".repeat(70 * 1024 * 1024))),
            name => Answer::error(format!("what is {name}?")),
        })
    }
}

pub(super) fn catalog() -> Vec<Value> {
    ["echo", "json-text", "fail", "never", "fatal", "huge"]
        .into_iter()
        .map(|name| {
            json!({
                "name": name, "description": format!("Does {name}."),
                "input_schema": {"type": "object", "properties": {"at": {"type": "integer"}}},
            })
        })
        .collect()
}

pub(super) fn broker() -> Arc<Broker> {
    Arc::new(Broker::new(catalog(), Arc::new(Tools)))
}

pub(super) fn session(language: impl Language, limits: Value) -> ProgramSession {
    session_in("unrestricted", language, limits)
}

pub(super) fn session_in(sandbox: &str, language: impl Language, limits: Value) -> ProgramSession {
    let sandboxes = Arc::new(DeclaredSandboxes::new(json!(sandbox)));
    let limits: &Map<String, Value> = limits.as_object().unwrap();
    ProgramSession::open(Arc::new(language), broker(), sandboxes, limits).unwrap()
}

pub(super) fn javascript(limits: Value) -> ProgramSession {
    session(JavascriptEngine, limits)
}

pub(super) fn source(text: &str) -> Source {
    Source {
        source: text.into(),
        catalog: catalog().into(),
        ..Source::default()
    }
}

pub(super) async fn run(session: &ProgramSession, text: &str) -> ProgramResult {
    session.execute(source(text)).await.unwrap()
}

/// What a program says about itself: status, output, value, error.
pub(super) async fn report(session: &ProgramSession, text: &str) -> Value {
    Value::Object(run(session, text).await.to_report())
}

/// Waits until `is` holds.
pub(super) async fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let patience = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), patience).await;
    assert!(waited.is_ok(), "{what}");
}

/// Whether the process of that number is there, and no zombie.
pub(super) fn is_there(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}
