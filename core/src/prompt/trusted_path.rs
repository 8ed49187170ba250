//! Folders that application code vouches for.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// A folder of templates that application code chose for one request.
///
/// It is the application's statement, not a check: nothing here can tell who may write into
/// the folder. Never make one from a path that a request or a model supplied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrustedPath {
    path: PathBuf,
}

impl TrustedPath {
    /// The existing folder at `path`, with symbolic links resolved now.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] when there is no such folder.
    pub fn new(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let unusable = |problem: &str| {
            Error::new(
                ErrorKind::Argument,
                format!(
                    "the trusted path {} {problem}; pass an existing folder of templates",
                    path.display()
                ),
            )
        };
        let real = path
            .canonicalize()
            .map_err(|_| unusable("does not exist"))?;
        if !real.is_dir() {
            return Err(unusable("is not a folder"));
        }
        Ok(Self { path: real })
    }

    /// The real path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
