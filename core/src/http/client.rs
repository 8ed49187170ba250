//! The process's HTTP clients.
//!
//! A client owns a connection pool, so there is one for each kind of connection rather than one
//! for each provider object. Three things make a pool unfit for sharing and are part of its key:
//!
//! * the process: a forked child must never write to its parent's sockets;
//! * the tokio runtime: a pooled connection is driven by the runtime that opened it, and
//!   stalls when another runtime borrows it;
//! * the connect timeout and the use of proxies, which a client fixes when it is built.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::ClientConfig;
use rustls::crypto::ring;
use tokio::runtime::{Handle, Id};

use super::roots::SystemRoots;
use crate::error::{Error, ErrorKind, Result};

/// Clients kept at once; more only appear when runtimes come and go, and then the oldest is useless.
const MAX_CLIENTS: usize = 16;

/// How long to wait for the list. Its holder needs nanoseconds, so a longer wait means that the
/// holder was lost in a fork.
const LOCK_PATIENCE: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    runtime: Id,
    open_timeout: Duration,
    direct: bool,
}

struct Clients {
    pid: u32,
    entries: Vec<(Key, Client)>,
}

static CLIENTS: Mutex<Clients> = Mutex::new(Clients {
    pid: 0,
    entries: Vec::new(),
});

/// The client for connections with this connect timeout; `direct` ones ignore proxies.
///
/// Must be called within a tokio runtime.
pub(super) fn client(open_timeout: Duration, direct: bool) -> Result<Client> {
    let key = Key {
        runtime: Handle::try_current()
            .map_err(|_| Error::new(ErrorKind::Error, "HTTP needs a running tokio runtime"))?
            .id(),
        open_timeout,
        direct,
    };
    if let Some(client) = with_entries(|entries| find(entries, key)).flatten() {
        return Ok(client);
    }
    // Built outside the lock: reading proxy settings takes long enough for a fork to hit it.
    let client = build(open_timeout, direct)?;
    let kept = with_entries(|entries| {
        if let Some(existing) = find(entries, key) {
            return existing;
        }
        if entries.len() >= MAX_CLIENTS {
            entries.remove(0);
        }
        entries.push((key, client.clone()));
        client.clone()
    });
    Ok(kept.unwrap_or(client))
}

fn find(entries: &[(Key, Client)], key: Key) -> Option<Client> {
    entries
        .iter()
        .find(|(candidate, _)| *candidate == key)
        .map(|(_, client)| client.clone())
}

/// Runs `work` on this process's list; `None` when the list's lock did not survive a fork.
fn with_entries<T>(work: impl FnOnce(&mut Vec<(Key, Client)>) -> T) -> Option<T> {
    let mut clients = CLIENTS.try_lock_for(LOCK_PATIENCE)?;
    let pid = std::process::id();
    if clients.pid != pid {
        // Closing the parent's connections here would send TLS and HTTP/2 goodbyes over them.
        let _ = std::mem::take(&mut clients.entries).leak();
        clients.pid = pid;
    }
    Some(work(&mut clients.entries))
}

fn build(open_timeout: Duration, direct: bool) -> Result<Client> {
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls_config()?)
        .redirect(Policy::none())
        .connect_timeout(open_timeout)
        .http2_keep_alive_interval(Duration::from_secs(30))
        .http2_keep_alive_timeout(Duration::from_secs(20))
        .user_agent(concat!("little-ghost/", env!("CARGO_PKG_VERSION")));
    if direct {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|problem| {
        Error::new(
            ErrorKind::Configuration,
            format!("cannot set up HTTP: {problem}; check the proxy environment variables"),
        )
        .with_source(problem)
    })
}

/// TLS with the ring provider passed by hand: installing a process-wide default would take the
/// choice away from the application.
fn tls_config() -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|problem| {
            Error::new(ErrorKind::Error, format!("cannot set up TLS: {problem}"))
                .with_source(problem)
        })?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(SystemRoots::new(provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients of this test's own runtime; other tests add theirs meanwhile.
    fn count() -> usize {
        let own = Handle::current().id();
        with_entries(|entries| entries.iter().filter(|(key, _)| key.runtime == own).count())
            .unwrap()
    }

    #[tokio::test]
    async fn one_client_serves_equal_keys_and_runtimes_do_not_share() {
        let timeout = Duration::from_millis(12_345);
        client(timeout, true).unwrap();
        let before = count();
        client(timeout, true).unwrap();
        assert_eq!(count(), before);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async { client(timeout, true).unwrap() });
            let own = runtime.handle().id();
            assert!(
                with_entries(|entries| entries.iter().any(|(key, _)| key.runtime == own)).unwrap()
            );
        })
        .join()
        .unwrap();
    }

    #[tokio::test]
    async fn a_child_process_starts_with_nothing() {
        client(Duration::from_millis(54_321), true).unwrap();
        // What a fork leaves behind: the list, under a pid that is no longer ours.
        CLIENTS.lock().pid = u32::MAX;
        assert!(
            !with_entries(|entries| {
                let inherited = Duration::from_millis(54_321);
                entries.iter().any(|(key, _)| key.open_timeout == inherited)
            })
            .unwrap()
        );
    }

    #[test]
    fn without_a_runtime_it_is_an_error() {
        assert!(client(Duration::from_secs(1), false).is_err());
    }
}
