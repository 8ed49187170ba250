//! Ruby programs, run by a Ruby of the machine.

use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{HELPERS, Language, engine};
use crate::code_mode::interpreter::{Interpreter, Search};
use crate::code_mode::limits::{INTERPRETER_LIMITS, LimitTable, ProgramLimits};
use crate::code_mode::{Catalog, instructions, names};
use crate::error::Result;
use crate::sandbox::Program;

/// Runs programs in Ruby, with a Ruby that is installed on the machine.
///
/// Limits and their defaults: `source_bytes`, `output_bytes` and `file_bytes` 1,000,000, `memory_bytes` 64 MiB,
/// `wall_seconds` 3,600, `cpu_seconds` 10, `programs` 8 for each session, `tool_calls` 1,000 for each program,
/// `concurrency` 8, `cleanup_seconds` 5.
#[derive(Clone, Debug, Default)]
pub struct RubyEngine {
    interpreter: Option<PathBuf>,
}

impl RubyEngine {
    /// An engine that uses the Ruby at `interpreter` instead of the one on `PATH`.
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

const QUESTION: &[&str] = &[
    "--disable=gems",
    "-rrbconfig",
    "-e",
    "puts RbConfig.ruby, RbConfig::CONFIG.values_at('prefix', 'libdir', 'rubylibdir', 'rubyarchdir')",
];

#[async_trait]
impl Language for RubyEngine {
    fn name(&self) -> &'static str {
        "ruby"
    }

    fn limits(&self) -> LimitTable {
        INTERPRETER_LIMITS
    }

    fn catalog(&self, specifications: &[Value]) -> Result<Catalog> {
        Catalog::new(specifications.iter().cloned(), names::method_name, HELPERS)
    }

    fn instructions(&self, catalog: &Catalog) -> String {
        instructions::ruby(catalog)
    }

    async fn interpreter(&self) -> Result<Option<Interpreter>> {
        let search = Search {
            language: "Ruby",
            names: &["ruby"],
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
        let ruby = interpreter.map_or_else(
            || "ruby".to_owned(),
            |ruby| ruby.executable.to_string_lossy().into_owned(),
        );
        let command = [&ruby, "--disable=gems", "-e", include_str!("child.rb")];
        Ok(Program::new(command).variable("LANG", "C.UTF-8"))
    }
}

engine!(RubyEngine);
