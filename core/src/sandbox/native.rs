//! The sandbox of this operating system.

use crate::error::{Error, ErrorKind, Result};

/// The name of the sandbox that belongs to `platform`, such as `"linux"` or `"arm64-darwin24"`. There is no
/// other in its place.
///
/// # Errors
/// [`UnsupportedPlatform`](ErrorKind::UnsupportedPlatform) for other systems.
pub(super) fn backend(platform: &str) -> Result<&'static str> {
    if platform.contains("darwin") || platform.contains("macos") {
        Ok("seatbelt")
    } else if platform.contains("linux") {
        Ok("bubblewrap")
    } else {
        Err(Error::new(
            ErrorKind::UnsupportedPlatform,
            format!("there is no sandbox for {platform}; Linux and macOS have one"),
        ))
    }
}
