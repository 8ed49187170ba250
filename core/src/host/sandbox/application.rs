//! A sandbox that the application has itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::program::{encoded, execution_from, invalid, output_from, status_from, to_map};
use super::table::{SANDBOXES, WORKSPACES};
use crate::error::Result;
use crate::executor;
use crate::host::channel::HostCallKind;
use crate::host::door::Door;
use crate::run::{Premises, Run};
use crate::sandbox::data::{self, Scratch};
use crate::sandbox::{
    Capabilities, Execution, ExitStatus, Limits, Output, Policy, Process, Program, Sandbox,
};
use crate::workspace::Workspace;

/// What an entrypoint's answer says about the workspace and the sandbox of its run: `workspace` is the number of
/// a handle, `sandbox` is `{native: number}` or `{host: {key, workspace, policy, effective_policy, capabilities,
/// limits}}`. `None` when it says nothing.
pub(in crate::host) fn premises(
    door: &Door,
    answer: &Map<String, Value>,
) -> Result<Option<Premises>> {
    let mut premises = Premises::default();
    match answer.get("workspace") {
        None | Some(Value::Null) => {}
        Some(id) => premises.workspace = Some(WORKSPACES.get(id.as_u64())?),
    }
    match answer.get("sandbox") {
        None | Some(Value::Null) => {}
        Some(sandbox) => {
            let sandbox = sandbox_of(door, sandbox)?;
            premises.workspace = Some(Arc::clone(sandbox.workspace()));
            premises.sandbox = Some(sandbox);
        }
    }
    Ok((premises.workspace.is_some()).then_some(premises))
}

/// The sandbox that a host describes: `{native: number}` or `{host: {...}}`, see [`premises`].
pub(in crate::host) fn sandbox_of(door: &Door, described: &Value) -> Result<Arc<dyn Sandbox>> {
    match described.get("host") {
        Some(Value::Object(own)) => Ok(Arc::new(ApplicationSandbox::from_map(door, own)?)),
        _ => SANDBOXES.get(described.get("native").and_then(Value::as_u64)),
    }
}

/// A sandbox whose methods are code of the host.
struct ApplicationSandbox {
    door: Door,
    key: Value,
    workspace: Arc<Workspace>,
    policy: Policy,
    effective: Policy,
    capabilities: Capabilities,
    limits: Limits,
}

impl ApplicationSandbox {
    fn from_map(door: &Door, map: &Map<String, Value>) -> Result<Self> {
        let policy = Policy::from_value(map.get("policy").unwrap_or(&Value::Null))?;
        Ok(Self {
            door: door.clone(),
            key: map.get("key").cloned().unwrap_or_default(),
            workspace: WORKSPACES.get(map.get("workspace").and_then(Value::as_u64))?,
            effective: match map.get("effective_policy") {
                None | Some(Value::Null) => policy.clone(),
                Some(effective) => Policy::from_value(effective)?,
            },
            policy,
            capabilities: Capabilities::from_value(
                map.get("capabilities").unwrap_or(&Value::Null),
            )?,
            limits: match map.get("limits").and_then(Value::as_object) {
                None => Limits::default(),
                Some(limits) => Limits::from_map(limits)?,
            },
        })
    }

    async fn call(&self, op: &str, mut payload: Map<String, Value>) -> Result<Value> {
        payload.insert("key".into(), self.key.clone());
        payload.insert("op".into(), json!(op));
        self.door
            .call(HostCallKind::Sandbox, Value::Object(payload))
            .await
    }

    /// `program` with its files in the workspace: a host has no other place that it surely shows.
    async fn with_files(&self, mut program: Program) -> Result<(Program, Option<Scratch>)> {
        if program.data.is_empty() {
            return Ok((program, None));
        }
        let root = self.workspace.root().to_owned();
        let policy = self.effective.clone();
        executor::blocking(move || {
            let folder = data::place_in_workspace(&mut program, &root, &policy)?;
            Ok((program, folder))
        })
        .await
    }

    async fn text(&self, op: &str, payload: Value) -> Result<String> {
        let payload = payload.as_object().cloned().unwrap_or_default();
        match self.call(op, payload).await? {
            Value::String(text) => Ok(text),
            Value::Null => Ok(String::new()),
            _ => Err(invalid(&format!("{op} must answer a text"))),
        }
    }
}

#[async_trait]
impl Sandbox for ApplicationSandbox {
    fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn effective_policy(&self) -> Policy {
        self.effective.clone()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The host opens and closes what is its own.
    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn read(&self, path: &str) -> Result<String> {
        self.text("read", json!({"path": path})).await
    }

    async fn list(&self, path: &str) -> Result<String> {
        self.text("list", json!({"path": path})).await
    }

    async fn write(&self, path: &str, content: &[u8]) -> Result<String> {
        let content = encoded(content);
        self.text("write", json!({"path": path, "content_base64": content}))
            .await
    }

    async fn replace(&self, path: &str, old_text: &str, new_text: &str) -> Result<String> {
        let payload = json!({"path": path, "old_text": old_text, "new_text": new_text});
        self.text("replace", payload).await
    }

    async fn start(&self, program: Program) -> Result<Box<dyn Process>> {
        let (program, folder) = self.with_files(program).await?;
        let answer = self.call("start", to_map(&program)).await?;
        let answer = answer
            .as_object()
            .ok_or_else(|| invalid("start must answer {process, pid}"))?;
        let pid = answer.get("pid").and_then(Value::as_u64);
        let process = ApplicationProcess {
            door: self.door.clone(),
            key: answer.get("process").cloned().unwrap_or_default(),
            pid: pid
                .and_then(|pid| u32::try_from(pid).ok())
                .unwrap_or_default(),
            closed: AtomicBool::new(false),
        };
        Ok(data::keep(Box::new(process), folder))
    }

    async fn execute(
        &self,
        program: Program,
        timeout: Duration,
        max_output_bytes: Option<u64>,
    ) -> Result<Execution> {
        let (program, _folder) = self.with_files(program).await?;
        let mut payload = to_map(&program);
        payload.insert("timeout".into(), json!(timeout.as_secs_f64()));
        payload.insert("max_output_bytes".into(), json!(max_output_bytes));
        Ok(execution_from(&self.call("execute", payload).await?))
    }
}

/// A process whose methods are code of the host.
struct ApplicationProcess {
    door: Door,
    key: Value,
    pid: u32,
    closed: AtomicBool,
}

impl ApplicationProcess {
    async fn call(&self, op: &str, payload: Value) -> Result<Value> {
        call_process(&self.door, &self.key, op, payload).await
    }
}

async fn call_process(door: &Door, key: &Value, op: &str, mut payload: Value) -> Result<Value> {
    if let Some(payload) = payload.as_object_mut() {
        payload.insert("process".into(), key.clone());
        payload.insert("op".into(), json!(op));
    }
    door.call(HostCallKind::Sandbox, payload).await
}

#[async_trait]
impl Process for ApplicationProcess {
    fn pid(&self) -> u32 {
        self.pid
    }

    async fn read(&self, timeout: Duration) -> Result<Output> {
        let payload = json!({"timeout": timeout.as_secs_f64()});
        output_from(&self.call("process_read", payload).await?)
    }

    async fn write(&self, bytes: &[u8]) -> Result<()> {
        let payload = json!({"data_base64": encoded(bytes)});
        self.call("process_write", payload).await.map(drop)
    }

    async fn close_write(&self) -> Result<()> {
        self.call("process_close_write", json!({})).await.map(drop)
    }

    async fn is_alive(&self) -> Result<bool> {
        Ok(self.call("process_alive", json!({})).await? == Value::Bool(true))
    }

    async fn wait(&self, timeout: Option<Duration>, terminate: bool) -> Result<ExitStatus> {
        let timeout = timeout.map(|timeout| timeout.as_secs_f64());
        let payload = json!({"timeout": timeout, "terminate": terminate});
        let answer = self.call("process_wait", payload).await?;
        status_from(&answer, self.pid).ok_or_else(|| invalid("wait must answer {code, signal}"))
    }

    async fn terminate(&self) -> Result<Option<ExitStatus>> {
        let answer = self.call("process_terminate", json!({})).await?;
        Ok(status_from(&answer, self.pid))
    }

    async fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.call("process_close", json!({})).await.map(drop)
    }
}

impl Drop for ApplicationProcess {
    fn drop(&mut self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let (door, key) = (self.door.clone(), self.key.clone());
        // Nobody is left to tell of a failure.
        let _ = executor::spawn(async move {
            let _ = call_process(&door, &key, "process_close", json!({})).await;
        });
    }
}
