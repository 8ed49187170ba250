//! The engines by name.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;

use super::Engine;
#[cfg(feature = "code-mode")]
use super::JavascriptEngine;
use super::{PythonEngine, RubyEngine};
use crate::error::{Error, ErrorKind, Result};

static ENGINES: LazyLock<RwLock<HashMap<String, Arc<dyn Engine>>>> = LazyLock::new(|| {
    let mut engines: HashMap<String, Arc<dyn Engine>> = HashMap::new();
    engines.insert("ruby".into(), Arc::new(RubyEngine::default()));
    engines.insert("python".into(), Arc::new(PythonEngine::default()));
    #[cfg(feature = "code-mode")]
    engines.insert("javascript".into(), Arc::new(JavascriptEngine));
    RwLock::new(engines)
});

/// Makes `engine` known under `name`, for every agent of the process that names it. It takes the place of an earlier one.
pub fn register_engine(name: impl Into<String>, engine: Arc<dyn Engine>) {
    ENGINES.write().insert(name.into(), engine);
}

/// The engine that was registered as `name`.
///
/// # Errors
/// [`ErrorKind::Configuration`] for an unknown name.
pub fn resolve_engine(name: &str) -> Result<Arc<dyn Engine>> {
    let engines = ENGINES.read();
    engines.get(name).cloned().ok_or_else(|| {
        let mut known: Vec<&str> = engines.keys().map(String::as_str).collect();
        known.sort_unstable();
        let hint = if name == "javascript" {
            "; the feature code-mode of the crate has JavaScript"
        } else {
            ""
        };
        Error::new(
            ErrorKind::Configuration,
            format!(
                "there is no code-mode engine {name:?}; use {}, or register one{hint}",
                known.join(", ")
            ),
        )
    })
}
