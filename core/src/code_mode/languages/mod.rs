//! The languages that are built in.

#[cfg(feature = "code-mode")]
mod javascript;
mod python;
mod ruby;

use async_trait::async_trait;
#[cfg(feature = "code-mode")]
pub use javascript::JavascriptEngine;
pub use python::PythonEngine;
pub use ruby::RubyEngine;
use serde_json::Value;

use super::Catalog;
use super::interpreter::Interpreter;
use super::limits::{LimitTable, ProgramLimits};
use crate::error::Result;
use crate::sandbox::Program;

/// One language that is built in.
#[async_trait]
pub(super) trait Language: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    /// The limits that an application may set.
    fn limits(&self) -> LimitTable;

    /// The tools of `specifications` as programs call them.
    fn catalog(&self, specifications: &[Value]) -> Result<Catalog>;

    fn instructions(&self, catalog: &Catalog) -> String;

    /// What stands between two texts of a program.
    fn separator(&self) -> &'static str {
        ""
    }

    /// About how much of the output is returned when nobody says so, in tokens.
    fn output_tokens(&self) -> Option<usize> {
        None
    }

    /// The interpreter of the machine, if the language needs one.
    async fn interpreter(&self) -> Result<Option<Interpreter>>;

    /// The process that runs programs.
    fn process(&self, interpreter: Option<&Interpreter>, limits: &ProgramLimits)
    -> Result<Program>;
}

/// Names that helpers of Ruby and Python programs have.
const HELPERS: &[&str] = &[
    "call",
    "parallel",
    "exec",
    "wait",
    "stop",
    "text",
    "finish",
    "all_tools",
];

/// Implements [`Engine`](super::Engine) for a [`Language`].
macro_rules! engine {
    ($name:ty) => {
        #[async_trait::async_trait]
        impl $crate::code_mode::Engine for $name {
            fn language(&self) -> &str {
                $crate::code_mode::languages::Language::name(self)
            }

            async fn instructions(
                &self,
                catalog: &[serde_json::Value],
            ) -> $crate::error::Result<String> {
                use $crate::code_mode::languages::Language;
                Ok(Language::instructions(
                    self,
                    &Language::catalog(self, catalog)?,
                ))
            }

            fn check_limits(
                &self,
                limits: &serde_json::Map<String, serde_json::Value>,
            ) -> $crate::error::Result<()> {
                use $crate::code_mode::languages::Language;
                let (name, table) = (Language::name(self), Language::limits(self));
                $crate::code_mode::limits::ProgramLimits::read(name, table, limits).map(drop)
            }

            async fn open_session(
                &self,
                broker: std::sync::Arc<$crate::code_mode::Broker>,
                sandboxes: std::sync::Arc<dyn $crate::code_mode::SandboxFactory>,
                limits: serde_json::Map<String, serde_json::Value>,
            ) -> $crate::error::Result<std::sync::Arc<dyn $crate::code_mode::Session>> {
                let language = std::sync::Arc::new(self.clone());
                let session = $crate::code_mode::session::ProgramSession::open(
                    language, broker, sandboxes, &limits,
                )?;
                Ok(std::sync::Arc::new(session))
            }
        }
    };
}
use engine;
