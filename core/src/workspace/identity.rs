//! Which physical directories the paths of a workspace are.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::name::invalid;
use crate::error::{Error, Result};

/// One physical directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name of the path; `"root"` for the root.
    pub(crate) name: String,
    /// The path as it is configured.
    pub(crate) path: PathBuf,
    /// Where it really is.
    pub(crate) real: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// The physical directories of a workspace when it was opened, the root first.
#[derive(Debug)]
pub(crate) struct Identities(Vec<Identity>);

impl Identities {
    /// Makes the root and the paths that are the workspace's `own`, and looks where everything is.
    pub(super) fn record(root: &Path, paths: &[(String, PathBuf)], own: &[bool]) -> Result<Self> {
        make("root", root)?;
        for ((name, path), _) in paths.iter().zip(own).filter(|(_, own)| **own) {
            make(name, path)?;
        }
        let mut found: Vec<Identity> = Vec::with_capacity(paths.len() + 1);
        let named = paths.iter().map(|(name, path)| (name.as_str(), path));
        for (name, path) in [("root", &root.to_path_buf())].into_iter().chain(named) {
            let identity = look(name, path)
                .map_err(|problem| invalid(format!("the directory of {name:?} {problem}")))?;
            let twin = |known: &&Identity| {
                (known.device, known.inode) == (identity.device, identity.inode)
            };
            if let Some(other) = found.iter().find(twin) {
                return Err(invalid(format!(
                    "{name:?} and {:?} are one directory; name it once",
                    other.name
                )));
            }
            if let Some(base) = found.first()
                && own_of(paths, own, name)
                && !identity.real.starts_with(&base.real)
            {
                return Err(invalid(format!(
                    "{name:?} leads out of the root through a link; use an absolute path for a \
                     directory elsewhere"
                )));
            }
            found.push(identity);
        }
        Ok(Self(found))
    }

    /// The directory of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Identity> {
        self.0.iter().find(|identity| identity.name == name)
    }

    /// Where `path`, written as the paths are configured, really is.
    pub(crate) fn physical(&self, path: &Path) -> PathBuf {
        let bases = self.0.iter().filter_map(|identity| {
            let rest = path.strip_prefix(&identity.path).ok()?;
            Some((identity, rest))
        });
        match bases.max_by_key(|(identity, _)| identity.path.as_os_str().len()) {
            // Joining nothing would add a slash.
            Some((identity, rest)) if rest == Path::new("") => identity.real.clone(),
            Some((identity, rest)) => identity.real.join(rest),
            None => path.to_owned(),
        }
    }

    /// Fails when a directory is not the one it was.
    pub(super) fn validate(&self) -> Result<()> {
        for identity in &self.0 {
            if look(&identity.name, &identity.path).as_ref() != Ok(identity) {
                return Err(replaced(&identity.name));
            }
        }
        Ok(())
    }
}

/// The error for a directory that is not the one it was when the workspace opened.
pub(crate) fn replaced(name: &str) -> Error {
    Error::tool(format!(
        "The directory of the workspace path {name:?} was replaced after the workspace was opened."
    ))
}

fn own_of(paths: &[(String, PathBuf)], own: &[bool], name: &str) -> bool {
    let mut all = paths.iter().zip(own);
    all.any(|((known, _), own)| known == name && *own)
}

fn make(name: &str, path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|problem| {
        invalid(format!(
            "the directory of {name:?} cannot be made ({})",
            problem.kind()
        ))
    })
}

fn look(name: &str, path: &Path) -> Result<Identity, String> {
    let (real, metadata) = physical(path).map_err(|problem| match problem.kind() {
        io::ErrorKind::NotFound => {
            "does not exist; create it first, or in the setup of the workspace".to_owned()
        }
        kind => format!("cannot be used ({kind})"),
    })?;
    if !metadata.is_dir() {
        return Err("is no directory".to_owned());
    }
    Ok(Identity {
        name: name.to_owned(),
        path: path.to_owned(),
        real,
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

fn physical(path: &Path) -> io::Result<(PathBuf, Metadata)> {
    let real = fs::canonicalize(path)?;
    let metadata = fs::symlink_metadata(&real)?;
    Ok((real, metadata))
}
