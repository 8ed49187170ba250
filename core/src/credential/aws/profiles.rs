//! Profiles of AWS's shared files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ini::{self, Section};
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::provider::Environment;

/// What the two shared files say.
#[derive(Default)]
pub(super) struct Profiles {
    /// Of both files; the credentials file has the last word.
    pub(super) merged: BTreeMap<String, Section>,
    /// Of the credentials file only.
    pub(super) credentials: BTreeMap<String, Section>,
    /// Of the config file only.
    pub(super) config: BTreeMap<String, Section>,
    pub(super) sso_sessions: BTreeMap<String, Section>,
    /// Where the files were looked for, for messages.
    pub(super) places: String,
}

/// Where the shared files are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    credentials: Option<PathBuf>,
    config: Option<PathBuf>,
}

impl Places {
    /// The usual ones, unless the environment or the application names others.
    pub(super) fn new(environment: &Environment, credentials_file: Option<&Path>) -> Self {
        let usual = |name: &str| home(environment).map(|home| home.join(".aws").join(name));
        let named = |variable: &str| {
            environment
                .get(variable)
                .map(|path| expand(environment, Path::new(&path)))
        };
        Self {
            credentials: credentials_file
                .map(|path| expand(environment, path))
                .or_else(|| named("AWS_SHARED_CREDENTIALS_FILE"))
                .or_else(|| usual("credentials")),
            config: named("AWS_CONFIG_FILE").or_else(|| usual("config")),
        }
    }
}

/// The directory of the user.
pub(super) fn home(environment: &Environment) -> Option<PathBuf> {
    environment.get("HOME").map(PathBuf::from)
}

/// `path` with the directory of the user in place of `~`.
pub(super) fn expand(environment: &Environment, path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home(environment)) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

impl Profiles {
    /// Reads the files, of which none need exist.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for a file that cannot be read.
    pub(super) fn load(places: &Places) -> Result<Self> {
        let mut profiles = Self {
            credentials: read(places.credentials.as_deref())?,
            ..Self::default()
        };
        for (name, section) in read(places.config.as_deref())? {
            if name == "default" {
                // `[profile default]` wins when a file has both.
                profiles.config.entry(name).or_insert(section);
            } else if let Some(name) = named("profile", &name) {
                profiles.config.insert(name, section);
            } else if let Some(name) = named("sso-session", &name) {
                profiles.sso_sessions.insert(name, section);
            }
        }
        profiles.merged = profiles.config.clone();
        for (name, section) in &profiles.credentials {
            let merged = profiles.merged.entry(name.clone()).or_default();
            merged.extend(section.clone());
        }
        let places = [&places.credentials, &places.config];
        let places: Vec<String> = places
            .into_iter()
            .flatten()
            .map(|path| path.display().to_string())
            .collect();
        profiles.places = if places.is_empty() {
            "any file, because HOME is not set".to_owned()
        } else {
            places.join(" or ")
        };
        Ok(profiles)
    }

    /// The region of a profile.
    pub(super) fn region(&self, profile: &str) -> Option<&str> {
        let region = self.merged.get(profile)?.get("region")?.as_str();
        (!region.is_empty()).then_some(region)
    }
}

fn read(path: Option<&Path>) -> Result<BTreeMap<String, Section>> {
    let Some(path) = path else {
        return Ok(BTreeMap::new());
    };
    match fs::read(path) {
        Ok(bytes) => Ok(ini::parse(&String::from_utf8_lossy(&bytes))),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(problem) => Err(unusable(format!(
            "cannot read {}: {problem}",
            path.display()
        ))),
    }
}

/// The name in `profile name` or `profile "a name"`.
fn named(kind: &str, section: &str) -> Option<String> {
    let rest = section.strip_prefix(kind)?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let name = rest.trim();
    let bare = ['"', '\'']
        .iter()
        .find_map(|quote| name.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(bare.unwrap_or(name).to_owned())
}
