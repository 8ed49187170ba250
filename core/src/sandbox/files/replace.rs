//! Replaces one text in a file.

use rustix::fs::OFlags;

use super::failure::failed;
use super::handle::Handle;
use super::target::Target;
use super::write::{check_size, written};
use crate::error::{Error, Result};
use crate::sandbox::limits::Limits;

/// Replaces the one occurrence of `old` by `new`, both taken literally.
pub(super) fn once(target: &Target<'_>, old: &str, new: &str, limits: &Limits) -> Result<String> {
    if old.is_empty() {
        return Err(Error::tool("old_text is empty; give the text to replace."));
    }
    let mut file = Handle::open(target, OFlags::RDWR)?;
    let text = file.text(limits.read_bytes)?;
    let Some((before, after)) = text.split_once(old) else {
        return Err(failed(target.path, "does not contain old_text"));
    };
    // Occurrences that overlap are as ambiguous as others.
    if text.rfind(old) != Some(before.len()) {
        return Err(failed(
            target.path,
            "contains old_text more than once; give more of the text around it",
        ));
    }
    let content = [before, new, after].concat();
    check_size(target.path, content.as_bytes(), limits.write_bytes)?;
    file.put(content.as_bytes())?;
    Ok(written(target.path, content.as_bytes()))
}
