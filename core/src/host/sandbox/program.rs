//! Programs and their outcomes as values.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{Execution, ExitStatus, Output, Program};

/// Reads `{command, environment, inherit_environment, cwd, output_bytes, memory_bytes, cpu_seconds, file_bytes,
/// tasks, allow_subprocesses}`; a text as command is a line for a shell.
pub(super) fn program(map: &Map<String, Value>) -> Result<Program> {
    let mut program = match map.get("command") {
        Some(Value::String(line)) => Program::shell(line),
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            Program::new(words.ok_or_else(|| invalid("command must be an array of texts"))?)
        }
        _ => return Err(invalid("command must be an array of texts")),
    };
    if let Some(Value::Object(variables)) = map.get("environment") {
        for (name, value) in variables {
            let value = value
                .as_str()
                .ok_or_else(|| invalid("values of environment must be texts"))?;
            program.environment.push((name.clone(), value.to_owned()));
        }
    }
    program.inherit_environment = map.get("inherit_environment") == Some(&Value::Bool(true));
    program.cwd = map.get("cwd").and_then(Value::as_str).map(str::to_owned);
    program.output_bytes = number(map, "output_bytes")?;
    program.memory_bytes = number(map, "memory_bytes")?;
    program.cpu_seconds = number(map, "cpu_seconds")?;
    program.file_bytes = number(map, "file_bytes")?;
    program.tasks = number(map, "tasks")?;
    program.allow_subprocesses = map.get("allow_subprocesses").and_then(Value::as_bool);
    Ok(program)
}

/// The program as a host's own sandbox gets it.
pub(super) fn to_map(program: &Program) -> Map<String, Value> {
    let environment: Map<String, Value> = program
        .environment
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    let value = json!({
        "command": program.command, "environment": environment,
        "inherit_environment": program.inherit_environment, "cwd": program.cwd,
        "output_bytes": program.output_bytes, "memory_bytes": program.memory_bytes,
        "cpu_seconds": program.cpu_seconds, "file_bytes": program.file_bytes,
        "tasks": program.tasks, "allow_subprocesses": program.allow_subprocesses,
    });
    value.as_object().cloned().unwrap_or_default()
}

/// A positive whole number, if there is one.
pub(super) fn number(map: &Map<String, Value>, key: &str) -> Result<Option<u64>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) if number >= 1 => Ok(Some(number)),
            _ => Err(invalid(&format!(
                "{key} must be a whole number of at least 1, got {value}"
            ))),
        },
    }
}

/// A number of seconds, if there is one.
pub(super) fn seconds(map: &Map<String, Value>, key: &str) -> Result<Option<Duration>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(Some)
            .ok_or_else(|| invalid(&format!("{key} must be a number of seconds, got {value}"))),
    }
}

pub(super) fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a str> {
    map.get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| invalid(&format!("{key} must be a text")))
}

/// The bytes under `key`, as text or, under `key_base64`, in Base64.
pub(super) fn bytes(map: &Map<String, Value>, key: &str) -> Result<Vec<u8>> {
    match map.get(&format!("{key}_base64")) {
        Some(Value::String(encoded)) => STANDARD
            .decode(encoded)
            .map_err(|_| invalid(&format!("{key}_base64 must be Base64"))),
        _ => Ok(text(map, key)?.as_bytes().to_vec()),
    }
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn execution(execution: &Execution) -> Value {
    json!({
        "stdout": execution.stdout, "stderr": execution.stderr,
        "exit_code": execution.exit_code,
        "error": execution.error.as_ref().map(|error| error.message()),
    })
}

pub(super) fn execution_from(value: &Value) -> Execution {
    let text = |key: &str| {
        let text = value.get(key).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Execution {
        stdout: text("stdout"),
        stderr: text("stderr"),
        exit_code: code(value, "exit_code"),
        error: value
            .get("error")
            .and_then(Value::as_str)
            .map(|message| Error::new(ErrorKind::Error, message)),
    }
}

pub(super) fn status(status: ExitStatus) -> Value {
    json!({"pid": status.pid, "code": status.code, "signal": status.signal})
}

pub(super) fn status_from(value: &Value, pid: u32) -> Option<ExitStatus> {
    value.is_object().then(|| ExitStatus {
        pid,
        code: code(value, "code"),
        signal: code(value, "signal"),
    })
}

pub(super) fn output(output: &Output) -> Value {
    json!({
        "stdout_base64": encoded(&output.stdout), "stderr_base64": encoded(&output.stderr),
        "eof": output.eof,
    })
}

pub(super) fn output_from(value: &Value) -> Result<Output> {
    let stream = |key: &str| match value.as_object() {
        Some(map) => bytes(map, key),
        None => Err(invalid("output must be an object")),
    };
    Ok(Output {
        stdout: stream("stdout")?,
        stderr: stream("stderr")?,
        eof: value.get("eof") == Some(&Value::Bool(true)),
    })
}

fn code(value: &Value, key: &str) -> Option<i32> {
    let number = value.get(key).and_then(Value::as_i64)?;
    i32::try_from(number).ok()
}

pub(super) fn invalid(problem: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("sandbox: {problem}"))
}
