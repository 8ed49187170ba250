//! What a sandbox is asked to enforce.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::access::{Access, RootFilesystem, invalid, said};
use super::environment::EnvironmentPolicy;
use super::narrowing::Narrowing;
use super::network_policy::NetworkPolicy;
use super::wall::Wall;
use crate::error::Result;

/// Named paths of a workspace, `"root"` being its root, with what may be done there; in order.
pub type PathAccess = Vec<(String, Access)>;

/// What a sandbox is asked to enforce. What it does enforce is its
/// [`effective_policy`](super::Sandbox::effective_policy).
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Paths for tools and child processes. By default the root, read-only.
    pub files: PathAccess,
    /// Paths for child processes only. Default none.
    pub runtime_paths: PathAccess,
    /// What child processes see of the host beyond those paths. Default
    /// [`Isolated`](RootFilesystem::Isolated).
    pub root_filesystem: RootFilesystem,
    /// Environment variables of child processes. Default none.
    pub environment: EnvironmentPolicy,
    /// Where child processes may connect to; `None` is the sandbox's own choice.
    pub network: Option<NetworkPolicy>,
    /// What enforces it. Only the effective policy of a sandbox has any; a declaration names none.
    pub walls: BTreeSet<Wall>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            files: vec![(ROOT.to_owned(), Access::ReadOnly)],
            runtime_paths: Vec::new(),
            root_filesystem: RootFilesystem::default(),
            environment: EnvironmentPolicy::default(),
            network: None,
            walls: BTreeSet::new(),
        }
    }
}

/// The name of the workspace's root.
pub(crate) const ROOT: &str = "root";

impl Policy {
    /// The keys of a policy's declaration.
    pub(crate) const KEYS: [&'static str; 5] = [
        "files",
        "runtime_paths",
        "root_filesystem",
        "environment",
        "network",
    ];

    /// The default policy with a root that can be written.
    #[must_use]
    pub fn writable() -> Self {
        Self {
            files: vec![(ROOT.to_owned(), Access::ReadWrite)],
            ..Self::default()
        }
    }

    /// The default policy with these paths in place of the root, which is one of them if it is named `"root"`.
    ///
    /// ```
    /// use little_ghost::sandbox::{Access, NetworkPolicy, Policy};
    ///
    /// let policy = Policy {
    ///     network: Some(NetworkPolicy::none()),
    ///     ..Policy::granting([("source", Access::ReadOnly), ("notes", Access::ReadWrite)])
    /// };
    /// ```
    pub fn granting<T: Into<String>>(files: impl IntoIterator<Item = (T, Access)>) -> Self {
        let named = |(name, access): (T, Access)| (name.into(), access);
        Self {
            files: files.into_iter().map(named).collect(),
            ..Self::default()
        }
    }

    /// Reads `{files, runtime_paths, root_filesystem, environment, network}`; all optional.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) for an unknown key or an unusable value.
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = match value {
            Value::Null => return Ok(Self::default()),
            Value::Object(map) => map,
            other => {
                return Err(invalid(format!("expected an object, got {}", said(other))));
            }
        };
        let mut policy = Self::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "files" => policy.files = paths(key, value)?,
                "runtime_paths" => policy.runtime_paths = paths(key, value)?,
                "root_filesystem" => policy.root_filesystem = RootFilesystem::from_value(value)?,
                "environment" => policy.environment = EnvironmentPolicy::from_value(value)?,
                "network" => policy.network = Some(NetworkPolicy::from_value(value)?),
                other => {
                    return Err(invalid(format!(
                        "unknown key {other:?}; use {}",
                        Self::KEYS.join(", ")
                    )));
                }
            }
        }
        policy.check()
    }

    /// The policy, when no path is named twice.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy).
    pub fn check(mut self) -> Result<Self> {
        let named = self.files.iter().chain(&self.runtime_paths);
        let mut names = BTreeSet::new();
        if let Some((name, _)) = named.into_iter().find(|(name, _)| !names.insert(name)) {
            return Err(invalid(format!(
                "{name:?} is named twice; a path is either in files or in runtime_paths"
            )));
        }
        self.network = self.network.map(NetworkPolicy::check).transpose()?;
        Ok(self)
    }

    /// Whether the root of the workspace may be written.
    #[must_use]
    pub fn is_workspace_writable(&self) -> bool {
        self.access(ROOT) == Some(Access::ReadWrite)
    }

    /// Whether tools may write anywhere.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.files
            .iter()
            .any(|(_, access)| *access == Access::ReadWrite)
    }

    /// What tools may do below the path of that name.
    #[must_use]
    pub fn access(&self, name: &str) -> Option<Access> {
        let found = self.files.iter().find(|(known, _)| known == name);
        found.map(|(_, access)| *access)
    }

    /// What is left of this policy inside of `scope`.
    #[must_use]
    pub fn within(&self, scope: Option<&Narrowing>) -> Self {
        match scope {
            None => self.clone(),
            Some(scope) => Self {
                files: scope.files.clone(),
                runtime_paths: scope.runtime_paths.clone(),
                network: scope.network.clone().or_else(|| self.network.clone()),
                root_filesystem: self.root_filesystem,
                environment: self.environment.clone(),
                walls: self.walls.clone(),
            },
        }
    }

    /// The declaration, normalised; with `walls` if anything enforces it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({
            "files": to_map(&self.files), "runtime_paths": to_map(&self.runtime_paths),
            "root_filesystem": self.root_filesystem.as_str(),
            "environment": self.environment.to_value(),
            "network": self.network.as_ref().map(NetworkPolicy::to_value),
        });
        if let Some(map) = value.as_object_mut().filter(|_| !self.walls.is_empty()) {
            let walls: Vec<&str> = self.walls.iter().map(|wall| wall.as_str()).collect();
            map.insert("walls".to_owned(), json!(walls));
        }
        value
    }
}

fn paths(key: &str, value: &Value) -> Result<PathAccess> {
    let Value::Object(map) = value else {
        return Err(invalid(format!(
            "{key} must be an object of named paths and their access, got {}",
            said(value)
        )));
    };
    map.iter()
        .map(|(name, access)| Ok((name.clone(), Access::from_value(name, access)?)))
        .collect()
}

pub(super) fn to_map(paths: &PathAccess) -> Map<String, Value> {
    paths
        .iter()
        .map(|(name, access)| (name.clone(), json!(access.as_str())))
        .collect()
}
