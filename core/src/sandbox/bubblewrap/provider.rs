//! Bubblewrap as declarations name it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{Bubblewrap, ProcFilesystem};
use crate::error::{Error, ErrorKind, Result};
use crate::network::declared_gateway;
use crate::sandbox::command_wrapper;
use crate::sandbox::provider::only;
use crate::sandbox::{Probe, Sandbox, SandboxOptions, SandboxProvider};
use crate::workspace::Workspace;

const OPTIONS: &[&str] = &[
    "bubblewrap",
    "platform",
    "socat",
    "gateway_options",
    "command_wrapper",
    "proc",
    "tmpfs",
    "masks",
    "runtime_roots",
    "uid",
    "gid",
    "cgroup",
];

/// Makes sandboxes of declarations.
pub(in crate::sandbox) struct BubblewrapProvider;

#[async_trait]
impl SandboxProvider for BubblewrapProvider {
    fn build(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<Arc<dyn Sandbox>> {
        let sandbox = Bubblewrap::declared(workspace, options, own)?;
        Ok(Arc::new(
            sandbox.with_declared_gateway(own.get("gateway_options"))?,
        ))
    }

    fn check(
        &self,
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<()> {
        // Gateways may be the application's, and are made for a sandbox only.
        Bubblewrap::declared(workspace, options, own).map(drop)
    }

    async fn probe(&self, own: &Map<String, Value>) -> Result<Probe> {
        only("bubblewrap", own, &["bubblewrap", "executable", "platform"])?;
        let executable = own.get("executable").or_else(|| own.get("bubblewrap"));
        let executable = executable.and_then(Value::as_str).map(Path::new);
        let platform = own.get("platform").and_then(Value::as_str);
        Ok(Bubblewrap::probe(executable, platform).await)
    }
}

impl Bubblewrap {
    /// The sandbox of these options, without a gateway.
    fn declared(
        workspace: Arc<Workspace>,
        options: SandboxOptions,
        own: &Map<String, Value>,
    ) -> Result<Self> {
        only("bubblewrap", own, OPTIONS)?;
        let mut sandbox = Self::new(workspace, options)?;
        for (name, value) in own.iter().filter(|(_, value)| !value.is_null()) {
            sandbox = sandbox.with(name, value)?;
        }
        Ok(sandbox)
    }

    fn with(mut self, name: &str, value: &Value) -> Result<Self> {
        match name {
            "bubblewrap" => self.executable = text(name, value)?.into(),
            "platform" => self.platform = text(name, value)?.to_owned(),
            "command_wrapper" => {
                self.command_wrapper = Some(match command_wrapper::declared(value) {
                    Some(wrapper) => wrapper,
                    None => Arc::new(texts(name, value)?),
                });
            }
            "proc" => self.proc = proc(value)?,
            "tmpfs" => return self.tmpfs(texts(name, value)?),
            "masks" => return self.masks(texts(name, value)?),
            "runtime_roots" => return self.runtime_roots(texts(name, value)?),
            "uid" => self.uid = Some(id(name, value)?),
            "gid" => self.gid = Some(id(name, value)?),
            "cgroup" => return self.cgroup(text(name, value)?),
            // The namespace has a relay of its own; socat need not be there.
            _ => {}
        }
        Ok(self)
    }
}

impl Bubblewrap {
    /// The gateway that the policy names, if it needs one.
    fn with_declared_gateway(self, options: Option<&Value>) -> Result<Self> {
        let Some(policy) = self
            .options
            .policy
            .network
            .as_ref()
            .filter(|one| one.is_allowlist())
        else {
            return Ok(self);
        };
        let none = Map::new();
        let options = match options {
            None | Some(Value::Null) => &none,
            Some(Value::Object(options)) => options,
            Some(_) => return Err(wrong("gateway_options", "an object")),
        };
        let gateway = declared_gateway(policy, options, Some(&self.workspace))?;
        Ok(self.through(gateway))
    }
}

fn proc(value: &Value) -> Result<ProcFilesystem> {
    match value.as_str() {
        Some("new") => Ok(ProcFilesystem::New),
        Some("bind") => Ok(ProcFilesystem::Bind),
        Some("none") => Ok(ProcFilesystem::Absent),
        _ if value == &Value::Bool(false) => Ok(ProcFilesystem::Absent),
        _ => Err(wrong("proc", "new, bind or none")),
    }
}

fn text<'a>(name: &str, value: &'a Value) -> Result<&'a str> {
    value.as_str().ok_or_else(|| wrong(name, "a text"))
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>> {
    let words = value
        .as_array()
        .map(|words| words.iter().map(Value::as_str));
    let words = words.and_then(Iterator::collect::<Option<Vec<&str>>>);
    let words = words.ok_or_else(|| wrong(name, "a list of texts"))?;
    Ok(words.into_iter().map(str::to_owned).collect())
}

fn id(name: &str, value: &Value) -> Result<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| wrong(name, "a number of a user or group"))
}

fn wrong(name: &str, expected: &str) -> Error {
    Error::new(
        ErrorKind::Argument,
        format!("the bubblewrap sandbox: {name} must be {expected}"),
    )
}
