//! The configuration files of an application.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::yaml::read_yaml;
use crate::error::{Error, ErrorKind, Result};

/// Where connections are configured, below the application's folder.
pub const PROVIDERS_PATH: &str = "config/little_ghost/providers.yml";
/// Where models are configured, below the application's folder.
pub const MODELS_PATH: &str = "config/little_ghost/models.yml";

/// What the configuration files of an application say. What no file says is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigurationFiles {
    /// Connections by name.
    pub providers: Option<Map<String, Value>>,
    /// Model profiles by role.
    pub models: Option<Map<String, Value>>,
    /// The role or target of agents that choose none.
    pub default_model: Option<String>,
}

impl ConfigurationFiles {
    /// Reads the files of the application at `root`: those that are named, which must exist, and the
    /// conventional ones ([`PROVIDERS_PATH`], [`MODELS_PATH`]), which need not. Relative paths are below `root`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`], naming the file, for one that is missing, not YAML, or has not the
    /// expected keys.
    pub fn read(root: &Path, providers: Option<&Path>, models: Option<&Path>) -> Result<Self> {
        let mut files = Self::default();
        if let Some((path, document)) = load(root, providers, PROVIDERS_PATH)? {
            files.providers = Some(section(&path, &document, "providers")?);
        }
        if let Some((path, document)) = load(root, models, MODELS_PATH)? {
            files.models = Some(section(&path, &document, "models")?);
            files.default_model = match document.get("default_model") {
                None | Some(Value::Null) => None,
                Some(Value::String(model)) => Some(model.clone()),
                Some(_) => return Err(wrong(&path, "default_model must be a role or a target")),
            };
        }
        Ok(files)
    }

    /// `{providers, models, default_model}` with the keys that a file set.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        if let Some(providers) = &self.providers {
            map.insert("providers".into(), Value::Object(providers.clone()));
        }
        if let Some(models) = &self.models {
            map.insert("models".into(), Value::Object(models.clone()));
        }
        if let Some(model) = &self.default_model {
            map.insert("default_model".into(), Value::String(model.clone()));
        }
        Value::Object(map)
    }
}

fn load(root: &Path, named: Option<&Path>, usual: &str) -> Result<Option<(PathBuf, Value)>> {
    let path = root.join(named.unwrap_or(Path::new(usual)));
    if !path.is_file() {
        return match named {
            Some(_) => Err(wrong(&path, "does not exist; correct the path")),
            None => Ok(None),
        };
    }
    let document = read_yaml(&path)?;
    Ok(Some((path, document)))
}

fn section(path: &Path, document: &Value, key: &str) -> Result<Map<String, Value>> {
    let Value::Object(entries) = document.get(key).unwrap_or(&Value::Null) else {
        return Err(wrong(
            path,
            &format!("must have a mapping under the top-level key `{key}:`"),
        ));
    };
    for (name, entry) in entries {
        if !entry.is_object() {
            return Err(wrong(
                path,
                &format!("`{key}: {name}:` must be a mapping of its settings"),
            ));
        }
    }
    Ok(entries.clone())
}

fn wrong(path: &Path, problem: &str) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("{} {problem}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn application(files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("little-ghost-{}", Uuid::new_v4()));
        std::fs::create_dir_all(root.join("config/little_ghost")).unwrap();
        for (name, text) in files {
            std::fs::write(root.join(name), text).unwrap();
        }
        root
    }

    #[test]
    fn conventional_files_may_be_absent() {
        let root = application(&[]);
        let files = ConfigurationFiles::read(&root, None, None).unwrap();
        assert_eq!(files.to_value(), json!({}));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn reads_both_files() {
        let root = application(&[
            (PROVIDERS_PATH, "providers:\n  local: {adapter: openai}\n"),
            (
                "own.yml",
                "default_model: fast\nmodels:\n  fast: {target: 'local:small'}\n",
            ),
        ]);
        let files = ConfigurationFiles::read(&root, None, Some(Path::new("own.yml"))).unwrap();
        assert_eq!(
            files.to_value(),
            json!({
                "providers": {"local": {"adapter": "openai"}},
                "models": {"fast": {"target": "local:small"}},
                "default_model": "fast",
            })
        );
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn says_which_file_is_wrong() {
        let root = application(&[
            (PROVIDERS_PATH, "connections: {}\n"),
            (MODELS_PATH, "models: {a: x}\n"),
        ]);
        let message = |providers: Option<&str>| {
            let read = ConfigurationFiles::read(&root, providers.map(Path::new), None);
            read.unwrap_err().message().to_owned()
        };
        assert!(message(None).contains("providers.yml must have a mapping under"));
        assert!(message(Some("missing.yml")).contains("missing.yml does not exist"));
        std::fs::write(root.join(PROVIDERS_PATH), "providers: {}\n").unwrap();
        assert!(message(None).contains("models.yml `models: a:` must be"));
        std::fs::remove_dir_all(root).unwrap();
    }
}
