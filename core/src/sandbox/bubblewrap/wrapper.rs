//! A command that the application puts in front of `bwrap`.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::sandbox::Narrowing;

/// Makes a command line of the one it is given.
type Function = dyn Fn(Vec<String>, Option<&Narrowing>) -> Result<Vec<String>> + Send + Sync;

/// What the application puts in front of `bwrap`, such as a supervisor that limits what it may use. It must
/// become `bwrap`, or pass on descriptors and signals; it is trusted as `bwrap` itself is.
#[derive(Clone)]
pub enum CommandWrapper {
    /// Words that come first.
    Prefix(Vec<String>),
    /// A function of the whole command line and of the scope it is for.
    Function(Arc<Function>),
}

impl CommandWrapper {
    /// The command line that starts `command`.
    pub(super) fn wrap(
        &self,
        command: Vec<String>,
        scope: Option<&Narrowing>,
    ) -> Result<Vec<String>> {
        match self {
            CommandWrapper::Prefix(words) => Ok(words.iter().cloned().chain(command).collect()),
            CommandWrapper::Function(function) => function(command, scope),
        }
    }
}

impl fmt::Debug for CommandWrapper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CommandWrapper")
    }
}
