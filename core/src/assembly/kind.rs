//! Kinds of assemblies.

/// What coordinates the participants of an assembly.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssemblyKind {
    /// One model loop, which is the smallest assembly.
    Agent,
    /// Code of the application.
    Workflow,
    /// Its agents, which hand the request to one another.
    Swarm,
    /// Declared routes.
    Graph,
}

impl AssemblyKind {
    /// `"agent"`, `"workflow"`, `"swarm"` or `"graph"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            AssemblyKind::Agent => "agent",
            AssemblyKind::Workflow => "workflow",
            AssemblyKind::Swarm => "swarm",
            AssemblyKind::Graph => "graph",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            AssemblyKind::Agent,
            AssemblyKind::Workflow,
            AssemblyKind::Swarm,
            AssemblyKind::Graph,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == name)
    }
}
