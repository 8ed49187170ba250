//! A process in the hands of a host.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::program::{bytes, execution, invalid, number, output, seconds, status, text};
use crate::error::Result;
use crate::host::HostJob;
use crate::sandbox::{Execution, Process};

/// A process in the hands of a host. Dropping it ends the process.
pub struct ProcessHandle(Arc<dyn Process>);

impl ProcessHandle {
    pub(super) fn new(process: Arc<dyn Process>) -> Self {
        Self(process)
    }

    /// Its number on the host.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Starts an operation: `{op: "read", timeout}` answers `{stdout_base64, stderr_base64, eof}`; `write` with
    /// `data` or `data_base64`, `close_write` and `close` answer null, `alive` true or false, `wait` with
    /// `timeout` and `terminate`, and `terminate`, answer `{pid, code, signal}`; `collect` with `timeout` and
    /// `max_output_bytes` ends its input, waits for its end, and answers what `execute` of a sandbox does.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for an unknown operation, and as [`HostJob::start`].
    pub fn perform(&self, map: &Map<String, Value>) -> Result<HostJob> {
        let process = Arc::clone(&self.0);
        let timeout = seconds(map, "timeout")?;
        match text(map, "op")? {
            "read" => HostJob::start(async move {
                let read = process.read(timeout.unwrap_or(Duration::ZERO)).await?;
                Ok(output(&read))
            }),
            "write" => {
                let data = bytes(map, "data")?;
                HostJob::start(async move { process.write(&data).await.map(|()| Value::Null) })
            }
            "close_write" => {
                HostJob::start(async move { process.close_write().await.map(|()| Value::Null) })
            }
            "alive" => HostJob::start(async move { Ok(json!(process.is_alive().await?)) }),
            "wait" => {
                let terminate = map.get("terminate") != Some(&Value::Bool(false));
                HostJob::start(async move { Ok(status(process.wait(timeout, terminate).await?)) })
            }
            "terminate" => HostJob::start(async move {
                let ended = process.terminate().await?;
                Ok(ended.map_or(Value::Null, status))
            }),
            "collect" => {
                let timeout =
                    timeout.ok_or_else(|| invalid("collect needs a timeout in seconds"))?;
                let max_bytes = number(map, "max_output_bytes")?.unwrap_or(u64::MAX);
                HostJob::start(async move {
                    let collected = Execution::of(&*process, timeout, max_bytes).await?;
                    Ok(execution(&collected))
                })
            }
            "close" => HostJob::start(async move { process.close().await.map(|()| Value::Null) }),
            other => Err(invalid(&format!("a process has no operation {other:?}"))),
        }
    }
}

impl fmt::Debug for ProcessHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ProcessHandle({})", self.pid())
    }
}
