//! Processes without a sandbox.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::process::ProcessHandle;
use super::program::{program, text};
use crate::error::Result;
use crate::host::HostJob;
use crate::sandbox::{Process, ProcessOptions, ProcessSession};

/// Starts a process of its own, without a sandbox: a program without `cwd` and `tasks`, and `chdir`. Once the job has
/// answered, the process is in the slot.
///
/// # Errors
/// [`Argument`](crate::ErrorKind::Argument) for options that cannot be used, and as [`HostJob::start`].
pub fn start_process(
    map: &Map<String, Value>,
) -> Result<(HostJob, Arc<Mutex<Option<ProcessHandle>>>)> {
    let program = program(map)?;
    let mut options = ProcessOptions::new(program.command);
    options.environment = program.environment;
    options.inherit_environment = program.inherit_environment;
    if map.get("chdir").is_some_and(|chdir| !chdir.is_null()) {
        options.chdir = Some(text(map, "chdir")?.into());
    }
    options.output_bytes = program.output_bytes.unwrap_or(options.output_bytes);
    options.memory_bytes = program.memory_bytes;
    options.cpu_seconds = program.cpu_seconds;
    options.file_bytes = program.file_bytes;
    let slot = Arc::new(Mutex::new(None));
    let started = Arc::clone(&slot);
    let job = HostJob::start(async move {
        let process: Arc<dyn Process> = Arc::new(ProcessSession::start(options).await?);
        let pid = process.pid();
        *started.lock() = Some(ProcessHandle::new(process));
        Ok(json!({"pid": pid}))
    })?;
    Ok((job, slot))
}
