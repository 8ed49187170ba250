//! What an agent says about code mode.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::sandboxes::DeclaredSandboxes;
use super::{Engine, PythonEngine, RubyEngine, SandboxFactory, resolve_engine};
use crate::error::{Error, ErrorKind, Result};

/// Lets an agent's model write programs that call the agent's tools.
///
/// Ordinary tools move from the conversation into the programs, apart from those of [`except`](Self::except). Programs run
/// in the sandbox that is native to the system, and there is no other one to fall back to.
///
/// ```
/// use little_ghost::code_mode::CodeMode;
///
/// let mode = CodeMode::python().limit("wall_seconds", 60).except(["confirm"]);
/// ```
#[derive(Clone)]
pub struct CodeMode {
    pub(crate) engine: EngineChoice,
    pub(crate) sandbox: SandboxChoice,
    pub(crate) limits: Map<String, Value>,
    pub(crate) except: Vec<String>,
}

/// Which engine.
#[derive(Clone)]
pub(crate) enum EngineChoice {
    /// A name, or `{name, interpreter?}`; `{key, language}` is one of a host.
    Declared(Value),
    Own(Arc<dyn Engine>),
}

/// Which sandboxes.
#[derive(Clone)]
pub(crate) enum SandboxChoice {
    /// As in a declaration: a name, or an object with `provider`.
    Declared(Value),
    Own(Arc<dyn SandboxFactory>),
}

impl CodeMode {
    fn of(engine: EngineChoice) -> Self {
        Self {
            engine,
            sandbox: SandboxChoice::Declared(Value::String("native".into())),
            limits: Map::new(),
            except: Vec::new(),
        }
    }

    /// Programs in JavaScript, which needs nothing on the machine.
    #[cfg(feature = "code-mode")]
    #[must_use]
    pub fn javascript() -> Self {
        Self::named("javascript")
    }

    /// Programs in Ruby, by a Ruby of the machine.
    #[must_use]
    pub fn ruby() -> Self {
        Self::named("ruby")
    }

    /// Programs in Python, by a Python of the machine.
    #[must_use]
    pub fn python() -> Self {
        Self::named("python")
    }

    /// Programs of the engine that was registered as `name`.
    pub fn named(name: impl Into<String>) -> Self {
        Self::of(EngineChoice::Declared(Value::String(name.into())))
    }

    /// Programs of an engine of the application.
    pub fn engine(engine: impl Engine + 'static) -> Self {
        Self::of(EngineChoice::Own(Arc::new(engine)))
    }

    /// Sets one of the engine's limits, such as `"wall_seconds"`.
    #[must_use]
    pub fn limit(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.limits.insert(name.into(), value.into());
        self
    }

    /// Keeps these tools in the conversation, where the model calls them as steps of their own.
    #[must_use]
    pub fn except<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.except.extend(tools.into_iter().map(Into::into));
        self
    }

    /// The sandbox, as in a declaration: `"native"`, `"unrestricted"` and so on, or `{provider, policy, ...}`.
    #[must_use]
    pub fn sandbox(mut self, declaration: impl Into<Value>) -> Self {
        self.sandbox = SandboxChoice::Declared(declaration.into());
        self
    }

    /// Sandboxes that the application makes.
    #[must_use]
    pub fn sandboxes(mut self, sandboxes: impl SandboxFactory + 'static) -> Self {
        self.sandbox = SandboxChoice::Own(Arc::new(sandboxes));
        self
    }

    /// Reads `{engine, sandbox?, limits?, except?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another key or an unusable value.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid("must be an object".into()));
        };
        let mut mode = Self::named("");
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match (key.as_str(), value) {
                ("engine", engine @ (Value::String(_) | Value::Object(_))) => {
                    mode.engine = EngineChoice::Declared(engine.clone());
                }
                ("sandbox", value) => mode.sandbox = SandboxChoice::Declared(value.clone()),
                ("limits", Value::Object(limits)) => mode.limits = limits.clone(),
                ("except", Value::Array(names)) => {
                    mode.except = names
                        .iter()
                        .map(|name| match name {
                            Value::String(name) => Ok(name.clone()),
                            _ => Err(invalid("except must hold names of tools".into())),
                        })
                        .collect::<Result<_>>()?;
                }
                ("engine" | "limits" | "except", _) => {
                    return Err(invalid(format!("{key} is not usable")));
                }
                _ => {
                    return Err(invalid(format!(
                        "{key:?} is not known; there are engine, sandbox, limits and except"
                    )));
                }
            }
        }
        Ok(mode)
    }

    /// Makes the sandboxes of programs.
    pub(crate) fn sandbox_factory(&self) -> Arc<dyn SandboxFactory> {
        match &self.sandbox {
            SandboxChoice::Declared(declaration) => {
                Arc::new(DeclaredSandboxes::new(declaration.clone()))
            }
            SandboxChoice::Own(sandboxes) => Arc::clone(sandboxes),
        }
    }

    pub(crate) fn resolve_engine(&self) -> Result<Arc<dyn Engine>> {
        match &self.engine {
            EngineChoice::Declared(declared) => declared_engine(declared),
            EngineChoice::Own(engine) => Ok(Arc::clone(engine)),
        }
    }
}

/// The engine of a declaration: a name, or `{name, interpreter?}`.
pub(crate) fn declared_engine(declared: &Value) -> Result<Arc<dyn Engine>> {
    let text = |key: &str| declared.get(key).and_then(Value::as_str);
    let name = declared.as_str().or_else(|| text("name"));
    match (name.unwrap_or_default(), text("interpreter")) {
        ("ruby", Some(interpreter)) => Ok(Arc::new(RubyEngine::with_interpreter(interpreter))),
        ("python", Some(interpreter)) => Ok(Arc::new(PythonEngine::with_interpreter(interpreter))),
        (name, _) => resolve_engine(name),
    }
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("code_mode: {problem}"))
}

impl std::fmt::Debug for CodeMode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let engine = match &self.engine {
            EngineChoice::Declared(declared) => declared.as_str().unwrap_or("declared"),
            EngineChoice::Own(engine) => engine.language(),
        };
        formatter
            .debug_struct("CodeMode")
            .field("engine", &engine)
            .field("limits", &self.limits)
            .field("except", &self.except)
            .finish_non_exhaustive()
    }
}
