//! Engines whose sessions are user code of the host.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::sandboxes::with_sandboxes;
use crate::code_mode::{
    Broker, CodeMode, Engine, EngineChoice, ProgramResult, SandboxFactory, Session, Source,
};
use crate::error::{Error, ErrorKind, Result};
use crate::host::channel::HostCallKind;
use crate::host::door::Door;

/// `mode` with the engine of the host in it, if it declares one: `{key, language}`, and with its sandboxes.
pub(in crate::host) fn adopt(mode: CodeMode, door: &Door) -> Result<CodeMode> {
    let mode = with_sandboxes(mode, door);
    let EngineChoice::Declared(declared) = &mode.engine else {
        return Ok(mode);
    };
    let Some(key) = declared.get("key") else {
        return Ok(mode);
    };
    let language = declared.get("language").and_then(Value::as_str);
    let engine = HostEngine {
        door: door.clone(),
        key: key.clone(),
        language: language.unwrap_or("program").to_owned(),
    };
    Ok(CodeMode {
        engine: EngineChoice::Own(Arc::new(engine)),
        ..mode
    })
}

/// An engine of the host, by its key in the host's table.
struct HostEngine {
    door: Door,
    key: Value,
    language: String,
}

#[async_trait]
impl Engine for HostEngine {
    fn language(&self) -> &str {
        &self.language
    }

    async fn instructions(&self, catalog: &[Value]) -> Result<String> {
        let asked = json!({"op": "instructions", "engine": self.key, "catalog": catalog});
        match self.door.call(HostCallKind::CodeMode, asked).await? {
            Value::String(text) => Ok(text),
            _ => Err(unusable("instructions must be a text")),
        }
    }

    async fn open_session(
        &self,
        broker: Arc<Broker>,
        _sandboxes: Arc<dyn SandboxFactory>,
        limits: Map<String, Value>,
    ) -> Result<Arc<dyn Session>> {
        let catalog = Arc::clone(broker.catalog());
        let broker = self.door.channel.brokers.add(broker);
        let mut session = HostSession {
            door: self.door.clone(),
            broker,
            key: Value::Null,
        };
        // The sandboxes are the host's own: it knows what was declared.
        let asked = json!({
            "op": "open", "engine": self.key, "broker": broker, "catalog": *catalog, "limits": limits,
        });
        let opened = self.door.call(HostCallKind::CodeMode, asked).await?;
        session.key = opened
            .get("session")
            .cloned()
            .ok_or_else(|| unusable("an opened session must be {session: key}"))?;
        Ok(Arc::new(session))
    }
}

fn unusable(problem: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("code mode: {problem}"))
}

/// A session of the host, by its key in the host's table.
struct HostSession {
    door: Door,
    broker: u64,
    key: Value,
}

impl HostSession {
    async fn ask(
        &self,
        op: &str,
        source: Option<Source>,
        tokens: Option<usize>,
    ) -> Result<ProgramResult> {
        let mut asked = json!({"op": op, "session": self.key, "max_output_tokens": tokens});
        if let (Some(source), Some(asked)) = (source, asked.as_object_mut()) {
            asked.insert("source".into(), json!(source.source));
            asked.insert("catalog".into(), json!(*source.catalog));
            asked.insert("frame".into(), json!(source.frame));
        }
        let result = self.door.call(HostCallKind::CodeMode, asked).await?;
        ProgramResult::from_value(&result)
    }
}

#[async_trait]
impl Session for HostSession {
    async fn execute(&self, source: Source) -> Result<ProgramResult> {
        let tokens = source.max_output_tokens;
        self.ask("execute", Some(source), tokens).await
    }

    async fn wait(&self, max_output_tokens: Option<usize>) -> Result<ProgramResult> {
        self.ask("wait", None, max_output_tokens).await
    }

    async fn stop(&self, max_output_tokens: Option<usize>) -> Result<ProgramResult> {
        self.ask("stop", None, max_output_tokens).await
    }

    async fn close(&self) -> Result<()> {
        // A call of this kind reaches the host even when nobody consumes the run any more.
        let closed = self
            .door
            .call(HostCallKind::Close, json!({"programs": self.key}))
            .await;
        self.door.channel.brokers.remove(self.broker);
        closed.map(drop)
    }
}

impl Drop for HostSession {
    fn drop(&mut self) {
        self.door.channel.brokers.remove(self.broker);
    }
}
