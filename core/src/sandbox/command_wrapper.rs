//! A command that the application puts in front of what contains programs.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::Narrowing;
use crate::error::Result;
use crate::support::{Registration, Registry};

/// What the application puts in front of `bwrap`, such as a supervisor that limits what it may use. Words are one:
/// they come first.
///
/// The command line that it makes must become the one that it was given, or pass on descriptors and signals; it is
/// trusted as `bwrap` itself is.
#[async_trait]
pub trait CommandWrapper: Send + Sync {
    /// The command line that starts `command`, for a program of a scope that has what is left in `scope`.
    ///
    /// # Errors
    /// Whatever keeps the program from being started.
    async fn wrap(&self, command: Vec<String>, scope: Option<&Narrowing>) -> Result<Vec<String>>;
}

#[async_trait]
impl CommandWrapper for Vec<String> {
    async fn wrap(&self, command: Vec<String>, _scope: Option<&Narrowing>) -> Result<Vec<String>> {
        Ok(self.iter().cloned().chain(command).collect())
    }
}

static WRAPPERS: Registry<dyn CommandWrapper> = Registry::new("command wrapper");

/// Makes the wrapper of a host known under its key.
pub(crate) fn register(
    key: u64,
    wrapper: Arc<dyn CommandWrapper>,
) -> Result<Registration<dyn CommandWrapper>> {
    WRAPPERS.add(key, wrapper)
}

/// The wrapper that a declaration names; `None` when it names none of a host.
pub(super) fn declared(value: &Value) -> Option<Arc<dyn CommandWrapper>> {
    let key = value.get("host").and_then(Value::as_u64)?;
    Some(Arc::new(Declared(key)))
}

/// Finds the wrapper when it is used: a forked child may have registered another.
struct Declared(u64);

#[async_trait]
impl CommandWrapper for Declared {
    async fn wrap(&self, command: Vec<String>, scope: Option<&Narrowing>) -> Result<Vec<String>> {
        WRAPPERS.get(self.0)?.wrap(command, scope).await
    }
}
