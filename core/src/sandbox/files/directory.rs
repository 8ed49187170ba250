//! What a listing leaves out.

use std::ffi::CStr;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::target::Target;

impl Target<'_> {
    /// Whether `name`, an entry of this directory, is only there for child processes.
    pub(super) fn hides(&self, name: &CStr) -> bool {
        let mut path = self.grant.path.clone();
        path.extend(&self.components);
        path.push(OsStr::from_bytes(name.to_bytes()));
        self.grants
            .iter()
            .any(|grant| !grant.for_tools && grant.path == path)
    }
}
