//! Who asks something of a manager.

use std::sync::Arc;

use crate::error::{Error, Result};

/// Whether the caller waits for the turn that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Sync,
    Async,
}

impl Mode {
    /// # Errors
    /// [`ErrorKind::Tool`](crate::ErrorKind::Tool) for any other name than `sync` and `async`.
    pub(crate) fn from_name(name: &str) -> Result<Self> {
        match name {
            "sync" => Ok(Mode::Sync),
            "async" => Ok(Mode::Async),
            other => Err(Error::tool(format!(
                "mode must be \"sync\" or \"async\", not {other:?}"
            ))),
        }
    }
}

/// Who asks something of a manager.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    /// The operation that turns started by it are parts of.
    pub(crate) operation_id: Option<Arc<str>>,
    /// Whether other code may be at work while it waits.
    pub(crate) crowded: bool,
}
