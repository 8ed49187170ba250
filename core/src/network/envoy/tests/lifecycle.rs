//! What a gateway leaves behind, whatever happens: nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

use super::world::{Client, Server, envoy};
use crate::error::ErrorKind;
use crate::network::directory::PrivateDirectory;
use crate::network::{Decision, EnvoyGateway, EnvoyRuntime, Gateway, GatewayMount, Request};
use crate::sandbox::NetworkPolicy;

fn gateway(envoy: &str) -> crate::network::EnvoyGatewayBuilder {
    let policy = NetworkPolicy::allowlist(["service.example:443"]).unwrap();
    EnvoyGateway::builder(policy).envoy(envoy)
}

fn inspecting(envoy: &str) -> EnvoyGateway {
    let policy = json!({"mode": "allowlist", "allow": ["service.example:443"], "inspection": "http",
        "authorizer": {"host": 1}});
    EnvoyGateway::builder(NetworkPolicy::from_value(&policy).unwrap())
        .envoy(envoy)
        .authorizer(|_: Request| async { Ok(Decision::allow()) })
        .build()
        .unwrap()
}

fn scratch() -> PrivateDirectory {
    PrivateDirectory::new(&std::env::temp_dir()).unwrap()
}

fn script(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn processes_with(argument: &Path) -> usize {
    let argument = argument.as_os_str().as_encoded_bytes();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| memchr::memmem::find(line, argument).is_some())
        .count()
}

/// The files below a directory, with their modes.
fn files(directory: &Path) -> Vec<(String, u32)> {
    let mut found: Vec<(String, u32)> = fs::read_dir(directory)
        .unwrap()
        .flatten()
        .map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), mode)
        })
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn children_see_the_socket_and_the_authority_and_nothing_stays() {
    let Some(envoy) = envoy() else { return };
    let gateway = inspecting(&envoy);
    assert_eq!(
        (gateway.mounts(), gateway.proxy_socket(), gateway.hidden()),
        (Vec::new(), None, Vec::new())
    );
    gateway.open(None).await.unwrap();
    gateway.open(None).await.unwrap();

    let socket = gateway.proxy_socket().unwrap();
    let client = socket.parent().unwrap().to_owned();
    let target = PathBuf::from("/run/little-ghost/network");
    assert_eq!(
        gateway.mounts(),
        [GatewayMount {
            source: client.clone(),
            target: target.clone()
        }]
    );
    assert_eq!(gateway.proxy_mount_path(), Some(target.join("proxy.sock")));
    let owned = |name: &str| (name.to_owned(), 0o600);
    assert_eq!(
        files(&client),
        [owned("authority.pem"), owned("proxy.sock")]
    );
    let directory = client.parent().unwrap().to_owned();
    assert_eq!(gateway.hidden(), std::slice::from_ref(&directory));
    // Envoy has read its configuration, so no key lies there any more.
    let private = files(&directory.join("private"));
    assert_eq!(
        private,
        [
            owned("authorizer.sock"),
            owned("inspection.sock"),
            owned("roots.pem")
        ]
    );
    let mode = fs::metadata(&directory).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    let entered = |name: &str| (name.to_owned(), 0o700);
    assert_eq!(
        files(&directory),
        [entered("client"), owned("lock"), entered("private")]
    );

    let variables = gateway.environment();
    let value = |name: &str| {
        variables
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(value("https_proxy"), Some("http://127.0.0.1:3128"));
    assert_eq!(
        value("SSL_CERT_FILE"),
        Some("/run/little-ghost/network/authority.pem")
    );

    gateway.close().await.unwrap();
    gateway.close().await.unwrap();
    assert!(!directory.exists());
    assert_eq!(processes_with(&directory), 0);
    assert_eq!(
        gateway.validate().await.unwrap_err().kind(),
        ErrorKind::Dependency
    );
    // It can be opened again.
    gateway.open(None).await.unwrap();
    gateway.validate().await.unwrap();
    let directory = gateway.hidden().remove(0);
    drop(gateway);
    assert!(!directory.exists());
}

#[tokio::test]
async fn nobody_but_envoy_is_answered() {
    let Some(envoy) = envoy() else { return };
    let gateway = inspecting(&envoy);
    gateway.open(None).await.unwrap();
    let socket = gateway.hidden().remove(0).join("private/authorizer.sock");
    let said = tokio::task::spawn_blocking(move || {
        use std::io::{Read, Write};
        let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
        let _ = stream.write_all(b"GET /0/ HTTP/1.1\r\nhost: a\r\n\r\n");
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        said
    });
    assert_eq!(said.await.unwrap(), b"");
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn a_dead_envoy_starts_no_child() {
    let Some(envoy) = envoy() else { return };
    let gateway = gateway(&envoy).build().unwrap();
    gateway.open(None).await.unwrap();
    let instance = gateway.instance().unwrap();
    let group = instance.process_group().unwrap();
    kill_process(group, Signal::KILL).unwrap();
    instance.ended().await;
    let error = gateway.validate().await.unwrap_err();
    assert!(error.message().contains("has ended"), "{error}");
    let directory = instance.directory().to_owned();
    drop(instance);
    gateway.close().await.unwrap();
    assert!(!directory.exists());
}

#[tokio::test]
async fn a_hung_envoy_starts_no_child() {
    let Some(envoy) = envoy() else { return };
    let gateway = gateway(&envoy).build().unwrap();
    gateway.open(None).await.unwrap();
    let instance = gateway.instance().unwrap();
    let envoy = instance.process_group().unwrap();
    kill_process(envoy, Signal::STOP).unwrap();
    let stat = format!("/proc/{}/stat", envoy.as_raw_nonzero());
    while !fs::read_to_string(&stat).unwrap().contains(") T ") {
        tokio::task::yield_now().await;
    }
    let error = instance
        .validate(Duration::from_millis(50))
        .await
        .unwrap_err();
    assert!(error.message().contains("does not answer"), "{error}");
    drop(instance);
    // Stopped processes do not hear requests to end.
    gateway.close().await.unwrap();
}

#[tokio::test]
async fn a_failed_start_says_why_and_leaves_nothing() {
    let scratch = scratch();
    let report = scratch.path().join("config");
    let broken = script(
        scratch.path(),
        "envoy",
        &format!(
            "echo \"$2\" >{}; echo 'no such option' >&2; exit 1",
            report.display()
        ),
    );
    let error = gateway(&broken)
        .build()
        .unwrap()
        .open(None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Dependency);
    assert!(error.message().contains("no such option"), "{error}");
    let config = fs::read_to_string(report).unwrap();
    assert!(
        !Path::new(config.trim())
            .parent()
            .unwrap()
            .parent()
            .unwrap()
            .exists()
    );
}

#[tokio::test]
async fn a_start_that_is_given_up_leaves_nothing() {
    let scratch = scratch();
    let report = scratch.path().join("report");
    // Only a complete report has its name.
    let silent = script(
        scratch.path(),
        "envoy",
        &format!(
            "echo \"$2 $$\" >{0}.part; mv {0}.part {0}; exec sleep 600",
            report.display()
        ),
    );
    let gateway = gateway(&silent).build().unwrap();
    let reported = async {
        loop {
            if let Ok(text) = fs::read_to_string(&report) {
                return text;
            }
            tokio::task::yield_now().await;
        }
    };
    let text = tokio::select! {
        _ = gateway.open(None) => panic!("it cannot open"),
        text = reported => text,
    };
    let (config, pid) = text.trim().split_once(' ').unwrap();
    assert!(!Path::new(config).exists());
    gone(Pid::from_raw(pid.parse().unwrap()).unwrap()).await;
}

async fn gone(pid: Pid) {
    let waiting = async {
        while test_kill_process(pid).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .unwrap();
}

#[tokio::test]
async fn docker_is_asked_to_run_and_to_remove() {
    let Some(envoy) = envoy() else { return };
    let (scratch, server) = (scratch(), Server::plain());
    let log = scratch.path().join("log");
    // What Docker would do with these arguments, without the container.
    let docker = script(
        scratch.path(),
        "docker",
        &format!(
            "echo \"$*\" >>{}\n[ \"$1\" = run ] || exit 0\nwhile [ \"$1\" != --config-path ]; do shift; done\nexec {envoy} \"$@\"",
            log.display()
        ),
    );
    let allowed = format!("service.example:{}", server.port());
    let image = format!("envoyproxy/envoy@sha256:{}", "a".repeat(64));
    let gateway = EnvoyGateway::builder(NetworkPolicy::allowlist([&allowed]).unwrap())
        .runtime(EnvoyRuntime::Docker)
        .docker(docker)
        .image(image)
        .address(&allowed, server.address)
        .build()
        .unwrap();
    gateway.open(None).await.unwrap();
    let reached = Client::of(&gateway)
        .through(&allowed, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await;
    assert_eq!(reached.status, 200);
    let directory = gateway.hidden().remove(0);
    gateway.close().await.unwrap();
    assert!(!directory.exists());
    let name = directory.file_name().unwrap().to_str().unwrap();
    let log = fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert!(
        lines[0].starts_with(&format!("run --rm --name {name} ")),
        "{log}"
    );
    assert_eq!(lines[1..], [format!("rm --force {name}")]);
}

/// The part of the next test that is killed. By itself it does nothing.
#[tokio::test]
async fn killed_with_an_open_gateway() {
    let Some(report) = std::env::var_os("LITTLE_GHOST_TEST_REPORT") else {
        return;
    };
    let gateway = gateway(&envoy().unwrap()).build().unwrap();
    gateway.open(None).await.unwrap();
    let group = gateway.instance().unwrap().process_group().unwrap();
    fs::write(report, group.as_raw_nonzero().to_string()).unwrap();
    kill_process(rustix::process::getpid(), Signal::KILL).unwrap();
}

#[tokio::test]
async fn envoy_does_not_outlive_a_killed_application() {
    if envoy().is_none() {
        return;
    }
    let scratch = scratch();
    let report = scratch.path().join("report");
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "network::envoy::tests::lifecycle::killed_with_an_open_gateway",
        ])
        .env("LITTLE_GHOST_TEST_REPORT", &report)
        .env("TMPDIR", scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    let pid: i32 = fs::read_to_string(&report).unwrap().parse().unwrap();
    gone(Pid::from_raw(pid).unwrap()).await;
    // Its directory stays until the next gateway comes.
    let left = || {
        let all = fs::read_dir(scratch.path()).unwrap().flatten();
        all.filter(|entry| entry.file_type().unwrap().is_dir())
            .count()
    };
    assert_eq!(left(), 1);
    drop(PrivateDirectory::new(scratch.path()).unwrap());
    assert_eq!(left(), 0);
}
