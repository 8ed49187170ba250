//! Code mode: a model writes a small program that calls tools, instead of calling them one by one.
//!
//! The program runs in a process of its own inside of a [`Sandbox`](crate::sandbox::Sandbox). Its tool calls come back to
//! the [`Broker`], which stays with the application, and from there go the way of every other tool call.
//!
//! An [`Engine`] knows one language; a [`Session`] runs its programs, one at a time.

mod broker;
mod catalog;
mod controls;
mod declaration;
mod declarations;
mod delivery;
mod engine;
mod engines;
mod instructions;
mod interpreter;
mod languages;
mod limits;
mod names;
mod program;
pub mod protocol;
mod result;
mod sandboxes;
mod scratch;
mod session;
#[cfg(test)]
mod tests;

pub use broker::{Answer, Broker, CallResult, Dispatch};
pub use catalog::{Catalog, CatalogEntry};
pub use declaration::CodeMode;
pub use engine::{Engine, Session, Source};
pub use engines::{register_engine, resolve_engine};
#[cfg(feature = "code-mode")]
pub use languages::JavascriptEngine;
pub use languages::{PythonEngine, RubyEngine};
pub use result::{ProgramResult, ProgramStatus};
pub use sandboxes::{DeclaredSandboxes, SandboxFactory};

pub(crate) use controls::{CONTROLS, Control};
pub(crate) use declaration::{EngineChoice, SandboxChoice, declared_engine};
pub(crate) use limits::default_limits;
pub(crate) use names::normalize;
