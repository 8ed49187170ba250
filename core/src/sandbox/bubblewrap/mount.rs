//! What of the host appears inside.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{Access, Grant};

/// A file or directory of the host, and where it appears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) source: String,
    pub(super) target: String,
    pub(super) access: Access,
    /// Device and inode of what must appear there.
    pub(super) identity: Option<(u64, u64)>,
}

impl Mount {
    /// A directory of the workspace, which appears where it is.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`] for a path that is no text.
    pub(super) fn of(grant: &Grant) -> Result<Self> {
        let path = text(&grant.path)?;
        Ok(Self {
            source: path.clone(),
            target: path,
            access: grant.access,
            identity: Some((grant.device, grant.inode)),
        })
    }

    pub(super) fn read_only(source: &Path, target: &Path) -> Result<Self> {
        Ok(Self {
            source: text(source)?,
            target: text(target)?,
            access: Access::ReadOnly,
            identity: None,
        })
    }
}

/// The mounts in the order to make them: what lies inside of another comes after it, and is not covered by
/// it. Of two with the same target the read-only one stays.
pub(super) fn in_order(mounts: Vec<Mount>) -> Vec<Mount> {
    let mut by_target: BTreeMap<(usize, String), Mount> = BTreeMap::new();
    for mount in mounts {
        let key = (mount.target.len(), mount.target.clone());
        match by_target.get(&key) {
            Some(known) if known.access == Access::ReadOnly => {}
            _ => drop(by_target.insert(key, mount)),
        }
    }
    by_target.into_values().collect()
}

/// Every directory above these paths, nearest to the root first.
pub(super) fn parents<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found: BTreeMap<(usize, String), ()> = BTreeMap::new();
    for path in paths {
        for parent in Path::new(path).ancestors().skip(1) {
            if let Some(parent) = parent.to_str().filter(|parent| parent.len() > 1) {
                found.insert((parent.len(), parent.to_owned()), ());
            }
        }
    }
    found.into_keys().map(|(_, path)| path).collect()
}

/// Whether `path` is `folder` or inside of it.
pub(super) fn is_inside(path: &str, folder: &str) -> bool {
    Path::new(path).starts_with(folder)
}

/// # Errors
/// [`ErrorKind::Policy`] for a path that is no text.
pub(super) fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let shown = path.display();
        Error::new(
            ErrorKind::Policy,
            format!("{shown} is not UTF-8, which a sandbox needs; rename it"),
        )
    })
}

/// # Errors
/// [`ErrorKind::Policy`] unless it is absolute and says where it is without `.` and `..`.
pub(super) fn check_absolute(what: &str, path: &str) -> Result<()> {
    let parts = Path::new(path).components();
    let plain = parts
        .skip(1)
        .all(|part| matches!(part, Component::Normal(_)));
    if path.starts_with('/') && plain && !path.contains('\0') {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Policy,
        format!("{what}: {path:?} must be an absolute path without .."),
    ))
}
