//! Files that hold secrets.

use std::fs;
use std::path::PathBuf;

use super::trail::unusable;
use crate::error::Result;
use crate::executor;

/// The text of a file.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) with the path, and why it cannot be read.
pub(super) async fn text(path: PathBuf) -> Result<String> {
    executor::blocking(move || {
        fs::read_to_string(&path)
            .map_err(|problem| unusable(format!("cannot read {}: {problem}", path.display())))
    })
    .await
}
