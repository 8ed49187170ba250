//! JavaScript programs, run by an executable of the engine's own.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{Language, engine};
use crate::code_mode::interpreter::Interpreter;
use crate::code_mode::limits::{JAVASCRIPT_LIMITS, LimitTable, ProgramLimits};
use crate::code_mode::{Catalog, instructions, names};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::Program;

/// Runs programs in JavaScript, with an engine that is a part of this crate: QuickJS, in a small executable that sandboxes
/// are given in memory. Nothing has to be installed, and nothing stays on disk.
///
/// Limits and their defaults: `output_bytes` 64 MiB, `memory_bytes` 128 MiB, half of which is the heap's, `wall_seconds`
/// 3,600, `cpu_seconds` 30, `file_bytes` 1 MiB, `max_concurrency` 8.
#[derive(Clone, Debug, Default)]
pub struct JavascriptEngine;

impl JavascriptEngine {
    /// The limits that an application may set, with their defaults.
    #[must_use]
    pub fn default_limits() -> Map<String, Value> {
        crate::code_mode::limits::defaults(JAVASCRIPT_LIMITS)
    }
}

/// The executable, which `build.rs` made of `program/`.
static EXECUTABLE: LazyLock<Arc<[u8]>> = LazyLock::new(|| {
    include_bytes!(concat!(env!("OUT_DIR"), "/little-ghost-program"))
        .as_slice()
        .into()
});

/// Where programs in a sandbox find it: a place that is in memory there, whatever else is shown.
const INSIDE: &str = "/run/little-ghost/javascript";

/// About how much output a model is shown of one look, in tokens.
const OUTPUT_TOKENS: usize = 10_000;

#[async_trait]
impl Language for JavascriptEngine {
    fn name(&self) -> &'static str {
        "javascript"
    }

    fn limits(&self) -> LimitTable {
        JAVASCRIPT_LIMITS
    }

    fn catalog(&self, specifications: &[Value]) -> Result<Catalog> {
        let reserved = ["exec", "wait", "stop"];
        Catalog::new(
            specifications.iter().cloned(),
            names::javascript_name,
            &reserved,
        )
    }

    fn instructions(&self, catalog: &Catalog) -> String {
        instructions::javascript(catalog)
    }

    fn separator(&self) -> &'static str {
        "\n"
    }

    fn output_tokens(&self) -> Option<usize> {
        Some(OUTPUT_TOKENS)
    }

    async fn interpreter(&self) -> Result<Option<Interpreter>> {
        Ok(None)
    }

    fn process(
        &self,
        _interpreter: Option<&Interpreter>,
        limits: &ProgramLimits,
    ) -> Result<Program> {
        if EXECUTABLE.is_empty() {
            return Err(Error::new(
                ErrorKind::UnsupportedPlatform,
                "this build has no JavaScript for code mode; choose the engine ruby or python",
            ));
        }
        let mut program = Program::new([INSIDE]);
        program
            .data
            .push((INSIDE.to_owned(), Arc::clone(&EXECUTABLE)));
        // The end that the program is told of comes a little before the one that the kernel makes.
        let computing = (limits.cpu_seconds * 1_000).saturating_sub(100);
        for (name, number) in [
            ("LITTLE_GHOST_MEMORY_BYTES", limits.memory_bytes / 2),
            ("LITTLE_GHOST_CPU_MILLISECONDS", computing),
        ] {
            program = program.variable(name, number.to_string());
        }
        Ok(program)
    }
}

engine!(JavascriptEngine);
