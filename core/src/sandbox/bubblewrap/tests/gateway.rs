//! Programs whose only way out is a gateway.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::network::{GatewayMount, proxy_environment};

/// A gateway whose socket is answered by the test.
struct Echo {
    folder: PathBuf,
    open: AtomicU32,
    validated: AtomicU32,
    ready: bool,
}

impl Echo {
    fn new(folder: PathBuf, ready: bool) -> Arc<Self> {
        fs::create_dir_all(&folder).unwrap();
        Arc::new(Self {
            folder,
            open: AtomicU32::new(0),
            validated: AtomicU32::new(0),
            ready,
        })
    }
}

#[async_trait]
impl Gateway for Echo {
    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    async fn close(&self) -> Result<()> {
        self.open.store(0, Ordering::Relaxed);
        Ok(())
    }
    async fn validate(&self) -> Result<()> {
        self.validated.fetch_add(1, Ordering::Relaxed);
        match self.ready {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Dependency,
                "the gateway is not ready",
            )),
        }
    }
    fn mounts(&self) -> Vec<GatewayMount> {
        vec![GatewayMount {
            source: self.folder.clone(),
            target: "/opt/gateway".into(),
        }]
    }
    fn environment(&self) -> Vec<(String, String)> {
        proxy_environment()
    }
    fn proxy_mount_path(&self) -> Option<PathBuf> {
        Some("/opt/gateway/socket".into())
    }
}

fn allowlist() -> Policy {
    Policy {
        network: Some(NetworkPolicy::allowlist(["example.com:443"]).unwrap()),
        ..Policy::writable()
    }
}

#[tokio::test]
async fn an_allowlist_reaches_its_gateway_and_nothing_else() {
    if !can_run().await || !std::path::Path::new("/usr/bin/python3").exists() {
        return;
    }
    let folder = Folder::new();
    let gateway = Echo::new(folder.path().join("gateway"), true);
    let sandbox = Bubblewrap::new(folder.opened().await, allowlist())
        .unwrap()
        .through(gateway.clone());
    sandbox.open(None).await.unwrap();
    let socket = folder.path().join("gateway/socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        stream.write_all(text.to_uppercase().as_bytes()).unwrap();
    });
    let outer = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outer.local_addr().unwrap().port();
    let script = format!(
        "import os, socket\n\
         proxy = os.environ['https_proxy'].rsplit(':', 1)\n\
         s = socket.create_connection(('127.0.0.1', int(proxy[1])))\n\
         s.sendall(b'hello ' * 20000); s.shutdown(socket.SHUT_WR)\n\
         got = b''\n\
         while part := s.recv(65536): got += part\n\
         print(got == b'HELLO ' * 20000)\n\
         for address in [('127.0.0.1', {port}), ('192.0.2.1', 80)]:\n\
         \x20   try: socket.create_connection(address, timeout=2); print('reached')\n\
         \x20   except OSError: print('refused')\n"
    );
    let execution = sandbox
        .execute(Program::new(["python3", "-c", &script]), LONG, None)
        .await
        .unwrap();
    assert_eq!(
        (execution.stdout.as_str(), execution.stderr.as_str()),
        ("True\nrefused\nrefused\n", "")
    );
    answering.join().unwrap();
    assert_eq!(gateway.validated.load(Ordering::Relaxed), 1);
    assert_eq!(gateway.open.load(Ordering::Relaxed), 1);
    sandbox.close().await.unwrap();
    assert_eq!(gateway.open.load(Ordering::Relaxed), 0);
}

/// A proxy may refuse a request before it has read all of it.
#[tokio::test]
async fn an_answer_that_comes_early_arrives() {
    if !can_run().await || !std::path::Path::new("/usr/bin/python3").exists() {
        return;
    }
    let folder = Folder::new();
    let gateway = Echo::new(folder.path().join("gateway"), true);
    let sandbox = Bubblewrap::new(folder.opened().await, allowlist())
        .unwrap()
        .through(gateway);
    let socket = folder.path().join("gateway/socket");
    let listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for _ in 0..100 {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 10]).unwrap();
            stream.write_all(b"refused").unwrap();
        }
    });
    let script = "import socket\n\
         lost = 0\n\
         for _ in range(100):\n\
         \x20   s = socket.create_connection(('127.0.0.1', 3128))\n\
         \x20   try:\n\
         \x20       for _ in range(5): s.sendall(b'x' * 50000)\n\
         \x20   except OSError: pass\n\
         \x20   got = b''\n\
         \x20   try:\n\
         \x20       while part := s.recv(65536): got += part\n\
         \x20   except OSError: pass\n\
         \x20   lost += got != b'refused'\n\
         print(lost)\n";
    let program = Program::new(["/usr/bin/python3", "-c", script]);
    let execution = sandbox.execute(program, LONG, None).await.unwrap();
    assert_eq!(
        (execution.stdout.as_str(), execution.stderr.as_str()),
        ("0\n", "")
    );
}

#[tokio::test]
async fn without_a_ready_gateway_an_allowlist_starts_nothing() {
    let folder = Folder::new();
    let workspace = folder.opened().await;
    let sandbox = Bubblewrap::new(workspace.clone(), allowlist()).unwrap();
    let problem = sandbox.start(Program::new(["true"])).await.err().unwrap();
    assert_eq!(problem.kind(), ErrorKind::Dependency);
    let gateway = Echo::new(folder.path().join("gateway"), false);
    let sandbox = Bubblewrap::new(workspace, allowlist())
        .unwrap()
        .through(gateway);
    let problem = sandbox.start(Program::new(["true"])).await.err().unwrap();
    assert_eq!(problem.message(), "the gateway is not ready");
}
