//! Destinations that are allowed and others.

use super::world::{Client, Server, envoy, names, reachable};
use crate::network::{EnvoyGateway, Gateway};
use crate::sandbox::NetworkPolicy;

fn gateway(envoy: &str, allow: &[String]) -> crate::network::EnvoyGatewayBuilder {
    EnvoyGateway::builder(NetworkPolicy::allowlist(allow).unwrap()).envoy(envoy)
}

#[tokio::test]
async fn only_the_allowed_destination_is_reached() {
    let Some(envoy) = envoy() else { return };
    let (server, other) = (Server::plain(), Server::plain());
    let allowed = format!("service.example:{}", server.port());
    let gateway = gateway(&envoy, std::slice::from_ref(&allowed))
        .address(&allowed, server.address)
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    gateway.validate().await.unwrap();
    let client = Client::of(&gateway);

    let reached = client
        .through(&allowed, "GET /a HTTP/1.1\r\nhost: x\r\n\r\n")
        .await;
    assert_eq!(
        (reached.status, reached.body.as_str()),
        (200, "get /a http/1.1\r\nhost: x\r\n")
    );

    assert!(reachable(other.address));
    for denied in [
        format!("other.example:{}", server.port()),
        format!("service.example:{}", other.port()),
        format!("sub.service.example:{}", server.port()),
        format!("service.example.:{}", server.port()),
        format!("127.0.0.1:{}", server.port()),
        format!("localhost:{}", other.port()),
        format!("[::1]:{}", server.port()),
    ] {
        assert_eq!(client.tunnel_status(&denied).await, 403, "{denied}");
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(other.requests(), [""; 0]);
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn plain_requests_obey_the_same_list() {
    let Some(envoy) = envoy() else { return };
    let (server, other) = (Server::plain(), Server::plain());
    let allowed = format!("service.example:{}", server.port());
    let gateway = gateway(&envoy, std::slice::from_ref(&allowed))
        .address(&allowed, server.address)
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let client = Client::of(&gateway);

    // The name in the request line counts, not the header that contradicts it.
    let get = |host: &str, header: &str| {
        format!("GET http://{host}/a HTTP/1.1\r\nhost: {header}\r\n\r\n")
    };
    let reached = client.send(get(&allowed, "elsewhere.example")).await;
    assert_eq!(reached.status, 200);
    assert!(
        reached.body.starts_with("get /a http/1.1\r\n"),
        "{reached:?}"
    );
    for name in ["forwarded", "envoy", "request-id", "elsewhere"] {
        assert!(!reached.body.contains(name), "{reached:?}");
    }
    let denied = client
        .send(get(&format!("127.0.0.1:{}", other.port()), &allowed))
        .await;
    assert_eq!(
        (denied.status, denied.body.as_str()),
        (403, "denied by the network policy\n")
    );
    let denied = client.send(get("service.example", &allowed)).await;
    assert_eq!(denied.status, 403);
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn names_are_resolved_by_the_servers_that_were_given() {
    let Some(envoy) = envoy() else { return };
    let server = Server::plain();
    let allowed = format!("known.example:{}", server.port());
    let unknown = format!("unknown.example:{}", server.port());
    let gateway = gateway(&envoy, &[allowed.clone(), unknown.clone()])
        .dns([names("known.example").to_string()])
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let client = Client::of(&gateway);
    let reached = client
        .through(&allowed, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await;
    assert_eq!(reached.status, 200);
    // Allowed, but nowhere.
    assert_eq!(client.tunnel_status(&unknown).await, 503);
    gateway.close().await.unwrap();
}
