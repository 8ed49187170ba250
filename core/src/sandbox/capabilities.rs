//! What a sandbox can do.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::network_policy::NetworkMode;
use crate::error::{Error, ErrorKind, Result};

/// One operation, or one way to keep processes in check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Files can be read.
    FilesystemRead,
    /// Directories can be listed.
    FilesystemList,
    /// Files can be written.
    FilesystemWrite,
    /// Text in files can be replaced.
    FilesystemReplace,
    /// Programs can be started.
    ProcessExecute,
    /// Programs may start others.
    ProcessSpawn,
    /// A program can be kept from starting others.
    ProcessSpawnDenial,
    /// Everything that a program started ends with it, wherever it went.
    ProcessTreeOwnership,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Feature; 8] = [
        Feature::FilesystemRead,
        Feature::FilesystemList,
        Feature::FilesystemWrite,
        Feature::FilesystemReplace,
        Feature::ProcessExecute,
        Feature::ProcessSpawn,
        Feature::ProcessSpawnDenial,
        Feature::ProcessTreeOwnership,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Feature::FilesystemRead => "filesystem_read",
            Feature::FilesystemList => "filesystem_list",
            Feature::FilesystemWrite => "filesystem_write",
            Feature::FilesystemReplace => "filesystem_replace",
            Feature::ProcessExecute => "process_execute",
            Feature::ProcessSpawn => "process_spawn",
            Feature::ProcessSpawnDenial => "process_spawn_denial",
            Feature::ProcessTreeOwnership => "process_tree_ownership",
        }
    }

    /// The short name of an operation, if it has one.
    const fn alias(self) -> Option<&'static str> {
        match self {
            Feature::FilesystemRead => Some("read"),
            Feature::FilesystemList => Some("list"),
            Feature::FilesystemWrite => Some("write"),
            Feature::FilesystemReplace => Some("replace"),
            Feature::ProcessExecute => Some("execute"),
            Feature::ProcessSpawn => Some("spawn"),
            Feature::ProcessSpawnDenial | Feature::ProcessTreeOwnership => None,
        }
    }

    /// The feature with that name or short name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|feature| feature.as_str() == name || feature.alias() == Some(name))
    }
}

/// What a sandbox can do. It is no certificate for the machine around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What it offers.
    pub features: BTreeSet<Feature>,
    /// Which network modes it enforces.
    pub network_modes: BTreeSet<NetworkMode>,
    /// What isolates, in a word such as `"namespace"`; `"none"` without isolation.
    pub isolation: Cow<'static, str>,
}

impl Capabilities {
    /// What a sandbox with these features can do.
    pub fn new(
        features: impl IntoIterator<Item = Feature>,
        network_modes: impl IntoIterator<Item = NetworkMode>,
        isolation: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            features: features.into_iter().collect(),
            network_modes: network_modes.into_iter().collect(),
            isolation: isolation.into(),
        }
    }

    /// Whether `feature` is offered.
    #[must_use]
    pub fn supports(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Whether the network mode is enforced.
    #[must_use]
    pub fn enforces(&self, mode: NetworkMode) -> bool {
        self.network_modes.contains(&mode)
    }

    /// The same without `feature`.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.features.remove(&feature);
        self
    }

    /// What both offer; the isolation is that of `self`.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            features: &self.features & &other.features,
            network_modes: &self.network_modes & &other.network_modes,
            isolation: self.isolation.clone(),
        }
    }

    /// Reads `{features, network_modes, isolation}`, as [`to_value`](Self::to_value) writes it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown name.
    pub fn from_value(value: &Value) -> Result<Self> {
        let empty = Map::new();
        let map = value.as_object().unwrap_or(&empty);
        let isolation = map.get("isolation").and_then(Value::as_str);
        Ok(Self {
            features: named(map, "features", Feature::from_name)?,
            network_modes: named(map, "network_modes", NetworkMode::from_name)?,
            isolation: Cow::Owned(isolation.unwrap_or("none").to_owned()),
        })
    }

    /// `{features, network_modes, isolation}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let features: Vec<&str> = self.features.iter().map(|one| one.as_str()).collect();
        let modes: Vec<&str> = self.network_modes.iter().map(|one| one.as_str()).collect();
        json!({"features": features, "network_modes": modes, "isolation": self.isolation})
    }
}

fn named<T: Ord>(
    map: &Map<String, Value>,
    key: &str,
    find: fn(&str) -> Option<T>,
) -> Result<BTreeSet<T>> {
    let names = map.get(key).and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .map(|name| {
            name.as_str().and_then(find).ok_or_else(|| {
                Error::new(
                    ErrorKind::Argument,
                    format!("capabilities: {name} is none of the {key}"),
                )
            })
        })
        .collect()
}
