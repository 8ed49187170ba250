//! The environment variables of child processes.

use serde_json::{Map, Value, json};

use super::access::{invalid, said};
use super::program::Program;
use crate::error::Result;
use crate::workspace::Workspace;

/// Which environment variables a child process starts with.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EnvironmentPolicy {
    /// Whether a program may inherit the variables of this process. It has to ask for them as well.
    pub inherit: bool,
    /// Variables that every program gets, in order.
    pub values: Vec<(String, String)>,
}

impl EnvironmentPolicy {
    /// Reads `{inherit, set: {name: value}}`, or a plain object of variables.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) for unusable names and values.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "environment must be an object of variables, got {}",
                said(value)
            )));
        };
        if !is_structured(map) {
            return Ok(Self {
                inherit: false,
                values: variables(map)?,
            });
        }
        let inherit = match map.get("inherit") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(inherit)) => *inherit,
            Some(other) => {
                return Err(invalid(format!(
                    "environment.inherit must be true or false, got {}",
                    said(other)
                )));
            }
        };
        let values = match map.get("set") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(set)) => variables(set)?,
            Some(other) => {
                return Err(invalid(format!(
                    "environment.set must be an object of variables, got {}",
                    said(other)
                )));
            }
        };
        Ok(Self { inherit, values })
    }

    /// `{inherit, set}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let set: Map<String, Value> = self
            .values
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({"inherit": self.inherit, "set": set})
    }

    /// The variables that `program` gets besides inherited ones: of the workspace, of this policy, of the
    /// program itself; later ones win.
    #[must_use]
    pub fn for_program(&self, workspace: &Workspace, program: &Program) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        let sources = [
            workspace.environment(),
            self.values.clone(),
            program.environment.clone(),
        ];
        for (name, value) in sources.into_iter().flatten() {
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => all.push((name, value)),
            }
        }
        all
    }

    /// Whether `program` inherits the variables of this process: policy and program both have to say so.
    #[must_use]
    pub fn inherited_by(&self, program: &Program) -> bool {
        self.inherit && program.inherit_environment
    }
}

impl std::fmt::Debug for EnvironmentPolicy {
    /// Without values, which may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("EnvironmentPolicy")
            .field("inherit", &self.inherit)
            .field("names", &names)
            .finish()
    }
}

/// Whether the object is `{inherit, set}` rather than variables of those names.
fn is_structured(map: &Map<String, Value>) -> bool {
    let known = |key: &String| key == "inherit" || key == "set";
    map.keys().all(known) && !map.values().any(Value::is_string)
}

fn variables(map: &Map<String, Value>) -> Result<Vec<(String, String)>> {
    map.iter()
        .map(|(name, value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                other => {
                    return Err(invalid(format!(
                        "the environment variable {name:?} must be a text, got {}",
                        said(other)
                    )));
                }
            };
            check_variable(name, &value).map_err(invalid)?;
            Ok((name.clone(), value))
        })
        .collect()
}

/// What the kernel cannot pass on is told before anything starts.
pub(super) fn check_variable(name: &str, value: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(format!(
            "{name:?} cannot name an environment variable: leave out = and NUL"
        ));
    }
    if value.contains('\0') {
        return Err(format!(
            "the value of the environment variable {name:?} contains NUL"
        ));
    }
    Ok(())
}
