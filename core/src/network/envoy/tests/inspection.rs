//! Requests that an authorizer decides about.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;

use super::world::{Client, Server, envoy};
use crate::error::Error;
use crate::network::authority::Authority;
use crate::network::{Authorizer, Decision, EnvoyGateway, EnvoyGatewayBuilder, Gateway, Request};
use crate::sandbox::NetworkPolicy;

const HOST: &str = "api.example.com";

fn inspecting(
    envoy: &str,
    server: &Server,
    trusted: &Authority,
    authorizer: impl Authorizer + 'static,
) -> EnvoyGatewayBuilder {
    let policy = json!({"mode": "allowlist", "allow": ["api.example.com:443", "www.example.com:443"],
        "inspection": "http", "authorizer": {"host": 1},
        "forward_headers": ["X-Seen"], "mutation_headers": ["Authorization", "X-Dropped"]});
    EnvoyGateway::builder(NetworkPolicy::from_value(&policy).unwrap())
        .envoy(envoy)
        .address("api.example.com:443", server.address)
        .address("www.example.com:443", server.address)
        .upstream_authorities(trusted.certificate())
        .authorizer(authorizer)
}

/// A server that is the host, and who vouches for it.
fn upstream() -> (Server, Authority) {
    let authority = Authority::new(&["example.com"]).unwrap();
    (Server::tls(&authority.issue(HOST).unwrap()), authority)
}

#[tokio::test]
async fn the_authorizer_sees_what_it_may_and_sets_what_it_may() {
    let Some(envoy) = envoy() else { return };
    let (server, trusted) = upstream();
    let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
    let asked = Arc::clone(&seen);
    let authorizer = move |request: Request| {
        asked.lock().push(request);
        async {
            Decision::allow()
                .set_header("authorization", "Bearer real")?
                .remove_header("x-dropped")
        }
    };
    let gateway = inspecting(&envoy, &server, &trusted, authorizer)
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let headers = "authorization: Bearer of-the-child\r\nx-seen: 1\r\nx-dropped: 2\r\nx-other: 3\r\n\
        x-envoy-auth-headers-to-remove: host\r\nx-envoy-upstream-alt-stat-name: a\r\n";
    let answer = Client::of(&gateway).get(HOST, "/a/../b?c=d", headers).await;
    assert_eq!(answer.status, 200);

    let seen = seen.lock().clone();
    let headers = vec![("x-seen".to_owned(), "1".to_owned())];
    assert_eq!(
        seen,
        [Request::new("GET", "https", HOST, 443, "/b?c=d", headers).unwrap()]
    );
    assert!(
        answer.body.starts_with("get /b?c=d http/1.1\r\n"),
        "{}",
        answer.body
    );
    assert!(
        answer.body.contains("authorization: bearer real\r\n"),
        "{}",
        answer.body
    );
    assert!(
        answer.body.contains("host: api.example.com\r\n") && answer.body.contains("x-other: 3\r\n")
    );
    for hidden in ["of-the-child", "x-dropped", "forwarded"] {
        assert!(!answer.body.contains(hidden), "{hidden}: {}", answer.body);
    }
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn whatever_is_not_allowed_never_reaches_the_server() {
    let Some(envoy) = envoy() else { return };
    let (server, trusted) = upstream();
    let authorizer = |request: Request| async move {
        match request.path() {
            "/denied" => Decision::deny(451)?.with_reason("not in this country"),
            "/failed" => Err(Error::tool("secret")),
            "/panicked" => panic!("provoked by a test"),
            "/hung" => std::future::pending().await,
            "/beyond" => Decision::allow().set_header("cookie", "a"),
            _ => Ok(Decision::allow()),
        }
    };
    let gateway = inspecting(&envoy, &server, &trusted, authorizer)
        .patience(Duration::from_millis(100))
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let client = Client::of(&gateway);
    let denied = client.get(HOST, "/denied", "").await;
    assert_eq!(
        (denied.status, denied.body.as_str()),
        (451, "not in this country\n")
    );
    for path in ["/failed", "/panicked", "/hung", "/beyond", "/a/..%2fdenied"] {
        let denied = client.get(HOST, path, "").await;
        assert_eq!(denied.status, 403, "{path}");
        assert!(!denied.body.contains("secret"));
    }
    // Upgrades would leave inspection behind.
    let upgrade = client
        .get(HOST, "/", "connection: upgrade\r\nupgrade: websocket\r\n")
        .await;
    assert_eq!(upgrade.status, 403);
    assert_eq!(server.requests(), [""; 0]);
    assert_eq!(client.get(HOST, "/fine", "").await.status, 200);
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn only_those_who_know_nothing_else_get_http_2() {
    let Some(envoy) = envoy() else { return };
    let (server, trusted) = upstream();
    let allow = |_: Request| async { Ok(Decision::allow()) };
    let gateway = inspecting(&envoy, &server, &trusted, allow)
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let client = Client::of(&gateway);
    for (known, chosen) in [
        (["h2", "http/1.1"].as_slice(), Some("http/1.1")),
        (["http/1.1"].as_slice(), Some("http/1.1")),
        (["h2"].as_slice(), Some("h2")),
        ([].as_slice(), None),
    ] {
        let protocol = client.protocol(HOST, known).await;
        assert_eq!(protocol.as_deref(), chosen, "{known:?}");
    }
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn a_request_cannot_name_another_host_than_its_connection() {
    let Some(envoy) = envoy() else { return };
    let (server, trusted) = upstream();
    let asked: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&asked);
    let authorizer = move |_: Request| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok(Decision::allow()) }
    };
    let gateway = inspecting(&envoy, &server, &trusted, authorizer)
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let client = Client::of(&gateway);
    let other = "GET / HTTP/1.1\r\nhost: www.example.com\r\n\r\n";
    assert_eq!(
        client
            .tls("api.example.com:443", HOST, other)
            .await
            .unwrap()
            .status,
        404
    );
    // The name in TLS decides, and only allowed ones are served.
    let own = "GET / HTTP/1.1\r\nhost: evil.example.com\r\n\r\n";
    assert_eq!(
        client
            .tls("api.example.com:443", "evil.example.com", own)
            .await,
        None
    );
    let connect = "CONNECT evil.example.com:443 HTTP/1.1\r\nhost: evil.example.com:443\r\n\r\n";
    assert_eq!(
        client
            .tls("api.example.com:443", HOST, connect)
            .await
            .unwrap()
            .status,
        404
    );
    assert_eq!(client.tunnel_status("evil.example.com:443").await, 403);
    let plain = client
        .send("GET http://api.example.com/ HTTP/1.1\r\nhost: api.example.com\r\n\r\n")
        .await;
    assert_eq!(plain.status, 403);
    assert_eq!(
        (server.requests(), asked.load(Ordering::SeqCst)),
        (Vec::new(), 0)
    );
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn a_server_must_prove_who_it_is() {
    let Some(envoy) = envoy() else { return };
    let allow = |_: Request| async { Ok(Decision::allow()) };
    let trusted = Authority::new(&["example.com"]).unwrap();
    let stranger = Authority::new(&["example.com"]).unwrap();
    for (leaf, status) in [
        (trusted.issue("*.example.com").unwrap(), 200),
        (trusted.issue("other.example.com").unwrap(), 503),
        (stranger.issue(HOST).unwrap(), 503),
    ] {
        let server = Server::tls(&leaf);
        let gateway = inspecting(&envoy, &server, &trusted, allow)
            .build()
            .unwrap();
        gateway.open(None).await.unwrap();
        assert_eq!(Client::of(&gateway).get(HOST, "/", "").await.status, status);
        assert_eq!(server.requests().len(), usize::from(status == 200));
        gateway.close().await.unwrap();
    }
}
