//! Python programs, run by a Python of the machine.

use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{HELPERS, Language, engine};
use crate::code_mode::interpreter::{Interpreter, Search};
use crate::code_mode::limits::{INTERPRETER_LIMITS, LimitTable, ProgramLimits};
use crate::code_mode::{Catalog, instructions, names};
use crate::error::Result;
use crate::sandbox::Program;

/// Runs programs in Python, with a Python that is installed on the machine: its standard library, nothing else.
///
/// Limits and their defaults are those of [`RubyEngine`](super::RubyEngine).
#[derive(Clone, Debug, Default)]
pub struct PythonEngine {
    interpreter: Option<PathBuf>,
}

impl PythonEngine {
    /// An engine that uses the Python at `interpreter` instead of the one on `PATH`.
    pub fn with_interpreter(interpreter: impl Into<PathBuf>) -> Self {
        Self {
            interpreter: Some(interpreter.into()),
        }
    }

    /// The limits that an application may set, with their defaults.
    #[must_use]
    pub fn default_limits() -> Map<String, Value> {
        crate::code_mode::limits::defaults(INTERPRETER_LIMITS)
    }
}

/// A virtual environment's Python is asked for the one that it was made from, which is the one with a library.
const QUESTION: &[&str] = &[
    "-I",
    "-S",
    "-c",
    "import sys; print(getattr(sys, '_base_executable', None) or sys.executable, sys.base_prefix, sys.base_exec_prefix, sep='\\n')",
];

#[async_trait]
impl Language for PythonEngine {
    fn name(&self) -> &'static str {
        "python"
    }

    fn limits(&self) -> LimitTable {
        INTERPRETER_LIMITS
    }

    fn catalog(&self, specifications: &[Value]) -> Result<Catalog> {
        Catalog::new(specifications.iter().cloned(), names::python_name, HELPERS)
    }

    fn instructions(&self, catalog: &Catalog) -> String {
        instructions::python(catalog)
    }

    async fn interpreter(&self) -> Result<Option<Interpreter>> {
        let search = Search {
            language: "Python",
            names: &["python3", "python"],
            question: QUESTION,
            chosen: self.interpreter.clone(),
        };
        search.find().await.map(Some)
    }

    fn process(
        &self,
        interpreter: Option<&Interpreter>,
        _limits: &ProgramLimits,
    ) -> Result<Program> {
        let python = interpreter.map_or_else(
            || "python3".to_owned(),
            |python| python.executable.to_string_lossy().into_owned(),
        );
        let command = [&python, "-I", "-S", "-B", "-c", include_str!("child.py")];
        Ok(Program::new(command).variable("LANG", "C.UTF-8"))
    }
}

engine!(PythonEngine);
