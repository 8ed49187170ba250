//! Runs one program.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::sandbox::{Execution, Program, Sandbox};

/// How long a program may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of each output stream.
const OUTPUT_BYTES: u64 = 1_000_000;

/// What a shell returns for a program that does not exist.
const NOT_FOUND: i32 = 127;

/// Runs `input["command"]` and tells as JSON what came of it.
pub(super) async fn run(sandbox: &dyn Sandbox, input: &Map<String, Value>) -> Result<String> {
    let words = input.get("command").and_then(Value::as_array);
    let words = words.and_then(|words| {
        words
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    });
    let command = words.ok_or_else(|| Error::tool("command must be an array of texts."))?;
    if command.first().is_none_or(String::is_empty) {
        return Err(Error::tool("The command is empty; name a program."));
    }
    let program = Program::new(command.clone());
    let max_bytes = OUTPUT_BYTES.min(sandbox.limits().output_bytes);
    let execution = match sandbox.execute(program, TIMEOUT, Some(max_bytes)).await {
        Err(problem) if problem.code() == Some("ENOENT") => missing(&command),
        execution => execution?,
    };
    Ok(report(&execution))
}

fn missing(command: &[String]) -> Execution {
    let program = command.first().map(String::as_str).unwrap_or_default();
    Execution {
        stderr: format!("{program}: program not found\n"),
        exit_code: Some(NOT_FOUND),
        ..Execution::default()
    }
}

fn report(execution: &Execution) -> String {
    json!({
        "stdout": execution.stdout,
        "stderr": execution.stderr,
        "exit_status": execution.exit_code,
        "success": execution.exit_code.map(|_| execution.is_success()),
    })
    .to_string()
}
