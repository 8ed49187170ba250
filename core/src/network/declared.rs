//! The gateway that a network policy declares.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{EnvoyGateway, ExternalGateway, Gateway, registry};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::NetworkPolicy;
use crate::workspace::Workspace;

/// The gateway for `policy`: the one that it names, with `options`; Envoy when it names none.
///
/// A declaration is `"envoy"`, `"external"`, one of these as `provider` of an object with options, or `{"host": key}` for
/// one that a host has made. The options of Envoy are those of
/// [`EnvoyGatewayBuilder::options`](super::EnvoyGatewayBuilder::options); those of `"external"` are `runtime_paths`,
/// `proxy_mount_path` and `environment`, and it needs the workspace.
///
/// # Errors
/// [`ErrorKind::Policy`] for a declaration that is none, and what the gateway itself refuses.
pub fn declared_gateway(
    policy: &NetworkPolicy,
    options: &Map<String, Value>,
    workspace: Option<&Arc<Workspace>>,
) -> Result<Arc<dyn Gateway>> {
    let declared = policy.gateway.as_ref().unwrap_or(&Value::Null);
    if let Some(made) = registry::gateway(declared)? {
        return Ok(made);
    }
    let mut options = options.clone();
    let provider = match declared {
        Value::Null => "envoy".to_owned(),
        Value::String(name) => name.clone(),
        Value::Object(own) => {
            options.extend(
                own.iter()
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
            match options.shift_remove("provider") {
                None => "envoy".to_owned(),
                Some(Value::String(name)) => name,
                Some(_) => return Err(unknown()),
            }
        }
        _ => return Err(unknown()),
    };
    match provider.as_str() {
        "envoy" => envoy(policy, options),
        "external" => external(policy, options, workspace),
        _ => Err(unknown()),
    }
}

fn envoy(policy: &NetworkPolicy, options: Map<String, Value>) -> Result<Arc<dyn Gateway>> {
    let mut builder = EnvoyGateway::builder(policy.clone()).options(&Value::Object(options))?;
    if let Some(declared) = &policy.authorizer
        && let Some(authorizer) = registry::authorizer(declared)?
    {
        builder = builder.shared_authorizer(authorizer);
    }
    Ok(Arc::new(builder.build()?))
}

fn external(
    policy: &NetworkPolicy,
    options: Map<String, Value>,
    workspace: Option<&Arc<Workspace>>,
) -> Result<Arc<dyn Gateway>> {
    let mut names: Vec<String> = Vec::new();
    let mut socket = None;
    let mut variables = Vec::new();
    for (name, value) in options {
        let wrong = |shape: &str| invalid(format!("{name} of an external gateway must be {shape}"));
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("runtime_paths", Value::Array(paths)) => {
                let listed: Option<Vec<&str>> = paths.iter().map(Value::as_str).collect();
                let listed = listed.ok_or_else(|| wrong("an array of names"))?;
                names = listed.into_iter().map(str::to_owned).collect();
            }
            // Children never write there, so an access given with a name says nothing more.
            ("runtime_paths", Value::Object(paths)) => {
                names = paths.into_iter().map(|(name, _)| name).collect()
            }
            ("proxy_mount_path", Value::String(path)) => socket = Some(path),
            ("environment", Value::Object(set)) => {
                for (key, value) in set {
                    let Value::String(value) = value else {
                        return Err(wrong("an object of strings"));
                    };
                    variables.push((key, value));
                }
            }
            ("runtime_paths", _) => return Err(wrong("an array of names")),
            ("proxy_mount_path", _) => return Err(wrong("a path")),
            ("environment", _) => return Err(wrong("an object of strings")),
            _ => {
                return Err(invalid(format!(
                    "an external gateway has no option {name:?}; there are runtime_paths, proxy_mount_path and environment"
                )));
            }
        }
    }
    let socket = socket.ok_or_else(|| {
        invalid("an external gateway needs proxy_mount_path, the path of the proxy's socket".into())
    })?;
    let workspace =
        workspace.ok_or_else(|| invalid("an external gateway needs a workspace".into()))?;
    let gateway = ExternalGateway::new(policy.clone(), Arc::clone(workspace), names, socket)?;
    Ok(Arc::new(gateway.environment(variables)))
}

fn unknown() -> Error {
    invalid("the gateway of a network policy must be envoy, external, or a gateway itself".into())
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::Policy, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::network::registry::{register_authorizer, register_gateway};
    use crate::network::{Decision, Request};

    fn workspace() -> Arc<Workspace> {
        Workspace::builder(std::env::temp_dir().join("little-ghost-declared"))
            .path("proxy", "proxy")
            .build()
            .unwrap()
    }

    fn made(gateway: Value, options: Value) -> Result<Arc<dyn Gateway>> {
        let policy = json!({"mode": "allowlist", "allow": ["a.example:443"], "gateway": gateway});
        let policy = NetworkPolicy::from_value(&policy).unwrap();
        declared_gateway(&policy, options.as_object().unwrap(), Some(&workspace()))
    }

    #[test]
    fn envoy_is_the_usual_one() {
        for declared in [
            json!(null),
            json!("envoy"),
            json!({"runtime": "native"}),
            json!({"provider": "envoy"}),
        ] {
            let gateway = made(declared, json!({"pull": "never"})).unwrap();
            assert!(
                gateway
                    .proxy_mount_path()
                    .unwrap()
                    .ends_with("network/proxy.sock")
            );
        }
        let socket = "/srv/proxy/p.sock";
        let options = json!({"runtime_paths": ["proxy"], "proxy_mount_path": socket, "environment": {"A": "b"}});
        let gateway = made(json!("external"), options).unwrap();
        assert_eq!(gateway.proxy_mount_path(), Some(socket.into()));
        assert_eq!(gateway.environment(), [("A".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn what_a_host_has_made_is_found_while_it_is_kept() {
        let inner = made(json!("envoy"), json!({})).unwrap();
        let registration = register_gateway(7, Arc::clone(&inner)).unwrap();
        let declaration = registration.declaration();
        assert!(Arc::ptr_eq(
            &made(declaration.clone(), json!({})).unwrap(),
            &inner
        ));
        drop(registration);
        drop(inner);
        assert!(
            made(declaration, json!({}))
                .err()
                .unwrap()
                .message()
                .contains("gone")
        );

        let authorizer = Arc::new(|_: Request| async { Ok(Decision::allow()) });
        let registration = register_authorizer(8, authorizer).unwrap();
        let policy = json!({"mode": "allowlist", "allow": ["a.example:443"], "inspection": "http",
            "authorizer": registration.declaration()});
        let policy = NetworkPolicy::from_value(&policy).unwrap();
        assert!(declared_gateway(&policy, &Map::new(), None).is_ok());
        drop(registration);
        assert!(declared_gateway(&policy, &Map::new(), None).is_err());
    }

    #[test]
    fn other_declarations_are_refused() {
        for (gateway, options) in [
            (json!("squid"), json!({})),
            (json!(1), json!({})),
            (json!({"provider": 1}), json!({})),
            (json!("envoy"), json!({"port": 1})),
            (json!("external"), json!({})),
            (json!("external"), json!({"runtime_paths": [1]})),
            (json!("external"), json!({"runtime_paths": "proxy"})),
            (json!("external"), json!({"proxy_mount_path": 1})),
            (json!("external"), json!({"environment": {"A": 1}})),
            (json!("external"), json!({"socket": "/a"})),
        ] {
            let error = made(gateway.clone(), options.clone()).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Policy, "{gateway} {options}");
        }
    }
}
