//! A sandbox of the engine in the hands of a host.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::process::ProcessHandle;
use super::program::{bytes, execution, invalid, number, program, seconds, text};
use super::table::SANDBOXES;
use super::workspace::WorkspaceHandle;
use crate::error::Result;
use crate::host::HostJob;
use crate::sandbox::{self, Feature, Process, Sandbox, Scope, ScopeOptions};
use crate::tools::Operation;

/// A sandbox of the engine in the hands of a host, or a scope of one.
pub struct SandboxHandle {
    id: u64,
    sandbox: Arc<dyn Sandbox>,
    processes: Arc<Started>,
}

/// Processes that were started and not taken yet.
#[derive(Default)]
struct Started {
    next: AtomicU64,
    processes: Mutex<HashMap<u64, Arc<dyn Process>>>,
}

impl Started {
    fn keep(&self, process: Box<dyn Process>) -> Value {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let process: Arc<dyn Process> = process.into();
        let pid = process.pid();
        self.processes.lock().insert(id, process);
        json!({"process": id, "pid": pid})
    }
}

impl SandboxHandle {
    /// Builds the sandbox of that provider over `workspace`; see [`sandbox::build`].
    ///
    /// # Errors
    /// As [`sandbox::build`].
    pub fn build(
        provider: &str,
        workspace: &WorkspaceHandle,
        options: &Map<String, Value>,
    ) -> Result<Self> {
        let workspace = Arc::clone(workspace.workspace());
        Self::of(sandbox::build(provider, workspace, options)?)
    }

    fn of(sandbox: Arc<dyn Sandbox>) -> Result<Self> {
        Ok(Self {
            id: SANDBOXES.add(Arc::downgrade(&sandbox))?,
            sandbox,
            processes: Arc::default(),
        })
    }

    /// The number by which a run finds it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// `{policy, effective_policy, capabilities, limits, writable, narrowing}`; the last is
    /// `{files, runtime_paths, network}` of a scope, else null.
    #[must_use]
    pub fn info(&self) -> Value {
        let effective = self.sandbox.effective_policy();
        let narrowing = self.sandbox.narrowing().map(|narrowing| {
            let mut left = effective.within(Some(narrowing)).to_value();
            if let Some(left) = left.as_object_mut() {
                left.retain(|key, _| ["files", "runtime_paths", "network"].contains(&key.as_str()));
            }
            left
        });
        json!({
            "policy": self.sandbox.policy().to_value(),
            "effective_policy": effective.to_value(),
            "capabilities": self.sandbox.capabilities().to_value(),
            "limits": self.sandbox.limits().to_value(),
            "writable": self.sandbox.is_writable(),
            "narrowing": narrowing,
        })
    }

    /// A scope with these options: `{files, runtime_paths, capabilities, network}`, or `{profile}`.
    ///
    /// # Errors
    /// As [`Scope::new`] and [`Scope::of_profile`]; [`Argument`](crate::ErrorKind::Argument) for a profile
    /// with options beside it.
    pub fn scope(&self, options: &Map<String, Value>) -> Result<Self> {
        let given = |key: &String| options.get(key).is_some_and(|value| !value.is_null());
        let scope = match options.get("profile").and_then(Value::as_str) {
            Some(profile) => {
                if options.keys().any(|key| key != "profile" && given(key)) {
                    return Err(invalid("give a profile or options for a scope, not both"));
                }
                Scope::of_profile(&self.sandbox, profile)?
            }
            None => {
                let mut options = options.clone();
                options.shift_remove("profile");
                Scope::new(
                    &self.sandbox,
                    ScopeOptions::from_value(&Value::Object(options))?,
                )?
            }
        };
        Self::of(Arc::new(scope))
    }

    /// Whether an operation is allowed, at all or at a path.
    #[must_use]
    pub fn allows(&self, operation: &str, path: Option<&str>) -> bool {
        Feature::from_name(operation).is_some_and(|feature| self.sandbox.allows(feature, path))
    }

    /// The command that contains a program, up to the program itself.
    ///
    /// # Errors
    /// As [`Sandbox::wrapper`], and for a program that is none.
    pub fn wrapper(&self, map: &Map<String, Value>) -> Result<Vec<String>> {
        self.sandbox.wrapper(&program(map)?)
    }

    /// The process that an operation `start` answered as `process`; once.
    #[must_use]
    pub fn process(&self, id: u64) -> Option<ProcessHandle> {
        let process = self.processes.processes.lock().remove(&id);
        process.map(ProcessHandle::new)
    }

    /// Starts an operation:
    ///
    /// * `open` and `close` answer null,
    /// * `read` and `list` with `path`, `write` with `path` and `content` or `content_base64`, `replace` with
    ///   `path`, `old_text` and `new_text` answer a text,
    /// * `tool` with `name` and `input` answers what the tool of that name does,
    /// * `execute` with a program, `timeout` and `max_output_bytes` answers `{stdout, stderr, exit_code, error}`,
    /// * `start` with a program answers `{process, pid}`,
    /// * `exec` with a program becomes it, and answers only when that fails.
    ///
    /// A program is `{command, environment, inherit_environment, cwd, output_bytes, memory_bytes, cpu_seconds,
    /// file_bytes, tasks, allow_subprocesses}`.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for what is none of these, and as [`HostJob::start`].
    pub fn perform(&self, map: &Map<String, Value>) -> Result<HostJob> {
        let sandbox = Arc::clone(&self.sandbox);
        let path = || text(map, "path").map(str::to_owned);
        match text(map, "op")? {
            "open" => HostJob::start(async move { sandbox.open(None).await.map(|()| Value::Null) }),
            "close" => HostJob::start(async move { sandbox.close().await.map(|()| Value::Null) }),
            "read" => {
                let path = path()?;
                HostJob::start(async move { Ok(json!(sandbox.read(&path).await?)) })
            }
            "list" => {
                let path = path()?;
                HostJob::start(async move { Ok(json!(sandbox.list(&path).await?)) })
            }
            "write" => {
                let (path, content) = (path()?, bytes(map, "content")?);
                HostJob::start(async move { Ok(json!(sandbox.write(&path, &content).await?)) })
            }
            "replace" => {
                let (path, old) = (path()?, text(map, "old_text")?.to_owned());
                let new = text(map, "new_text")?.to_owned();
                HostJob::start(async move { Ok(json!(sandbox.replace(&path, &old, &new).await?)) })
            }
            "tool" => {
                let operation = Operation::from_name(text(map, "name")?)
                    .ok_or_else(|| invalid("there is no tool of that name"))?;
                let input = map.get("input").and_then(Value::as_object).cloned();
                let input = input.unwrap_or_default();
                HostJob::start(async move { operation.call(&*sandbox, &input).await })
            }
            "execute" => {
                let (program, max_bytes) = (program(map)?, number(map, "max_output_bytes")?);
                let timeout = seconds(map, "timeout")?
                    .ok_or_else(|| invalid("execute needs a timeout in seconds"))?;
                HostJob::start(async move {
                    let done = sandbox.execute(program, timeout, max_bytes).await?;
                    Ok(execution(&done))
                })
            }
            "start" => {
                let (program, processes) = (program(map)?, Arc::clone(&self.processes));
                HostJob::start(async move { Ok(processes.keep(sandbox.start(program).await?)) })
            }
            "exec" => {
                let program = program(map)?;
                HostJob::start(async move { Err(sandbox.exec(program).await) })
            }
            other => Err(invalid(&format!("a sandbox has no operation {other:?}"))),
        }
    }
}

impl Drop for SandboxHandle {
    fn drop(&mut self) {
        SANDBOXES.remove(self.id);
    }
}

impl fmt::Debug for SandboxHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SandboxHandle({})", self.id)
    }
}
