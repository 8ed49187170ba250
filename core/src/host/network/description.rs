//! What a gateway says of itself.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::network::GatewayMount;

/// What a gateway says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Description {
    pub(super) mounts: Vec<GatewayMount>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) proxy_socket: Option<PathBuf>,
    pub(super) proxy_mount_path: Option<PathBuf>,
    pub(super) client_network: Option<String>,
}

impl Description {
    pub(super) fn from_value(value: &Value) -> Result<Self> {
        let text = |of: &Value, name: &str| match of.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(name, "a string")),
        };
        let path = |of: &Value, name: &str| text(of, name).map(|text| text.map(PathBuf::from));
        let mut mounts = Vec::new();
        match value.get("mounts") {
            None | Some(Value::Null) => {}
            Some(Value::Array(listed)) => {
                for mount in listed {
                    let (source, target) = (path(mount, "source")?, path(mount, "target")?);
                    let source =
                        source.ok_or_else(|| wrong("mounts", "objects with source and target"))?;
                    // Without another place a mount is where it is outside.
                    let target = target.unwrap_or_else(|| source.clone());
                    if !source.is_absolute() || !target.is_absolute() {
                        return Err(wrong("mounts", "absolute paths"));
                    }
                    mounts.push(GatewayMount { source, target });
                }
            }
            Some(_) => return Err(wrong("mounts", "an array")),
        }
        let mut environment = Vec::new();
        match value.get("environment") {
            None | Some(Value::Null) => {}
            Some(Value::Object(variables)) => {
                for (name, value) in variables {
                    let value = value
                        .as_str()
                        .ok_or_else(|| wrong("environment", "an object of strings"))?;
                    environment.push((name.clone(), value.to_owned()));
                }
            }
            Some(_) => return Err(wrong("environment", "an object of strings")),
        }
        Ok(Self {
            mounts,
            environment,
            proxy_socket: path(value, "proxy_socket")?,
            proxy_mount_path: path(value, "proxy_mount_path")?,
            client_network: text(value, "client_network")?,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let mounts: Vec<Value> = self
            .mounts
            .iter()
            .map(|mount| json!({"source": mount.source, "target": mount.target}))
            .collect();
        let environment: Map<String, Value> = self
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({
            "mounts": mounts,
            "environment": environment,
            "proxy_socket": self.proxy_socket,
            "proxy_mount_path": self.proxy_mount_path,
            "client_network": self.client_network,
        })
    }
}

fn wrong(name: &str, shape: &str) -> Error {
    Error::new(
        ErrorKind::Policy,
        format!("{name} of a network gateway must be {shape}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_descriptions_are_refused() {
        for value in [
            json!({"mounts": {}}),
            json!({"mounts": [{}]}),
            json!({"mounts": [{"source": "a"}]}),
            json!({"environment": {"A": 1}}),
            json!({"proxy_mount_path": 1}),
        ] {
            let error = Description::from_value(&value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Policy, "{value}");
        }
    }
}
