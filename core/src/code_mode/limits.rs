//! What a program may use.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};

/// What a program of one engine may use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProgramLimits {
    /// Bytes of its source.
    pub(crate) source_bytes: u64,
    /// Bytes of its output.
    pub(crate) output_bytes: u64,
    /// Bytes of memory of its process.
    pub(crate) memory_bytes: u64,
    /// From its start to its end.
    pub(crate) wall: Duration,
    /// Seconds of computing.
    pub(crate) cpu_seconds: u64,
    /// Bytes of each file that it writes.
    pub(crate) file_bytes: u64,
    /// Programs of one session.
    pub(crate) programs: Option<u64>,
    /// Tool calls of one program.
    pub(crate) tool_calls: Option<u64>,
    /// Tool calls at once.
    pub(crate) concurrency: u64,
    /// How long its end may take.
    pub(crate) cleanup: Duration,
}

/// One limit that an application may set: its name and its default.
pub(crate) type LimitTable = &'static [(&'static str, f64)];

/// For engines whose language is an interpreter of the machine.
pub(crate) const INTERPRETER_LIMITS: LimitTable = &[
    ("source_bytes", 1_000_000.0),
    ("output_bytes", 1_000_000.0),
    ("memory_bytes", (64 * MIB) as f64),
    ("wall_seconds", 3_600.0),
    ("cpu_seconds", 10.0),
    ("file_bytes", 1_000_000.0),
    ("programs", 8.0),
    ("tool_calls", 1_000.0),
    ("concurrency", 8.0),
    ("cleanup_seconds", 5.0),
];

/// For JavaScript.
pub(crate) const JAVASCRIPT_LIMITS: LimitTable = &[
    ("output_bytes", (64 * MIB) as f64),
    ("memory_bytes", (128 * MIB) as f64),
    ("wall_seconds", 3_600.0),
    ("cpu_seconds", 30.0),
    ("file_bytes", MIB as f64),
    ("max_concurrency", 8.0),
];

const MIB: u64 = 1024 * 1024;

/// The defaults of `table`, as hosts show them.
pub(crate) fn defaults(table: LimitTable) -> Map<String, Value> {
    let entries = table
        .iter()
        .map(|(name, default)| ((*name).to_owned(), json!(*default as u64)));
    entries.collect()
}

/// The defaults of the engine for `language`, if it is built in.
pub(crate) fn default_limits(language: &str) -> Option<Map<String, Value>> {
    match language {
        "ruby" | "python" => Some(defaults(INTERPRETER_LIMITS)),
        "javascript" => Some(defaults(JAVASCRIPT_LIMITS)),
        _ => None,
    }
}

impl ProgramLimits {
    /// The limits of `table`, which is that of `language`, with those of `given` over them.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a limit that `table` has not, and for a value that is no positive number.
    pub(crate) fn read(
        language: &str,
        table: LimitTable,
        given: &Map<String, Value>,
    ) -> Result<Self> {
        for (name, value) in given {
            if !table.iter().any(|(known, _)| known == name) {
                let known: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
                return Err(invalid(format!(
                    "code_mode has no limit {name:?} for {language} programs; use {}",
                    known.join(", ")
                )));
            }
            let number = value.as_f64().unwrap_or_default();
            let is_time = name == "wall_seconds" || name == "cleanup_seconds";
            if !(number.is_finite() && number > 0.0 && (is_time || value.is_u64())) {
                let kind = if is_time { "number" } else { "whole number" };
                return Err(invalid(format!(
                    "the code_mode limit {name} must be a {kind} above 0, not {value}"
                )));
            }
        }
        let number = |names: &[&str]| {
            let default = table
                .iter()
                .find(|(name, _)| names.contains(name))
                .map(|(_, default)| *default);
            let own = names.iter().find_map(|name| given.get(*name)?.as_f64());
            own.or(default)
        };
        let count = |names: &[&str]| number(names).map(|number| number as u64);
        let seconds = |name: &str, default: f64| {
            let seconds = number(&[name]).unwrap_or(default);
            Duration::try_from_secs_f64(seconds).map_err(|_| {
                invalid(format!(
                    "the code_mode limit {name} must be a number of seconds, and {seconds} are too many"
                ))
            })
        };
        Ok(Self {
            source_bytes: count(&["source_bytes"]).unwrap_or(MIB),
            output_bytes: count(&["output_bytes"]).unwrap_or(MIB),
            memory_bytes: count(&["memory_bytes"]).unwrap_or(64 * MIB),
            wall: seconds("wall_seconds", 3_600.0)?,
            cpu_seconds: count(&["cpu_seconds"]).unwrap_or(10),
            file_bytes: count(&["file_bytes"]).unwrap_or(MIB),
            programs: count(&["programs"]),
            tool_calls: count(&["tool_calls"]),
            concurrency: count(&["concurrency", "max_concurrency"]).unwrap_or(8),
            cleanup: seconds("cleanup_seconds", 5.0)?,
        })
    }
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: LimitTable, given: Value) -> Result<ProgramLimits> {
        ProgramLimits::read("ruby", table, given.as_object().unwrap())
    }

    #[test]
    fn defaults_are_those_of_the_engine() {
        let ruby = read(INTERPRETER_LIMITS, json!({})).unwrap();
        assert_eq!((ruby.programs, ruby.tool_calls), (Some(8), Some(1_000)));
        assert_eq!(ruby.memory_bytes, 64 * MIB);
        assert_eq!(ruby.cleanup, Duration::from_secs(5));
        let javascript = read(JAVASCRIPT_LIMITS, json!({"max_concurrency": 2})).unwrap();
        assert_eq!((javascript.programs, javascript.concurrency), (None, 2));
        assert_eq!(javascript.source_bytes, MIB);
        assert_eq!(
            defaults(JAVASCRIPT_LIMITS).get("output_bytes"),
            Some(&json!(67_108_864))
        );
    }

    #[test]
    fn unknown_limits_and_unusable_values_are_refused() {
        for given in [
            json!({"program": 3}),
            json!({"max_concurrency": 3}),
            json!({"programs": 0}),
            json!({"programs": 1.5}),
            json!({"wall_seconds": "soon"}),
            json!({"wall_seconds": 1e300}),
            json!({"output_bytes": -1}),
        ] {
            let error = read(INTERPRETER_LIMITS, given.clone()).unwrap_err();
            assert!(error.is(ErrorKind::Argument), "{given}");
            let name = given.as_object().unwrap().keys().next().unwrap();
            assert!(error.message().contains(name), "{error}");
        }
        let unknown = read(INTERPRETER_LIMITS, json!({"wall_second": 5})).unwrap_err();
        assert!(unknown.message().contains("use source_bytes, output_bytes"));
        assert!(read(JAVASCRIPT_LIMITS, json!({"programs": 3})).is_err());
        let quick = read(INTERPRETER_LIMITS, json!({"wall_seconds": 0.5})).unwrap();
        assert_eq!(quick.wall, Duration::from_millis(500));
    }
}
