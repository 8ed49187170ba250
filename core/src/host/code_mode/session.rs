//! A session of a built-in engine that a host uses by itself, outside of agents.

use std::os::fd::RawFd;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::sandboxes::{HostSandboxes, are_of_host};
use crate::code_mode::{
    Answer, Broker, DeclaredSandboxes, Dispatch, SandboxFactory, Session, Source, declared_engine,
};
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::host::channel::{HostCallKind, HostChannel, HostFailure};
use crate::host::door::Door;
use crate::host::{HostJob, WakeSignal};
use crate::message::ToolUse;
use crate::run::{Item, Outbox};

/// A session of a built-in engine that a host uses by itself.
///
/// Operations are jobs. While one is going on, the host also waits for [`fd`](Self::fd), drains what is there, runs the
/// tools that programs call, and answers. Dropping the session ends its program.
pub struct HostProgramSession {
    channel: Arc<HostChannel>,
    outbox: Arc<Outbox>,
    signal: Arc<WakeSignal>,
    session: Arc<dyn Session>,
}

impl HostProgramSession {
    /// Opens a session: `engine` is a name or `{name, interpreter?}`, `catalog` the tools of the host's broker, `sandbox` a
    /// declaration.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown engine, [`ErrorKind::Argument`] for an unusable limit, and
    /// [`ErrorKind::Error`] when the process is out of descriptors.
    pub fn open(
        engine: &Value,
        catalog: Vec<Value>,
        sandbox: Value,
        limits: Map<String, Value>,
    ) -> Result<Self> {
        let engine = declared_engine(engine)?;
        let signal = Arc::new(WakeSignal::new().map_err(|problem| {
            Error::new(
                ErrorKind::Error,
                format!("cannot open a descriptor: {problem}; raise the limit of open files"),
            )
        })?);
        let outbox = Outbox::for_host(Arc::clone(&signal));
        let channel = HostChannel::new(Arc::clone(&outbox));
        let broker = Arc::new(Broker::new(
            catalog,
            Arc::new(HostDispatch(Arc::clone(&channel))),
        ));
        let sandboxes: Arc<dyn SandboxFactory> = if are_of_host(&sandbox) {
            Arc::new(HostSandboxes(Door::new(&channel, 0)))
        } else {
            Arc::new(DeclaredSandboxes::new(sandbox))
        };
        let _entered = executor::enter()?;
        let session =
            futures_util::FutureExt::now_or_never(engine.open_session(broker, sandboxes, limits))
                .unwrap_or_else(|| {
                Err(Error::new(
                    ErrorKind::Configuration,
                    "only engines that are built in can be used by themselves",
                ))
            })?;
        Ok(Self {
            channel,
            outbox,
            signal,
            session,
        })
    }

    /// Starts `"execute"` (of `{source, catalog, frame?, max_output_tokens?}`), `"wait"`, `"stop"` (of `{max_output_tokens?}`)
    /// or `"close"`. The job's answer is a program result, null for `"close"`.
    ///
    /// # Errors
    /// As [`HostJob::start`].
    pub fn operate(&self, operation: &str, input: Value) -> Result<HostJob> {
        let (session, operation) = (Arc::clone(&self.session), operation.to_owned());
        HostJob::start(async move { operate(&*session, &operation, &input).await })
    }

    /// Readable while calls wait. It belongs to the session.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.signal.fd()
    }

    /// What waits: calls of kind `code_mode` with `{op: "call", id, name, arguments}`, to be answered by `{value}` or
    /// `{error}`, and calls that were given up.
    #[must_use]
    pub fn drain(&self) -> Vec<Item> {
        self.outbox.drain().into()
    }

    /// Answers a call. One that was given up is ignored. A failure ends the program and is what its operation fails with.
    pub fn complete(&self, id: u64, answer: Result<Value, HostFailure>) {
        self.channel.complete(id, answer);
    }
}

impl Drop for HostProgramSession {
    fn drop(&mut self) {
        self.channel.disconnect();
    }
}

/// Runs one operation.
async fn operate(session: &dyn Session, operation: &str, input: &Value) -> Result<Value> {
    let tokens = input
        .get("max_output_tokens")
        .and_then(Value::as_u64)
        .map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    let result = match operation {
        "execute" => {
            let catalog = input.get("catalog").and_then(Value::as_array);
            let source = input.get("source").and_then(Value::as_str);
            session
                .execute(Source {
                    source: source.unwrap_or_default().to_owned(),
                    catalog: catalog.cloned().unwrap_or_default().into(),
                    frame: input.get("frame").filter(|frame| !frame.is_null()).cloned(),
                    max_output_tokens: tokens,
                })
                .await?
        }
        "wait" => session.wait(tokens).await?,
        "stop" => session.stop(tokens).await?,
        _ => {
            session.close().await?;
            return Ok(Value::Null);
        }
    };
    Ok(result.to_value())
}

/// Tools that the host runs.
struct HostDispatch(Arc<HostChannel>);

#[async_trait]
impl Dispatch for HostDispatch {
    async fn dispatch(&self, call: ToolUse) -> Result<Answer> {
        let asked =
            json!({"op": "call", "id": call.id, "name": call.name, "arguments": call.input});
        let mut answer = self.0.call(HostCallKind::CodeMode, asked).await?;
        let error = answer
            .get("error")
            .and_then(Value::as_str)
            .map(str::to_owned);
        Ok(Answer {
            value: answer.get_mut("value").map(Value::take).unwrap_or_default(),
            error,
            attachments: Vec::new(),
        })
    }
}
