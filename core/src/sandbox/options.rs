//! What every sandbox is made with.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::access::{invalid, said};
use super::limits::Limits;
use super::policy::Policy;
use super::scope_options::ScopeOptions;
use crate::error::Result;
use crate::workspace::Workspace;

/// What every sandbox is made with.
///
/// ```
/// use little_ghost::sandbox::{Policy, SandboxOptions};
///
/// let options = SandboxOptions::from(Policy::writable());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SandboxOptions {
    /// What is to be enforced. By default the root can be read.
    pub policy: Policy,
    /// Bounds of file operations and output.
    pub limits: Limits,
    /// Named scopes; see [`Scope::of_profile`](super::Scope::of_profile).
    pub profiles: BTreeMap<String, ScopeOptions>,
}

impl From<Policy> for SandboxOptions {
    fn from(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }
}

impl SandboxOptions {
    /// Reads `{policy, limits, profiles}`, or the keys of the policy in its place. What is left is given back:
    /// it is for the kind of sandbox that is meant.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) and [`Argument`](crate::ErrorKind::Argument) for unusable values.
    pub fn from_map(map: &Map<String, Value>) -> Result<(Self, Map<String, Value>)> {
        let mut rest = Map::new();
        let mut flat = Map::new();
        let mut options = Self::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match (key.as_str(), value) {
                ("policy", policy) => options.policy = Policy::from_value(policy)?,
                ("limits", Value::Object(limits)) => options.limits = Limits::from_map(limits)?,
                ("profiles", Value::Object(profiles)) => options.profiles = named(profiles)?,
                ("limits" | "profiles", other) => {
                    return Err(invalid(format!(
                        "{key} must be an object, got {}",
                        said(other)
                    )));
                }
                (key, value) => {
                    let part = if Policy::KEYS.contains(&key) {
                        &mut flat
                    } else {
                        &mut rest
                    };
                    part.insert(key.to_owned(), value.clone());
                }
            }
        }
        if flat.is_empty() {
            return Ok((options, rest));
        }
        if map.get("policy").is_some_and(|policy| !policy.is_null()) {
            return Err(invalid(
                "give policy, or its keys beside the others, but not both".into(),
            ));
        }
        options.policy = Policy::from_value(&Value::Object(flat))?;
        Ok((options, rest))
    }

    /// The options, when they make sense for a sandbox over `workspace`.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) and [`Argument`](crate::ErrorKind::Argument) with what does not.
    pub(super) fn check(mut self, workspace: &Workspace) -> Result<Self> {
        self.policy = self.policy.check()?;
        self.policy.check_names(workspace)?;
        self.limits = self.limits.check()?;
        Ok(self)
    }

    /// The scope of that name.
    pub(super) fn profile(&self, name: &str) -> Result<ScopeOptions> {
        self.profiles.get(name).cloned().ok_or_else(|| {
            invalid(format!(
                "there is no profile {name:?}; define it among the profiles of the sandbox"
            ))
        })
    }
}

fn named(profiles: &Map<String, Value>) -> Result<BTreeMap<String, ScopeOptions>> {
    profiles
        .iter()
        .map(|(name, value)| Ok((name.clone(), ScopeOptions::from_value(value)?)))
        .collect()
}
