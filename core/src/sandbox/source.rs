//! Where a run gets its sandbox from.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::access::{invalid, said};
use super::{Sandbox, provider};
use crate::error::Result;
use crate::run::Run;
use crate::workspace::Workspace;

/// Makes a sandbox for each run, which opens and closes it.
#[async_trait]
pub trait RunSandboxProvider: Send + Sync {
    /// The sandbox of `run` over `workspace`, which is open; the sandbox is not yet.
    ///
    /// # Errors
    /// Any; the run then fails before its agent begins.
    async fn sandbox(&self, run: &Run, workspace: &Arc<Workspace>) -> Result<Arc<dyn Sandbox>>;
}

/// Where a run gets its sandbox from.
///
/// ```
/// use little_ghost::json;
/// use little_ghost::sandbox::SandboxSource;
///
/// # fn example() -> little_ghost::Result<()> {
/// let source = SandboxSource::from_value(&json!({
///     "provider": "native", "files": {"root": "read_write"}, "network": "none",
/// }))?;
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Clone)]
pub struct SandboxSource(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    /// The caller's: opened, never closed.
    Supplied(Arc<dyn Sandbox>),
    /// Made for each run.
    Made(Arc<dyn RunSandboxProvider>),
}

impl SandboxSource {
    /// A sandbox that `make` gives each run, over its open workspace.
    pub fn each_run<F>(make: impl Fn(Run, Arc<Workspace>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Arc<dyn Sandbox>>> + Send + 'static,
    {
        let make: Make = Box::new(move |run, workspace| Box::pin(make(run, workspace)));
        Self::provided(Closure(make))
    }

    /// Whatever `provider` makes.
    pub fn provided(provider: impl RunSandboxProvider + 'static) -> Self {
        Self(Kind::Made(Arc::new(provider)))
    }

    /// Reads the name of a provider, or `{provider, ...}` with its options; see
    /// [`build`](super::build). Without a name the native one is meant.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) for anything else,
    /// [`Dependency`](crate::ErrorKind::Dependency) for an unknown provider.
    pub fn from_value(value: &Value) -> Result<Self> {
        let (name, options) = match value {
            Value::String(name) => (name.clone(), Map::new()),
            Value::Object(map) => {
                let mut options = map.clone();
                match options.shift_remove("provider") {
                    None | Some(Value::Null) => ("native".to_owned(), options),
                    Some(Value::String(name)) => (name, options),
                    Some(other) => {
                        return Err(invalid(format!(
                            "provider must be a name, got {}",
                            said(&other)
                        )));
                    }
                }
            }
            other => {
                return Err(invalid(format!(
                    "a sandbox is declared by a name or an object, got {}",
                    said(other)
                )));
            }
        };
        provider::find(&name)?;
        Ok(Self::provided(Declared { name, options }))
    }
}

impl<S: Sandbox + 'static> From<Arc<S>> for SandboxSource {
    fn from(sandbox: Arc<S>) -> Self {
        Self(Kind::Supplied(sandbox))
    }
}

impl From<Arc<dyn Sandbox>> for SandboxSource {
    fn from(sandbox: Arc<dyn Sandbox>) -> Self {
        Self(Kind::Supplied(sandbox))
    }
}

impl std::fmt::Debug for SandboxSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match &self.0 {
            Kind::Supplied(_) => "supplied",
            Kind::Made(_) => "made for each run",
        };
        write!(formatter, "SandboxSource({what})")
    }
}

/// A provider by name, with its options.
struct Declared {
    name: String,
    options: Map<String, Value>,
}

#[async_trait]
impl RunSandboxProvider for Declared {
    async fn sandbox(&self, _run: &Run, workspace: &Arc<Workspace>) -> Result<Arc<dyn Sandbox>> {
        provider::build(&self.name, Arc::clone(workspace), &self.options)
    }
}

type Pending = std::pin::Pin<Box<dyn Future<Output = Result<Arc<dyn Sandbox>>> + Send>>;
type Make = Box<dyn Fn(Run, Arc<Workspace>) -> Pending + Send + Sync>;

struct Closure(Make);

#[async_trait]
impl RunSandboxProvider for Closure {
    async fn sandbox(&self, run: &Run, workspace: &Arc<Workspace>) -> Result<Arc<dyn Sandbox>> {
        (self.0)(run.clone(), Arc::clone(workspace)).await
    }
}
