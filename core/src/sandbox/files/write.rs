//! Writes.

use rustix::fs::OFlags;

use super::failure::failed;
use super::handle::Handle;
use super::target::Target;
use crate::error::Result;

/// Puts `content` into a file, which is made when it is missing.
pub(super) fn whole(target: &Target<'_>, content: &[u8], limit: u64) -> Result<String> {
    check_size(target.path, content, limit)?;
    // Nothing is cut off before it is clear what was opened.
    Handle::open(target, OFlags::WRONLY | OFlags::CREATE)?.put(content)?;
    Ok(written(target.path, content))
}

pub(super) fn check_size(path: &str, content: &[u8], limit: u64) -> Result<()> {
    if content.len() as u64 > limit {
        return Err(failed(
            path,
            &format!(
                "cannot be written: {} bytes are more than the limit of {limit} bytes",
                content.len()
            ),
        ));
    }
    Ok(())
}

/// What a model reads about a file that was written.
pub(super) fn written(path: &str, content: &[u8]) -> String {
    format!("Wrote {} bytes to {path}.", content.len())
}
