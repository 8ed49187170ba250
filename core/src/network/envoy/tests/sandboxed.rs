//! Programs in a real sandbox, whose only way out is a real Envoy.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::world::{Server, envoy, reachable};
use crate::error::ErrorKind;
use crate::network::authority::Authority;
use crate::network::directory::PrivateDirectory;
use crate::network::{Decision, EnvoyGateway, EnvoyGatewayBuilder, Gateway, Request};
use crate::sandbox::{
    Bubblewrap, Execution, NetworkPolicy, Policy, Program, RootFilesystem, Sandbox,
};
use crate::workspace::Workspace;

const LONG: Duration = Duration::from_secs(30);

/// A sandbox with its gateway, and where its workspace is.
struct Place {
    sandbox: Bubblewrap,
    gateway: Arc<EnvoyGateway>,
    _root: PrivateDirectory,
}

/// Whether sandboxes can be made and looked into here; said aloud if not.
async fn can_run() -> bool {
    let probe = Bubblewrap::probe(None, None).await;
    let reason = match probe.reason {
        Some(reason) => Some(reason),
        None if !std::path::Path::new("/usr/bin/curl").exists() => {
            Some("there is no curl".to_owned())
        }
        None => None,
    };
    if let Some(reason) = &reason {
        eprintln!("skipped: {reason}");
    }
    reason.is_none()
}

impl Place {
    async fn open(gateway: EnvoyGatewayBuilder, root_filesystem: RootFilesystem) -> Self {
        let root = PrivateDirectory::new(&std::env::temp_dir()).unwrap();
        let workspace = Workspace::builder(root.path().join("root"))
            .build()
            .unwrap();
        workspace.open(None).await.unwrap();
        let gateway = Arc::new(gateway.build().unwrap());
        let policy = Policy {
            root_filesystem,
            network: Some(gateway.policy().clone()),
            ..Policy::writable()
        };
        let shared: Arc<dyn Gateway> = Arc::clone(&gateway) as Arc<dyn Gateway>;
        let sandbox = Bubblewrap::new(workspace, policy).unwrap().through(shared);
        sandbox.open(None).await.unwrap();
        Self {
            sandbox,
            gateway,
            _root: root,
        }
    }

    async fn shell(&self, line: &str) -> Execution {
        self.sandbox
            .execute(Program::shell(line), LONG, None)
            .await
            .unwrap()
    }
}

fn allowing(envoy: &str, destination: &str, server: &Server) -> EnvoyGatewayBuilder {
    EnvoyGateway::builder(NetworkPolicy::allowlist([destination]).unwrap())
        .envoy(envoy)
        .address(destination, server.address)
}

#[tokio::test]
async fn programs_reach_what_is_allowed_and_nothing_else() {
    let Some(envoy) = envoy() else { return };
    if !can_run().await {
        return;
    }
    let (server, other) = (Server::plain(), Server::plain());
    let allowed = format!("service.example:{}", server.port());
    for root in [RootFilesystem::Isolated, RootFilesystem::ReadOnly] {
        let place = Place::open(allowing(&envoy, &allowed, &server), root).await;
        // Both through a tunnel and as a plain request.
        for option in ["--proxytunnel", "--silent"] {
            let reached = place
                .shell(&format!("curl -sS {option} http://{allowed}/a"))
                .await;
            assert!(
                reached.stdout.starts_with("get /a http/1.1\r\n"),
                "{reached:?}"
            );
        }
        assert_eq!(server.requests().len(), 2);

        let status = |url: String| {
            format!("curl -s -o /dev/null -w '%{{http_connect}}' --proxytunnel {url}")
        };
        for denied in [
            format!("http://other.example:{}/", server.port()),
            format!("http://service.example:{}/", other.port()),
            format!("http://10.1.2.3:{}/", server.port()),
        ] {
            assert_eq!(place.shell(&status(denied)).await.stdout, "403");
        }

        // Without the proxy there is nowhere to go: neither the host, nor the world, nor names.
        assert!(reachable(server.address));
        let port = server.port();
        for direct in [
            format!("curl -s --noproxy '*' http://127.0.0.1:{port}/"),
            "curl -s --noproxy '*' -m 5 http://192.0.2.1/".to_owned(),
            "curl -g -s --noproxy '*' -m 5 'http://[2001:db8::1]/'".to_owned(),
            format!("bash -c 'exec 3<>/dev/tcp/192.0.2.1/{port}'"),
            "bash -c 'echo x >/dev/udp/192.0.2.1/53'".to_owned(),
            "timeout 5 getent ahosts service.example".to_owned(),
        ] {
            let tried = place.shell(&direct).await;
            assert_ne!(tried.exit_code, Some(0), "{direct}: {tried:?}");
            assert_eq!(tried.stdout, "", "{direct}");
        }
        assert_eq!(
            (server.requests(), other.requests()),
            (Vec::new(), Vec::new())
        );

        place.sandbox.close().await.unwrap();
        let error = place
            .sandbox
            .start(Program::new(["true"]))
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Dependency);
    }
}

#[tokio::test]
async fn inspected_programs_use_secrets_that_they_never_see() {
    let Some(envoy) = envoy() else { return };
    if !can_run().await {
        return;
    }
    let trusted = Authority::new(&["example.com"]).unwrap();
    let server = Server::tls(&trusted.issue("api.example.com").unwrap());
    let policy = json!({"mode": "allowlist", "allow": ["api.example.com:443"], "inspection": "http",
        "authorizer": {"host": 1}, "mutation_headers": ["authorization"]});
    let gateway = EnvoyGateway::builder(NetworkPolicy::from_value(&policy).unwrap())
        .envoy(envoy)
        .address("api.example.com:443", server.address)
        .upstream_authorities(trusted.certificate())
        .authorizer(|request: Request| async move {
            match request.method() {
                "GET" => Decision::allow().set_header("authorization", "Bearer very-secret"),
                _ => Decision::deny(405)?.with_reason("read only"),
            }
        });
    let place = Place::open(gateway, RootFilesystem::ReadOnly).await;
    let reached = place.shell("curl -sS https://api.example.com/a").await;
    assert!(
        reached.stdout.starts_with("get /a http/1.1\r\n"),
        "{reached:?}"
    );
    assert!(reached.stdout.contains("authorization: bearer very-secret"));
    // The answer comes before the request was read, however much there is of it.
    for line in [
        "curl -sS -d x https://api.example.com/a",
        "head -c 4000000 /dev/zero | curl -sS --data-binary @- https://api.example.com/a",
        "head -c 4000000 /dev/zero | curl -sS --data-binary @- -H Expect: https://api.example.com/a",
    ] {
        let denied = place.shell(line).await;
        assert_eq!(denied.stdout, "read only\n", "{line}: {denied:?}");
    }
    assert_eq!(server.requests().len(), 1);

    // Of the gateway a program sees the socket and the certificate of the authority.
    let hidden = place.gateway.hidden().remove(0);
    assert!(hidden.join("private/authorizer.sock").exists());
    let seen = place
        .shell(&format!(
            "ls /run/little-ghost/network; ls -A {}",
            hidden.display()
        ))
        .await;
    assert_eq!(seen.stdout, "authority.pem\nproxy.sock\n", "{seen:?}");
    let written = place
        .shell("rm -f /run/little-ghost/network/proxy.sock; echo x >/run/little-ghost/network/a")
        .await;
    assert_ne!(written.exit_code, Some(0));
    assert!(place.gateway.proxy_socket().unwrap().exists());
    assert_eq!(
        place
            .shell("env; cat /proc/*/cmdline | tr '\\0' ' '")
            .await
            .stdout
            .find("very-secret"),
        None
    );
    place.sandbox.close().await.unwrap();
}

#[tokio::test]
async fn no_program_starts_behind_a_dead_envoy() {
    let Some(envoy) = envoy() else { return };
    if !can_run().await {
        return;
    }
    let server = Server::plain();
    let place = Place::open(
        allowing(&envoy, "service.example:80", &server),
        RootFilesystem::Isolated,
    )
    .await;
    assert_eq!(
        place
            .shell("curl -sS http://service.example/ -o /dev/null -w '%{http_code}'")
            .await
            .stdout,
        "200"
    );
    let instance = place.gateway.instance().unwrap();
    kill_process(instance.process_group().unwrap(), Signal::KILL).unwrap();
    instance.ended().await;
    let error = place
        .sandbox
        .start(Program::new(["true"]))
        .await
        .err()
        .unwrap();
    assert!(error.message().contains("has ended"), "{error}");
    drop(instance);
    place.sandbox.close().await.unwrap();
}

#[tokio::test]
async fn a_declaration_is_enough() {
    let Some(envoy) = envoy() else { return };
    if !can_run().await {
        return;
    }
    let server = Server::plain();
    let root = PrivateDirectory::new(&std::env::temp_dir()).unwrap();
    let workspace = Workspace::builder(root.path().join("root"))
        .build()
        .unwrap();
    workspace.open(None).await.unwrap();
    let allowed = format!("localhost:{}", server.port());
    let options = json!({"files": {"root": "read_write"}, "network": {"mode": "allowlist", "allow": [allowed]},
        "gateway_options": {"envoy": envoy, "runtime": "native"}});
    let sandbox =
        crate::sandbox::build("bubblewrap", workspace, options.as_object().unwrap()).unwrap();
    sandbox.open(None).await.unwrap();
    // It is named like the namespace's own loopback, which the usual variables keep from the proxy.
    let line = format!("curl -sS --noproxy '' --proxytunnel http://{allowed}/a");
    let reached = sandbox
        .execute(Program::shell(line), LONG, None)
        .await
        .unwrap();
    assert!(
        reached.stdout.starts_with("get /a http/1.1\r\n"),
        "{reached:?}"
    );
    sandbox.close().await.unwrap();
}
