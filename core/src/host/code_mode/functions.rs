//! Facts about code mode that hosts show.

use futures_util::FutureExt;
use serde_json::{Map, Value};

use super::sandboxes::are_of_host;
use crate::code_mode::{Catalog, CodeMode, declared_engine, default_limits, normalize};
use crate::error::{Error, ErrorKind, Result};

/// The tools of `specifications` as [`CatalogEntry::to_value`](crate::code_mode::CatalogEntry::to_value), with these names
/// for them, one each. A name in `reserved` and two equal ones are refused.
///
/// # Errors
/// As [`Catalog::new`].
pub fn code_mode_catalog(
    specifications: Vec<Value>,
    names: Vec<String>,
    reserved: &[String],
) -> Result<Value> {
    let reserved: Vec<&str> = reserved.iter().map(String::as_str).collect();
    let mut names = names.into_iter();
    let names = std::cell::RefCell::new(&mut names);
    let catalog = Catalog::new(
        specifications,
        |_| names.borrow_mut().next().unwrap_or_default(),
        &reserved,
    )?;
    Ok(catalog
        .definitions()
        .iter()
        .map(|tool| tool.to_value())
        .collect())
}

/// What a model is told about the tools of `catalog` by a built-in engine, and what the tools are called there, as
/// `{instructions, names}`.
///
/// # Errors
/// [`ErrorKind::Configuration`] for an unknown engine and for tools that the language cannot name.
pub fn code_mode_instructions(engine: &Value, catalog: &[Value]) -> Result<Value> {
    let engine = declared_engine(engine)?;
    // Engines that are built in write them at once.
    let written = engine.instructions(catalog).now_or_never();
    let instructions = written.ok_or_else(|| {
        Error::new(
            ErrorKind::Configuration,
            "only engines that are built in can be asked by themselves",
        )
    })??;
    let names: Map<String, Value> = catalog
        .iter()
        .filter_map(|tool| {
            let name = tool.get("name")?.as_str()?;
            Some((name.to_owned(), normalize(engine.language(), name)?.into()))
        })
        .collect();
    Ok(serde_json::json!({"instructions": instructions, "names": names}))
}

/// The limits of a built-in engine, with their defaults.
///
/// # Errors
/// [`ErrorKind::Configuration`] for an engine that is not built in.
pub fn code_mode_limits(language: &str) -> Result<Map<String, Value>> {
    default_limits(language).ok_or_else(|| {
        Error::new(
            ErrorKind::Configuration,
            format!("there is no built-in code-mode engine {language:?}"),
        )
    })
}

/// Checks what can be of `{engine?, sandbox?, limits?, except?}` without a run: limits of an engine that is built in, and
/// sandboxes that are not the host's.
///
/// # Errors
/// [`ErrorKind::Argument`] for unknown options and limits; what is wrong with the sandbox.
pub fn code_mode_check(declaration: &Value) -> Result<()> {
    let mode = CodeMode::from_value(declaration)?;
    mode.check_limits()?;
    match declaration.get("sandbox") {
        None | Some(Value::Null) => Ok(()),
        Some(sandbox) if are_of_host(sandbox) => Ok(()),
        Some(_) => mode.sandbox_factory().check(),
    }
}
