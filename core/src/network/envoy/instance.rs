//! One running Envoy, and everything that belongs to it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;

use super::EnvoyGateway;
use super::authorization::{Asker, Authorization, Desk};
use super::bootstrap::Bootstrap;
use super::container::Container;
use super::inspection::Inspected;
use super::probe;
use super::process::Supervised;
use super::runtime::Run;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::network::authority::{Authority, Leaf};
use crate::network::directory::{PrivateDirectory, write};

/// The proxy's socket in the directory that children see.
pub(super) const SOCKET: &str = "proxy.sock";
/// What children should trust, in the same directory.
pub(super) const AUTHORITY: &str = "authority.pem";

/// How long Envoy may take until it denies what it must. Docker may have to fetch the image first.
const START: Duration = Duration::from_secs(30);
const START_IN_DOCKER: Duration = Duration::from_secs(180);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// A running Envoy. Dropping it kills the process and removes everything, in the order of its fields.
pub(super) struct Instance {
    process: Supervised,
    container: Mutex<Option<Container>>,
    _authorization: Option<Authorization>,
    client: PathBuf,
    path: PathBuf,
    directory: Mutex<PrivateDirectory>,
}

/// What inspection needs besides Envoy.
struct Inspection {
    authorization: Authorization,
    leaves: Vec<Leaf>,
    authorizer_socket: PathBuf,
    socket: PathBuf,
    roots: PathBuf,
}

impl Instance {
    pub(super) async fn start(gateway: &EnvoyGateway) -> Result<Self> {
        let run = gateway.executables.choose()?;
        let directory = PrivateDirectory::new(&env::temp_dir())?;
        let path = directory.path().to_owned();
        // Children see this one, and nothing of the other.
        let client = directory.directory("client")?;
        let private = directory.directory("private")?;
        let asker = matches!(run, Run::Native(_)).then(Asker::default);
        let inspection = Inspection::prepare(gateway, &client, &private, asker.clone())?;
        let bootstrap = private.join("bootstrap.json");
        let config = bootstrap_of(gateway, &client.join(SOCKET), inspection.as_ref());
        write(&bootstrap, config.to_string().as_bytes())?;

        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let process = Supervised::start(run.command(&path, &bootstrap, &name)).await?;
        if let Some(asker) = asker {
            let _ = OnceLock::set(&*asker, process.group());
        }
        let instance = Self {
            process,
            container: Mutex::new(run.container(&name)),
            _authorization: inspection.map(|inspection| inspection.authorization),
            client,
            path,
            directory: Mutex::new(directory),
        };
        let patience = match run {
            Run::Native(_) => START,
            Run::Docker { .. } => START_IN_DOCKER,
        };
        instance.ready(patience).await?;
        // Envoy has read it, and the keys in it need not lie there any longer.
        fs::remove_file(&bootstrap).map_err(|error| {
            let message = format!("cannot remove the keys of a network gateway: {error}");
            Error::new(ErrorKind::Cleanup, message)
        })?;
        Ok(instance)
    }

    async fn ready(&self, patience: Duration) -> Result<()> {
        let start = Instant::now();
        let socket = self.client.join(SOCKET);
        while !probe::denies(&socket, super::PROBE).await {
            if !self.process.is_alive() {
                self.process.ended().await;
                return Err(self.failure("ended instead of starting"));
            }
            if start.elapsed() > patience {
                return Err(self.failure("does not answer"));
            }
            executor::pause(PAUSE).await?;
        }
        Ok(())
    }

    fn failure(&self, what: &str) -> Error {
        let said = self.process.last_words();
        let said = if said.is_empty() {
            String::new()
        } else {
            format!(": {said}")
        };
        Error::new(
            ErrorKind::Dependency,
            format!("the network gateway's Envoy {what}{said}"),
        )
    }

    /// Fails unless Envoy lives and denies.
    pub(super) async fn validate(&self, patience: Duration) -> Result<()> {
        if !self.process.is_alive() {
            return Err(self.failure("has ended"));
        }
        if !probe::denies(&self.client.join(SOCKET), patience).await {
            return Err(self.failure("does not answer"));
        }
        Ok(())
    }

    /// Ends everything; tells the first failure, after trying all of it.
    pub(super) async fn stop(&self) -> Result<()> {
        let stopped = self.process.stop().await;
        let container = self.container.lock().take();
        let removed = match container {
            Some(mut container) => executor::blocking(move || container.remove()).await,
            None => Ok(()),
        };
        let cleaned = self.directory.lock().remove();
        stopped.and(removed).and(cleaned)
    }

    #[cfg(test)]
    pub(super) fn process_group(&self) -> Option<rustix::process::Pid> {
        *self.process.group().lock()
    }

    #[cfg(test)]
    pub(super) async fn ended(&self) {
        self.process.ended().await;
    }

    /// The directory that children see.
    pub(super) fn client(&self) -> &Path {
        &self.client
    }

    /// The directory with everything.
    pub(super) fn directory(&self) -> &Path {
        &self.path
    }
}

impl Inspection {
    /// Makes the certificates and starts the authorizer's server; `None` without inspection.
    fn prepare(
        gateway: &EnvoyGateway,
        client: &Path,
        private: &Path,
        asker: Option<Asker>,
    ) -> Result<Option<Self>> {
        let Some(guard) = gateway.guard() else {
            return Ok(None);
        };
        let hosts: Vec<&str> = gateway
            .allow
            .iter()
            .map(|endpoint| endpoint.host())
            .collect();
        let authority = Authority::new(&hosts)?;
        write(&client.join(AUTHORITY), authority.certificate().as_bytes())?;
        let leaves = hosts
            .iter()
            .map(|host| authority.issue(host))
            .collect::<Result<_>>()?;
        let roots = private.join("roots.pem");
        let trusted = match &gateway.roots {
            Some(pem) => pem.clone(),
            None => system_roots()?,
        };
        write(&roots, trusted.as_bytes())?;
        let authorizer_socket = private.join("authorizer.sock");
        let desk = Desk {
            guard,
            allow: gateway.allow.clone(),
            forward_headers: gateway.policy.forward_headers.iter().cloned().collect(),
            asker,
        };
        Ok(Some(Self {
            authorization: Authorization::start(&authorizer_socket, desk)?,
            leaves,
            authorizer_socket,
            socket: private.join("inspection.sock"),
            roots,
        }))
    }
}

fn bootstrap_of(
    gateway: &EnvoyGateway,
    proxy_socket: &Path,
    inspection: Option<&Inspection>,
) -> serde_json::Value {
    let inspected = inspection.map(|inspection| Inspected {
        socket: &inspection.socket,
        authorizer_socket: &inspection.authorizer_socket,
        forward_headers: &gateway.policy.forward_headers,
        mutation_headers: &gateway.policy.mutation_headers,
        // The guard denies first, and says why to the log.
        patience: gateway.patience.as_secs() + 5,
        leaves: &inspection.leaves,
        roots: &inspection.roots,
    });
    Bootstrap {
        allow: &gateway.allow,
        proxy_socket,
        dns: &gateway.dns,
        addresses: &gateway.addresses,
        inspected,
    }
    .to_value()
}

/// The authorities that this process trusts, for Envoy to trust the same.
fn system_roots() -> Result<String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err(Error::new(
            ErrorKind::Dependency,
            "no certificate authorities found, so upstream servers cannot be verified: install the system's \
             ca-certificates package, or set SSL_CERT_FILE to a PEM file",
        ));
    }
    let mut pem = String::new();
    for certificate in found.certs {
        let text = STANDARD.encode(&certificate);
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in text.as_bytes().chunks(64) {
            pem.push_str(&String::from_utf8_lossy(line));
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Ok(pem)
}
