//! Kinds of sandboxes, by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;
use serde_json::{Map, Value};

use super::Sandbox;
use super::native::backend;
use super::options::SandboxOptions;
use super::probe::Probe;
use super::seatbelt::Seatbelt;
use super::unrestricted::Unrestricted;
use crate::error::{Error, ErrorKind, Result};
use crate::workspace::Workspace;

/// A kind of sandbox, which declarations name.
#[async_trait]
pub trait SandboxProvider: Send + Sync {
    /// A sandbox over `workspace`; not open yet. `own` are the options that only this kind has.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy), [`Capability`](ErrorKind::Capability) and
    /// [`Argument`](ErrorKind::Argument) for what it cannot be made with.
    fn build(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<Arc<dyn Sandbox>>;

    /// Whether a sandbox over `workspace` could be made of these options; none is, and `workspace` need not exist. By
    /// default they are not looked at.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    fn check(
        &self,
        _workspace: Arc<Workspace>,
        _options: SandboxOptions,
        _own: &Map<String, Value>,
    ) -> Result<()> {
        Ok(())
    }

    /// Whether it can be used here.
    ///
    /// # Errors
    /// [`Argument`](ErrorKind::Argument) for unknown options.
    async fn probe(&self, own: &Map<String, Value>) -> Result<Probe>;
}

static REGISTERED: RwLock<BTreeMap<String, Arc<dyn SandboxProvider>>> =
    RwLock::new(BTreeMap::new());

/// Has declarations mean `provider` by `name`, in all of the process.
pub fn register(name: impl Into<String>, provider: impl SandboxProvider + 'static) {
    REGISTERED.write().insert(name.into(), Arc::new(provider));
}

/// The provider of that name. There is never another in its place.
///
/// # Errors
/// [`Dependency`](ErrorKind::Dependency) when nobody registered one.
pub(super) fn find(name: &str) -> Result<Arc<dyn SandboxProvider>> {
    if let Some(found) = REGISTERED.read().get(name) {
        return Ok(Arc::clone(found));
    }
    match name {
        "native" => Ok(Arc::new(Native)),
        "bubblewrap" => bubblewrap(),
        "seatbelt" => Ok(Arc::new(SeatbeltProvider)),
        "unrestricted" => Ok(Arc::new(UnrestrictedProvider)),
        _ => Err(Error::new(
            ErrorKind::Dependency,
            format!(
                "there is no sandbox provider {name:?}; use native, bubblewrap, seatbelt or unrestricted, or \
                 register one"
            ),
        )),
    }
}

#[cfg(target_os = "linux")]
fn bubblewrap() -> Result<Arc<dyn SandboxProvider>> {
    Ok(Arc::new(super::bubblewrap::BubblewrapProvider))
}

#[cfg(not(target_os = "linux"))]
fn bubblewrap() -> Result<Arc<dyn SandboxProvider>> {
    Err(Error::new(
        ErrorKind::UnsupportedPlatform,
        "Bubblewrap belongs to Linux; use the native sandbox",
    ))
}

/// Builds the sandbox of that name: `options` are a policy's keys, `limits`, `profiles`, and what only that
/// kind of sandbox has.
///
/// # Errors
/// [`Dependency`](ErrorKind::Dependency) for an unknown name; what the provider says.
pub fn build(
    name: &str,
    workspace: Arc<Workspace>,
    options: &Map<String, Value>,
) -> Result<Arc<dyn Sandbox>> {
    let provider = find(name)?;
    let (options, own) = SandboxOptions::from_map(options)?;
    provider.build(workspace, options, &own)
}

/// Whether the sandbox of that name could be built with these options over a workspace of nothing but a root. Paths for
/// processes are not looked for: programs bring their own.
///
/// # Errors
/// As [`build`].
pub(crate) fn check(name: &str, options: &Map<String, Value>) -> Result<()> {
    let provider = find(name)?;
    let (mut options, own) = SandboxOptions::from_map(options)?;
    options.policy.runtime_paths.clear();
    let workspace = Workspace::builder(std::env::temp_dir()).build()?;
    provider.check(workspace, options, &own)
}

/// The sandbox that belongs to this operating system, over `workspace`; a [`Policy`](super::Policy) is enough as
/// `options`. There is no other in its place.
///
/// # Errors
/// [`UnsupportedPlatform`](ErrorKind::UnsupportedPlatform) where there is none; what the provider says. Whether it works on
/// this machine is told when it opens.
pub fn native(
    workspace: Arc<Workspace>,
    options: impl Into<SandboxOptions>,
) -> Result<Arc<dyn Sandbox>> {
    Native.build(workspace, options.into(), &Map::new())
}

/// Whether the sandbox of that name can be used here; nothing of a run is opened.
///
/// # Errors
/// [`Dependency`](ErrorKind::Dependency) for an unknown name,
/// [`Argument`](ErrorKind::Argument) for unknown options.
pub async fn probe(name: &str, options: &Map<String, Value>) -> Result<Probe> {
    find(name)?.probe(options).await
}

/// Fails for options that are not among `known`.
pub(super) fn only(kind: &str, own: &Map<String, Value>, known: &[&str]) -> Result<()> {
    match own.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(Error::new(
            ErrorKind::Argument,
            format!(
                "the {kind} sandbox has no option {key:?}; use {}",
                common(known)
            ),
        )),
        None => Ok(()),
    }
}

/// What every sandbox takes, and `own`.
fn common(own: &[&str]) -> String {
    let every = ["policy", "limits", "profiles"];
    let known: Vec<&str> = every.iter().chain(own).copied().collect();
    known.join(", ")
}

fn text<'a>(own: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    own.get(key).and_then(Value::as_str)
}

struct Native;

impl Native {
    fn choose(own: &Map<String, Value>) -> Result<(Arc<dyn SandboxProvider>, Map<String, Value>)> {
        let mut own = own.clone();
        let platform = own.get("platform").and_then(Value::as_str);
        let name = backend(platform.unwrap_or(std::env::consts::OS))?;
        if name == "bubblewrap" {
            own.shift_remove("platform");
        }
        Ok((find(name)?, own))
    }
}

#[async_trait]
impl SandboxProvider for Native {
    fn build(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<Arc<dyn Sandbox>> {
        let (backend, own) = Self::choose(own)?;
        backend.build(workspace, options, &own)
    }

    fn check(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<()> {
        let (backend, own) = Self::choose(own)?;
        backend.check(workspace, options, &own)
    }

    async fn probe(&self, own: &Map<String, Value>) -> Result<Probe> {
        match Self::choose(own) {
            Ok((backend, own)) => backend.probe(&own).await,
            Err(problem) => {
                let none = super::Capabilities::new([], [], "none");
                Ok(Probe::of(none, Some(problem)))
            }
        }
    }
}

struct SeatbeltProvider;

#[async_trait]
impl SandboxProvider for SeatbeltProvider {
    fn build(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<Arc<dyn Sandbox>> {
        only("seatbelt", own, &["executable", "platform"])?;
        let mut sandbox = Seatbelt::new(workspace, options)?;
        if let Some(executable) = text(own, "executable") {
            sandbox = sandbox.executable(executable);
        }
        if let Some(platform) = text(own, "platform") {
            sandbox = sandbox.platform(platform);
        }
        Ok(Arc::new(sandbox))
    }

    fn check(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<()> {
        self.build(workspace, options, own).map(drop)
    }

    async fn probe(&self, own: &Map<String, Value>) -> Result<Probe> {
        only("seatbelt", own, &["executable", "platform"])?;
        let executable = text(own, "executable").map(Path::new);
        Ok(Seatbelt::probe(executable, text(own, "platform")))
    }
}

struct UnrestrictedProvider;

#[async_trait]
impl SandboxProvider for UnrestrictedProvider {
    fn build(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<Arc<dyn Sandbox>> {
        only("unrestricted", own, &[])?;
        Ok(Unrestricted::new(workspace, options)?)
    }

    fn check(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<()> {
        self.build(workspace, options, own).map(drop)
    }

    async fn probe(&self, own: &Map<String, Value>) -> Result<Probe> {
        only("unrestricted", own, &[])?;
        Ok(Probe::of(Unrestricted::backend_capabilities(true), None))
    }
}
