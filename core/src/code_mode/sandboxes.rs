//! Where programs get their sandboxes from.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{self, Feature, Policy, Sandbox};
use crate::workspace::Workspace;

/// Makes the sandboxes that contain programs.
#[async_trait]
pub trait SandboxFactory: Send + Sync {
    /// A sandbox for one program, over a workspace that was made for it and is open. `runtime_paths` names the paths of the
    /// workspace that the program's interpreter needs to read; they are for the process, no grant for tools. Whoever asks opens
    /// the sandbox and closes it.
    ///
    /// # Errors
    /// Of the sandbox that the application chose.
    async fn create(
        &self,
        workspace: &Arc<Workspace>,
        runtime_paths: &[String],
    ) -> Result<Arc<dyn Sandbox>>;

    /// Checks what sandboxes are to be made with, so that what is wrong with it shows before a model is asked. By default
    /// nothing is looked at.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Whether a program in `sandbox` may start others: where they end with it, or where nothing is contained anyway.
///
/// # Errors
/// [`ErrorKind::Capability`] when it could leave processes behind.
pub(super) fn subprocesses(sandbox: &dyn Sandbox) -> Result<bool> {
    let capabilities = sandbox.capabilities();
    if capabilities.supports(Feature::ProcessTreeOwnership) || capabilities.isolation == "none" {
        return Ok(true);
    }
    if capabilities.supports(Feature::ProcessSpawnDenial) {
        return Ok(false);
    }
    Err(Error::new(
        ErrorKind::Capability,
        "code mode needs a sandbox that owns the whole process tree of a program, or that can keep it from starting others",
    ))
}

/// Sandboxes as an agent declares them: a name, or `{provider, policy, ...}`.
///
/// Programs may write their workspace and have no network, unless the declaration says otherwise.
#[derive(Clone)]
pub struct DeclaredSandboxes {
    declaration: Value,
}

impl DeclaredSandboxes {
    /// Sandboxes of that declaration. What is wrong with it is told by [`check`](SandboxFactory::check), or when one is made.
    pub fn new(declaration: impl Into<Value>) -> Self {
        Self {
            declaration: declaration.into(),
        }
    }

    /// The provider and its options.
    fn options(&self, runtime_paths: &[String]) -> Result<(String, Map<String, Value>)> {
        let (provider, mut options) = match &self.declaration {
            Value::String(name) => (name.clone(), Map::new()),
            Value::Object(map) => {
                let mut options = map.clone();
                let provider = match options.shift_remove("provider") {
                    None | Some(Value::Null) => "native".to_owned(),
                    Some(Value::String(name)) => name,
                    Some(_) => return Err(wrong("provider must be a name")),
                };
                (provider, options)
            }
            _ => {
                return Err(wrong(
                    "expected a name, or an object with a provider and its options",
                ));
            }
        };
        let mut policy = match options.shift_remove("policy") {
            Some(Value::Object(policy)) => policy,
            Some(policy) if !policy.is_null() => {
                // Not ours to explain.
                options.insert("policy".into(), policy);
                return Ok((provider, options));
            }
            _ => Policy::KEYS
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), options.shift_remove(*key)?)))
                .collect(),
        };
        policy.retain(|_, value| !value.is_null());
        policy
            .entry("files")
            .or_insert_with(|| json!({"root": "read_write"}));
        if provider != "unrestricted" {
            policy.entry("network").or_insert_with(|| json!("none"));
        }
        let paths = policy.entry("runtime_paths").or_insert_with(|| json!({}));
        if let Some(paths) = paths.as_object_mut() {
            for name in runtime_paths {
                paths.entry(name).or_insert_with(|| json!("read_only"));
            }
        }
        options.insert("policy".into(), Value::Object(policy));
        Ok((provider, options))
    }
}

fn wrong(problem: &str) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("the sandbox of code_mode: {problem}"),
    )
}

impl std::fmt::Debug for DeclaredSandboxes {
    /// Without the declaration, whose environment may hold secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = self
            .declaration
            .get("provider")
            .unwrap_or(&self.declaration);
        formatter
            .debug_struct("DeclaredSandboxes")
            .field("provider", &named.as_str())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SandboxFactory for DeclaredSandboxes {
    async fn create(
        &self,
        workspace: &Arc<Workspace>,
        runtime_paths: &[String],
    ) -> Result<Arc<dyn Sandbox>> {
        let (provider, options) = self.options(runtime_paths)?;
        sandbox::build(&provider, Arc::clone(workspace), &options)
    }

    fn check(&self) -> Result<()> {
        let (provider, options) = self.options(&[])?;
        sandbox::check(&provider, &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_not_shown() {
        let shown = format!("{:?}", DeclaredSandboxes::new("native"));
        assert!(shown.contains("native"), "{shown}");
        let declaration =
            json!({"provider": "bubblewrap", "environment": {"set": {"KEY": "sk-hush"}}});
        let shown = format!("{:#?}", DeclaredSandboxes::new(declaration));
        assert!(
            shown.contains("bubblewrap") && !shown.contains("sk-hush"),
            "{shown}"
        );
    }

    fn policy(declaration: Value) -> Value {
        let sandboxes = DeclaredSandboxes::new(declaration);
        let (_, options) = sandboxes.options(&["ruby_0".into()]).unwrap();
        options["policy"].clone()
    }

    #[test]
    fn programs_write_their_own_workspace_and_have_no_network() {
        let closed = json!({
            "files": {"root": "read_write"}, "network": "none", "runtime_paths": {"ruby_0": "read_only"},
        });
        assert_eq!(policy(json!("native")), closed);
        assert_eq!(
            policy(json!({"provider": "bubblewrap", "network": null})),
            closed
        );
        assert_eq!(policy(json!("unrestricted")).get("network"), None);
        let own = policy(json!({"policy": {"files": {"root": "read_only"}, "network": "inherit"}}));
        assert_eq!(
            (&own["files"]["root"], &own["network"]),
            (&json!("read_only"), &json!("inherit"))
        );
        let flat = policy(json!({"files": {"root": "read_only"}, "limits": {"output_bytes": 1}}));
        assert_eq!(flat["files"], own["files"]);
        assert!(DeclaredSandboxes::new(json!(3)).options(&[]).is_err());
    }

    #[test]
    fn what_is_declared_can_be_checked_before_anything_is_made() {
        for (declaration, named) in [
            (json!("nativ"), "\"nativ\""),
            (json!({"provider": 3}), "provider"),
            (json!({"polcy": {}}), "\"polcy\""),
            (json!({"policy": {"fils": {}}}), "\"fils\""),
            (json!({"policy": 3}), "3"),
            (json!({"files": {"docs": "read_only"}}), "docs"),
            (json!({"files": {"root": "wide_open"}}), "wide_open"),
            (json!({"network": "some"}), "some"),
            (json!({"limits": {"output_byte": 1}}), "output_byte"),
            (json!({"provider": "unrestricted", "uid": 1}), "uid"),
        ] {
            let error = DeclaredSandboxes::new(declaration.clone())
                .check()
                .unwrap_err();
            assert!(error.message().contains(named), "{declaration}: {error}");
        }
        for declaration in [
            json!("native"),
            json!("unrestricted"),
            json!({"policy": {"runtime_paths": {"ruby_0": "read_only"}}, "limits": {"output_bytes": 1}}),
        ] {
            let checked = DeclaredSandboxes::new(declaration.clone()).check();
            assert!(checked.is_ok(), "{declaration}: {checked:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn options_of_the_kind_are_checked_too() {
        for own in [
            json!({"uid": "root"}),
            json!({"proc": "old"}),
            json!({"tmpfs": ["relative"]}),
        ] {
            assert!(
                DeclaredSandboxes::new(own.clone()).check().is_err(),
                "{own}"
            );
        }
        assert!(DeclaredSandboxes::new(json!({"uid": 7})).check().is_ok());
    }
}
