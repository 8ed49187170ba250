//! What a scope is to leave of a sandbox.

use serde_json::Value;

use super::access::{Access, invalid, said};
use super::capabilities::Feature;
use super::narrowing::Narrowing;
use super::network_policy::NetworkPolicy;
use super::policy::PathAccess;
use crate::error::{Error, ErrorKind, Result};

/// What a [`Scope`](super::Scope) is to leave of a sandbox. What is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScopeOptions {
    files: Option<Selection>,
    runtime_paths: Option<Selection>,
    capabilities: Option<Vec<Feature>>,
    network: Option<NetworkPolicy>,
}

/// Paths, with their access or with that of the parent.
type Selection = Vec<(String, Option<Access>)>;

impl ScopeOptions {
    /// Leaves the path of that name, and others that are named, with `access`.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>, access: Access) -> Self {
        let files = self.files.get_or_insert_default();
        files.push((name.into(), Some(access)));
        self
    }

    /// Leaves no file.
    #[must_use]
    pub fn no_files(mut self) -> Self {
        self.files = Some(Vec::new());
        self
    }

    /// Leaves child processes the path of that name, and others that are named, with `access`.
    #[must_use]
    pub fn runtime_path(mut self, name: impl Into<String>, access: Access) -> Self {
        let paths = self.runtime_paths.get_or_insert_default();
        paths.push((name.into(), Some(access)));
        self
    }

    /// Leaves child processes nothing besides the files.
    #[must_use]
    pub fn no_runtime_paths(mut self) -> Self {
        self.runtime_paths = Some(Vec::new());
        self
    }

    /// Leaves these operations, as far as the sandbox has them.
    #[must_use]
    pub fn capabilities(mut self, features: impl IntoIterator<Item = Feature>) -> Self {
        self.capabilities = Some(features.into_iter().collect());
        self
    }

    /// Leaves child processes no network.
    #[must_use]
    pub fn no_network(self) -> Self {
        self.network(NetworkPolicy::none())
    }

    /// Leaves child processes this much of the network.
    #[must_use]
    pub fn network(mut self, policy: NetworkPolicy) -> Self {
        self.network = Some(policy);
        self
    }

    /// Reads `{files, runtime_paths, capabilities, network}`; all optional. Paths are an array of names or an
    /// object of names and access, the network a policy or true or false.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for an unknown key or an unusable value,
    /// [`Argument`](ErrorKind::Argument) for an unknown capability.
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = match value {
            Value::Null => return Ok(Self::default()),
            Value::Object(map) => map,
            other => return Err(wrong(format!("expected an object, got {}", said(other)))),
        };
        let mut options = Self::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "files" => options.files = Some(selection(key, value)?),
                "runtime_paths" => options.runtime_paths = Some(selection(key, value)?),
                "capabilities" => options.capabilities = Some(features(value)?),
                "network" => options.network = network(value)?,
                other => {
                    return Err(wrong(format!(
                        "unknown key {other:?}; use files, runtime_paths, capabilities or network"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// What is left of `parent`.
    ///
    /// # Errors
    /// [`Capability`](ErrorKind::Capability) for what `parent` does not have.
    pub(super) fn narrow(&self, parent: &Narrowing) -> Result<Narrowing> {
        Ok(Narrowing {
            files: paths("files", self.files.as_ref(), &parent.files)?,
            runtime_paths: paths(
                "runtime_paths",
                self.runtime_paths.as_ref(),
                &parent.runtime_paths,
            )?,
            capabilities: self.narrow_capabilities(parent),
            network: match (&self.network, &parent.network) {
                (None, parent) => parent.clone(),
                (Some(own), Some(parent)) if own.is_within(parent) => Some(own.clone()),
                (Some(own), None) if *own == NetworkPolicy::none() => Some(own.clone()),
                (Some(own), _) => {
                    return Err(wider(&format!(
                        "the network mode {} with these options",
                        own.mode.as_str()
                    )));
                }
            },
        })
    }

    fn narrow_capabilities(&self, parent: &Narrowing) -> super::Capabilities {
        let mut left = parent.capabilities.clone();
        if let Some(wanted) = &self.capabilities {
            left.features.retain(|feature| wanted.contains(feature));
        }
        left
    }
}

fn paths(group: &str, wanted: Option<&Selection>, parent: &PathAccess) -> Result<PathAccess> {
    let Some(wanted) = wanted else {
        return Ok(parent.clone());
    };
    wanted
        .iter()
        .map(|(name, access)| {
            let granted = parent.iter().find(|(known, _)| known == name);
            let (_, granted) =
                granted.ok_or_else(|| wider(&format!("the path {name:?} among its {group}")))?;
            let access = access.unwrap_or(*granted);
            if access > *granted {
                return Err(wider(&format!("the path {name:?} as writable")));
            }
            Ok((name.clone(), access))
        })
        .collect()
}

fn wider(what: &str) -> Error {
    Error::new(
        ErrorKind::Capability,
        format!("scope: the sandbox does not have {what}; a scope can only leave things out"),
    )
}

fn wrong(problem: String) -> Error {
    invalid(format!("scope: {problem}"))
}

fn selection(key: &str, value: &Value) -> Result<Selection> {
    match value {
        Value::Array(names) => names
            .iter()
            .map(|name| match name {
                Value::String(name) => Ok((name.clone(), None)),
                other => Err(wrong(format!("{key} must hold names, got {}", said(other)))),
            })
            .collect(),
        Value::Object(map) => map
            .iter()
            .map(|(name, access)| Ok((name.clone(), Some(Access::from_value(name, access)?))))
            .collect(),
        other => Err(wrong(format!(
            "{key} must be an array of names, or an object of names and access, got {}",
            said(other)
        ))),
    }
}

fn features(value: &Value) -> Result<Vec<Feature>> {
    let Value::Array(names) = value else {
        return Err(wrong(format!(
            "capabilities must be an array of names, got {}",
            said(value)
        )));
    };
    names
        .iter()
        .map(|name| {
            name.as_str().and_then(Feature::from_name).ok_or_else(|| {
                let all = Feature::ALL.map(Feature::as_str).join(", ");
                Error::new(
                    ErrorKind::Argument,
                    format!("scope: {} is no capability; use some of {all}", said(name)),
                )
            })
        })
        .collect()
}

/// True keeps the network as it is.
fn network(value: &Value) -> Result<Option<NetworkPolicy>> {
    match value {
        Value::Bool(true) => Ok(None),
        Value::Bool(false) => Ok(Some(NetworkPolicy::none())),
        other => NetworkPolicy::from_value(other).map(Some),
    }
}
