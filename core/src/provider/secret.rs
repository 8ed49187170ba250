//! Values that must never be shown.

use std::fmt;
use std::sync::Arc;

/// A credential. It can be used but not printed: `Debug` shows `[redacted]`, and there is no
/// `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

/// What stands in place of a secret.
const MASK: &str = "[redacted]";

/// Shorter secrets are not looked for in texts: they would match by accident.
const MIN_SEARCHED: usize = 8;

impl Secret {
    /// Wraps a credential; white space around it, such as a file's last newline, is dropped.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(value.trim().into())
    }

    /// The credential itself, for the request that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to hide.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `text` without the secret; `None` when it is not in there.
    pub(crate) fn redact(&self, text: &str) -> Option<String> {
        if self.0.len() < MIN_SEARCHED || !text.contains(&*self.0) {
            return None;
        }
        Some(text.replace(&*self.0, MASK))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}
