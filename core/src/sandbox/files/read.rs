//! Reads.

use rustix::fs::OFlags;

use super::handle::Handle;
use super::target::Target;
use crate::error::Result;

/// The text of a file of at most `limit` bytes.
pub(super) fn text(target: &Target<'_>, limit: u64) -> Result<String> {
    Handle::open(target, OFlags::RDONLY)?.text(limit)
}
