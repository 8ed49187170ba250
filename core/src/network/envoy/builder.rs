//! The parts of an Envoy gateway.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::runtime::Executables;
use super::{EnvoyGateway, EnvoyRuntime, Pull};
use crate::error::{Error, ErrorKind, Result};
use crate::network::authorizer::Guard;
use crate::network::{Authorizer, Endpoint, header};
use crate::sandbox::{Inspection, NetworkPolicy};

/// The only port whose traffic can be inspected.
const HTTPS: u16 = 443;

/// Collects the parts of an [`EnvoyGateway`].
#[must_use = "a builder does nothing until it is built"]
pub struct EnvoyGatewayBuilder {
    policy: NetworkPolicy,
    executables: Executables,
    dns: Vec<String>,
    addresses: Vec<(String, SocketAddr)>,
    roots: Option<String>,
    authorizer: Option<Arc<dyn Authorizer>>,
    patience: Duration,
}

impl EnvoyGatewayBuilder {
    pub(super) fn new(policy: NetworkPolicy) -> Self {
        Self {
            policy,
            executables: Executables {
                runtime: EnvoyRuntime::default(),
                envoy: "envoy".into(),
                docker: "docker".into(),
                image: None,
                pull: Pull::default(),
            },
            dns: Vec::new(),
            addresses: Vec::new(),
            roots: None,
            authorizer: None,
            patience: Guard::PATIENCE,
        }
    }

    /// Who runs Envoy. By default whoever is there.
    pub fn runtime(mut self, runtime: EnvoyRuntime) -> Self {
        self.executables.runtime = runtime;
        self
    }

    /// Envoy's executable: a path, or a name on `PATH`. By default `"envoy"`.
    pub fn envoy(mut self, envoy: impl Into<String>) -> Self {
        self.executables.envoy = envoy.into();
        self
    }

    /// Docker's executable: a path, or a name on `PATH`. By default `"docker"`.
    pub fn docker(mut self, docker: impl Into<String>) -> Self {
        self.executables.docker = docker.into();
        self
    }

    /// The image to run in Docker, pinned by digest: `"envoyproxy/envoy@sha256:..."`. There is none by default.
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.executables.image = Some(image.into());
        self
    }

    /// When the image is fetched. By default when it is missing.
    pub fn pull(mut self, pull: Pull) -> Self {
        self.executables.pull = pull;
        self
    }

    /// Resolves names with these servers, each an address with or without a port. By default with the system's.
    pub fn dns<T: Into<String>>(mut self, servers: impl IntoIterator<Item = T>) -> Self {
        self.dns = servers.into_iter().map(Into::into).collect();
        self
    }

    /// Connects to `address` for an allowed destination such as `"api.example.com:443"`, without resolving its name. For tests, and for
    /// names that no server knows.
    pub fn address(mut self, destination: impl Into<String>, address: SocketAddr) -> Self {
        self.addresses.push((destination.into(), address));
        self
    }

    /// Trusts these authorities of upstream servers, as PEM, in place of the system's. They matter to inspection only.
    pub fn upstream_authorities(mut self, pem: impl Into<String>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// Decides about each inspected request.
    pub fn authorizer(self, authorizer: impl Authorizer + 'static) -> Self {
        self.shared_authorizer(Arc::new(authorizer))
    }

    /// As [`authorizer`](Self::authorizer), with one that others have too.
    pub fn shared_authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// How long the authorizer may take for a decision before the request is denied. By default ten seconds.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Reads the options of a declaration: `{runtime, transport, envoy, docker, image, pull, dns}`, all optional.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`] for an unknown option or an unusable value, [`ErrorKind::Capability`] for another transport
    /// than `"unix"`.
    pub fn options(mut self, options: &Value) -> Result<Self> {
        let Value::Object(options) = options else {
            return Err(policy(
                "the options of an Envoy gateway must be an object".into(),
            ));
        };
        for (name, value) in options.iter().filter(|(_, value)| !value.is_null()) {
            let text = || {
                value
                    .as_str()
                    .ok_or_else(|| policy(format!("{name} of an Envoy gateway must be a string")))
            };
            let unknown =
                |choices: &str| policy(format!("{name} of an Envoy gateway must be {choices}"));
            self = match name.as_str() {
                "runtime" => {
                    let runtime = EnvoyRuntime::from_name(text()?);
                    self.runtime(runtime.ok_or_else(|| unknown("auto, native or docker"))?)
                }
                "transport" if text()? == "unix" => self,
                "transport" => {
                    return Err(Error::new(
                        ErrorKind::Capability,
                        "an Envoy gateway is reached through a Unix socket only: set transport to unix",
                    ));
                }
                "envoy" => self.envoy(text()?),
                "docker" => self.docker(text()?),
                "image" => self.image(text()?),
                "pull" => {
                    let pull = Pull::from_name(text()?);
                    self.pull(pull.ok_or_else(|| unknown("if_missing, always or never"))?)
                }
                "dns" => {
                    let servers: Option<Vec<&str>> = value
                        .as_array()
                        .and_then(|servers| servers.iter().map(Value::as_str).collect());
                    self.dns(servers.ok_or_else(|| unknown("an array of addresses"))?)
                }
                _ => {
                    return Err(policy(format!(
                        "an Envoy gateway has no option {name:?}; there are runtime, transport, envoy, docker, image, pull and dns"
                    )));
                }
            };
        }
        Ok(self)
    }

    /// Builds the gateway, which [`open`](crate::network::Gateway::open) starts.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`] for a policy that Envoy cannot enforce: one that is no allowlist, a destination that is no DNS name with a
    /// port, inspection without an authorizer or of another port than 443, a header that nobody may change.
    pub fn build(self) -> Result<EnvoyGateway> {
        if !self.policy.is_allowlist() {
            return Err(policy(
                "a network gateway enforces an allowlist: give it a policy with that mode".into(),
            ));
        }
        let allow: Vec<Endpoint> = self
            .policy
            .allow
            .iter()
            .map(|destination| Endpoint::parse(destination))
            .collect::<Result<_>>()?;
        if self.policy.inspection == Inspection::Http {
            self.check_inspection(&allow)?;
        }
        let addresses = self
            .addresses
            .iter()
            .map(|(destination, address)| Ok((Endpoint::parse(destination)?, *address)))
            .collect::<Result<_>>()?;
        let dns = self
            .dns
            .iter()
            .map(|server| resolver(server))
            .collect::<Result<_>>()?;
        Ok(EnvoyGateway {
            policy: self.policy,
            allow,
            executables: self.executables,
            dns,
            addresses,
            roots: self.roots,
            authorizer: self.authorizer,
            patience: self.patience,
            changing: tokio::sync::Mutex::new(()),
            instance: parking_lot::Mutex::new(None),
        })
    }

    fn check_inspection(&self, allow: &[Endpoint]) -> Result<()> {
        if self.authorizer.is_none() {
            return Err(policy(
                "inspection of HTTP needs an authorizer, which decides about each request".into(),
            ));
        }
        if let Some(other) = allow.iter().find(|endpoint| endpoint.port() != HTTPS) {
            return Err(policy(format!(
                "{other} cannot be inspected: inspection of HTTP works for port {HTTPS} only"
            )));
        }
        for name in &self.policy.mutation_headers {
            header::mutable(name).map_err(policy)?;
        }
        for name in &self.policy.forward_headers {
            header::normalized(name).map_err(policy)?;
        }
        Ok(())
    }
}

/// A server that resolves names: an address, with port 53 unless it says otherwise.
fn resolver(text: &str) -> Result<SocketAddr> {
    let plain = text
        .parse::<IpAddr>()
        .map(|address| SocketAddr::new(address, 53));
    plain.or_else(|_| text.parse()).map_err(|_| {
        policy(format!(
            "{text:?} is no address of a DNS server: write it as \"10.0.0.2\" or \"10.0.0.2:53\""
        ))
    })
}

fn policy(message: String) -> Error {
    Error::new(ErrorKind::Policy, message)
}

impl std::fmt::Debug for EnvoyGatewayBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EnvoyGatewayBuilder")
            .field("policy", &self.policy)
            .field("executables", &self.executables)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::network::{Decision, Request};

    fn allowing(value: Value) -> EnvoyGatewayBuilder {
        EnvoyGateway::builder(NetworkPolicy::from_value(&value).unwrap())
    }

    fn inspecting(allow: &str, mutation: &str) -> EnvoyGatewayBuilder {
        allowing(
            json!({"mode": "allowlist", "allow": [allow], "inspection": "http",
            "authorizer": {"host": 1}, "mutation_headers": [mutation]}),
        )
    }

    fn refused(builder: EnvoyGatewayBuilder) -> String {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Policy);
        error.message().to_owned()
    }

    #[test]
    fn a_policy_that_envoy_cannot_enforce_is_refused() {
        let decide = |_: Request| async { Ok(Decision::allow()) };
        assert!(refused(EnvoyGateway::builder(NetworkPolicy::none())).contains("allowlist"));
        assert!(
            refused(allowing(
                json!({"mode": "allowlist", "allow": ["10.0.0.1:443"]})
            ))
            .contains("DNS name")
        );
        assert!(refused(inspecting("a.example:443", "authorization")).contains("authorizer"));
        assert!(
            refused(inspecting("a.example:8443", "authorization").authorizer(decide))
                .contains("443")
        );
        assert!(
            refused(inspecting("a.example:443", "host").authorizer(decide))
                .contains("only the gateway")
        );
        assert!(
            inspecting("a.example:443", "authorization")
                .authorizer(decide)
                .build()
                .is_ok()
        );
    }

    #[test]
    fn options_are_read_and_checked() {
        let builder = || allowing(json!({"mode": "allowlist", "allow": ["a.example:443"]}));
        let options = json!({"runtime": "docker", "transport": "unix", "envoy": "e", "docker": "d",
            "image": null, "pull": "never", "dns": ["10.0.0.2", "[::1]:5353"]});
        let gateway = builder().options(&options).unwrap().build().unwrap();
        assert_eq!(gateway.runtime(), EnvoyRuntime::Docker);
        assert_eq!(
            gateway.dns,
            [
                "10.0.0.2:53".parse().unwrap(),
                "[::1]:5353".parse().unwrap()
            ]
        );
        for (options, kind) in [
            (json!({"runtime": "podman"}), ErrorKind::Policy),
            (json!({"pull": 1}), ErrorKind::Policy),
            (json!({"dns": "10.0.0.2"}), ErrorKind::Policy),
            (json!({"port": 1}), ErrorKind::Policy),
            (json!([]), ErrorKind::Policy),
            (json!({"transport": "tcp"}), ErrorKind::Capability),
        ] {
            assert_eq!(
                builder().options(&options).unwrap_err().kind(),
                kind,
                "{options}"
            );
        }
        assert!(refused(builder().dns(["dns.example"])).contains("DNS server"));
    }
}
