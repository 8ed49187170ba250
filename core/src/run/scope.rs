//! How much of a run is executed.

/// How much of a run is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// A whole run, with its events and its outcome.
    #[default]
    Run,
    /// One invocation of an agent: its events alone, and a failure is for the caller.
    Agent,
    /// One model request: the model's events alone, and a failure is for the caller.
    Model,
}

impl Scope {
    /// The scope named `"run"`, `"agent"` or `"model"`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "run" => Some(Scope::Run),
            "agent" => Some(Scope::Agent),
            "model" => Some(Scope::Model),
            _ => None,
        }
    }
}
