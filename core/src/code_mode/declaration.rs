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
                ("engine", engine @ Value::String(_)) => {
                    mode.engine = EngineChoice::Declared(engine.clone());
                }
                ("engine", engine @ Value::Object(options)) => {
                    let known = ["name", "interpreter", "key", "language"];
                    if let Some(name) = options.keys().find(|name| !known.contains(&name.as_str()))
                    {
                        return Err(invalid(format!(
                            "engine has no option {name:?}; use name and interpreter"
                        )));
                    }
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
                ("engine", _) => {
                    return Err(invalid(
                        "engine must be a name or {name, interpreter}".into(),
                    ));
                }
                ("limits", _) => {
                    return Err(invalid(
                        "limits must be an object, such as {\"wall_seconds\": 60}".into(),
                    ));
                }
                ("except", _) => {
                    return Err(invalid("except must be a list of names of tools".into()));
                }
                _ => {
                    return Err(invalid(format!(
                        "there is no option {key:?}; use engine, sandbox, limits or except"
                    )));
                }
            }
        }
        Ok(mode)
    }

    /// Checks what can be without a run: limits of an engine that is known by now, and the sandbox.
    ///
    /// # Errors
    /// What the engine says of its limits, and [`SandboxFactory::check`].
    pub(crate) fn check(self) -> Result<Self> {
        self.check_limits()?;
        self.sandbox_factory().check()?;
        Ok(self)
    }

    /// Checks limits of an engine that is known by now. Others may be registered later; the run looks again.
    pub(crate) fn check_limits(&self) -> Result<()> {
        match self.resolve_engine() {
            Ok(engine) => engine.check_limits(&self.limits),
            Err(_) => Ok(()),
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::Agent;

    fn built(mode: CodeMode) -> Result<Agent> {
        Agent::builder("coder").model("a:b").code_mode(mode).build()
    }

    #[test]
    fn an_agent_is_not_built_with_limits_or_a_sandbox_that_cannot_be() {
        for (mode, told) in [
            (CodeMode::ruby().limit("wall_second", 5), "use source_bytes"),
            (CodeMode::python().limit("programs", 0), "whole number"),
            (CodeMode::ruby().sandbox("moon"), "\"moon\""),
            (
                CodeMode::ruby().sandbox(json!({"fils": {"root": "read_only"}})),
                "\"fils\"",
            ),
        ] {
            let error = built(mode).unwrap_err();
            assert!(error.message().contains(told), "{error}");
        }
        // One that is registered later knows its own limits.
        let later = CodeMode::named("registered-later").limit("words", 1);
        assert!(built(later.sandbox("unrestricted")).is_ok());
        let usual = CodeMode::python().limit("wall_seconds", 0.5);
        assert!(built(usual.sandbox("unrestricted")).is_ok());
    }

    #[test]
    fn declarations_are_read_strictly() {
        for (declared, told) in [
            (json!(3), "object"),
            (json!({"engin": "ruby"}), "use engine, sandbox"),
            (json!({"engine": 3}), "engine must be a name"),
            (json!({"engine": {"nam": "ruby"}}), "\"nam\""),
            (json!({"limits": 5}), "limits must be an object"),
            (json!({"except": "confirm"}), "except must be a list"),
        ] {
            let error = CodeMode::from_value(&declared).unwrap_err();
            assert!(error.is(ErrorKind::Argument), "{declared}");
            assert!(error.message().contains(told), "{error}");
        }
        assert!(CodeMode::from_value(&json!({"engine": {"name": "ruby"}, "limits": null})).is_ok());
    }
}
