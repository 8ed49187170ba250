use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::network::{GatewayMount, proxy_environment};
use crate::sandbox::tests::folder::Folder;
use crate::sandbox::{Access, EnvironmentPolicy, Execution, RootFilesystem};

const LONG: Duration = Duration::from_secs(20);

/// Whether sandboxes can be made here. `LITTLE_GHOST_REQUIRE_SANDBOX=1` makes it an error if not.
async fn can_run() -> bool {
    let probe = Bubblewrap::probe(None, None).await;
    let required = std::env::var("LITTLE_GHOST_REQUIRE_SANDBOX").is_ok_and(|value| value == "1");
    if let Some(reason) = &probe.reason {
        assert!(!required, "a sandbox is required: {reason}");
        eprintln!("skipped: {reason}");
    }
    probe.available
}

async fn sandbox(folder: &Folder, policy: Policy) -> Bubblewrap {
    let sandbox = Bubblewrap::new(folder.opened().await, policy).unwrap();
    sandbox.open(None).await.unwrap();
    sandbox
}

async fn shell(sandbox: &Bubblewrap, line: &str) -> Execution {
    sandbox
        .execute(Program::shell(line), LONG, None)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_program_runs_where_the_workspace_is() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = sandbox(&folder, Policy::writable()).await;
    let execution = shell(&sandbox, "pwd; echo hello > file; cat file; exit 3").await;
    let root = folder.path().join("root");
    assert_eq!(execution.stdout, format!("{}\nhello\n", root.display()));
    assert_eq!(
        (execution.stderr.as_str(), execution.exit_code),
        ("", Some(3))
    );
    assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "hello\n");
}

#[tokio::test]
async fn all_walls_of_this_machine_are_named() {
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let walls = sandbox.effective_policy().walls;
    assert!(walls.is_superset(&BTreeSet::from([Wall::Namespaces, Wall::Seccomp])));
    assert_eq!(
        walls.contains(&Wall::Landlock),
        landlock::version().is_some()
    );
    let told = sandbox.effective_policy().to_value();
    assert_eq!(told["walls"][0], "namespaces");
    assert_eq!(told["network"]["mode"], "none");
}

#[tokio::test]
async fn the_environment_is_what_was_given() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let policy = Policy {
        environment: EnvironmentPolicy {
            inherit: false,
            values: vec![("A".to_owned(), "from the policy".to_owned())],
        },
        ..Policy::default()
    };
    let sandbox = sandbox(&folder, policy).await;
    let program = Program::new(["/usr/bin/env"]).variable("B", "from the call");
    let output = sandbox.execute(program, LONG, None).await.unwrap().stdout;
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    let root = folder.path().join("root").display().to_string();
    let expected = [
        "A=from the policy".to_owned(),
        "B=from the call".to_owned(),
        format!("LITTLE_GHOST_WORKSPACE_ROOT={root}"),
        format!("PWD={root}"),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn secrets_of_the_environment_are_on_no_command_line() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = sandbox(&folder, Policy::default()).await;
    let program = Program::new(["cat"]).variable("TOKEN", "very-secret");
    let process = sandbox.start(program).await.unwrap();
    let line = fs::read_to_string(format!("/proc/{}/cmdline", process.pid())).unwrap();
    assert!(
        line.contains("bwrap") && !line.contains("very-secret"),
        "{line:?}"
    );
    process.close().await.unwrap();
}

#[tokio::test]
async fn a_missing_program_is_127() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = sandbox(&folder, Policy::default()).await;
    for name in ["no-such-program", "/usr/bin/no-such-program"] {
        let execution = sandbox
            .execute(Program::new([name]), LONG, None)
            .await
            .unwrap();
        assert_eq!(execution.exit_code, Some(127));
        assert_eq!(
            execution.stderr,
            format!("little-ghost: {name}: no such command\n")
        );
    }
    fs::write(folder.path().join("root/data"), "no program").unwrap();
    let execution = sandbox
        .execute(Program::new(["./data"]), LONG, None)
        .await
        .unwrap();
    assert_eq!(execution.exit_code, Some(126));
}

#[tokio::test]
async fn files_of_a_program_exist_for_it_alone() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    for root_filesystem in [RootFilesystem::Isolated, RootFilesystem::ReadOnly] {
        let policy = Policy {
            root_filesystem,
            ..Policy::default()
        };
        let sandbox = sandbox(&folder, policy).await;
        let mut program = Program::new(["/run/own/program", "x"]);
        program.data = vec![(
            "/run/own/program".to_owned(),
            b"#!/bin/sh\necho own $1\n".as_slice().into(),
        )];
        let execution = sandbox.execute(program, LONG, None).await.unwrap();
        assert_eq!(
            (execution.stdout.as_str(), execution.stderr.as_str()),
            ("own x\n", "")
        );
    }
    assert!(!std::path::Path::new("/run/own").exists());
}

#[tokio::test]
async fn nested_paths_keep_their_own_access() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let workspace = folder.workspace().path("skills", "skills").build().unwrap();
    workspace.open(None).await.unwrap();
    let policy = Policy {
        files: vec![
            ("root".to_owned(), Access::ReadWrite),
            ("skills".to_owned(), Access::ReadOnly),
        ],
        ..Policy::default()
    };
    let sandbox = Bubblewrap::new(workspace, policy).unwrap();
    let execution = shell(
        &sandbox,
        "echo a > ok; echo b > skills/no || echo refused; rm -r skills",
    )
    .await;
    assert_eq!(execution.stdout, "refused\n");
    assert!(folder.path().join("root/ok").exists() && folder.path().join("root/skills").exists());
}

#[tokio::test]
async fn masks_hide_what_they_cover() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let secret = folder.file("root/secret/key", "secret");
    let mask = secret.parent().unwrap().to_str().unwrap();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable())
        .unwrap()
        .masks([mask])
        .unwrap();
    let execution = shell(&sandbox, "ls -A secret; echo x > secret/y || echo refused").await;
    assert_eq!(execution.stdout, "refused\n");
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
}

#[tokio::test]
async fn the_visible_host_is_read_only() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let outside = folder.file("outside", "to be read");
    let policy = Policy {
        root_filesystem: RootFilesystem::ReadOnly,
        ..Policy::writable()
    };
    // The folder of this test lies in the usual place for temporary files, which would be empty.
    let sandbox = Bubblewrap::new(folder.opened().await, policy)
        .unwrap()
        .tmpfs(["/run"])
        .unwrap();
    let path = outside.display();
    let execution = shell(
        &sandbox,
        &format!("cat {path}; echo no > {path} || echo refused; echo y > here"),
    )
    .await;
    assert_eq!(execution.stdout, "to be readrefused\n");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "to be read");
}

#[tokio::test]
async fn a_place_to_start_in_must_exist_inside() {
    let folder = Folder::new();
    folder.file("root/inner/file", "");
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let start = |cwd: &str| sandbox.arguments(&Program::new(["true"]).cwd(cwd));
    for cwd in [
        "/etc",
        "/usr",
        "/tmp/../etc",
        "../x",
        "workspace://unknown/x",
    ] {
        assert_eq!(start(cwd).unwrap_err().kind(), ErrorKind::Policy, "{cwd}");
    }
    for cwd in ["inner", ".", "/tmp", "/run/x"] {
        start(cwd).unwrap();
    }
}

#[tokio::test]
async fn denying_subprocesses_is_refused() {
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let mut program = Program::new(["true"]);
    program.allow_subprocesses = Some(false);
    let problem = sandbox.start(program).await.err().unwrap();
    assert_eq!(problem.kind(), ErrorKind::Capability);
}

#[tokio::test]
async fn without_bwrap_nothing_opens() {
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable()).unwrap();
    let sandbox = sandbox.executable("/nowhere/bwrap");
    assert_eq!(
        sandbox.open(None).await.unwrap_err().kind(),
        ErrorKind::Dependency
    );
    let probe = Bubblewrap::probe(Some("/nowhere/bwrap".as_ref()), None).await;
    assert!(!probe.available && probe.reason.unwrap().contains("missing"));
    let elsewhere = Bubblewrap::probe(None, Some("arm64-darwin24")).await;
    assert!(elsewhere.reason.unwrap().contains("belongs to Linux"));
    let broken = Bubblewrap::probe(Some("/bin/false".as_ref()), None).await;
    assert!(broken.reason.unwrap().contains("cannot make a sandbox"));
}

#[tokio::test]
async fn a_set_up_that_fails_is_no_exit_code() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::default()).unwrap();
    let sandbox = sandbox.runtime_roots(["/usr", "/nowhere"]).unwrap();
    let problem = sandbox
        .execute(Program::new(["true"]), LONG, None)
        .await
        .unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::SandboxConfiguration);
    assert!(problem.message().contains("/nowhere"), "{problem}");
}

#[tokio::test]
async fn a_directory_that_is_replaced_before_the_mount_is_noticed() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = Arc::new(sandbox(&folder, Policy::writable()).await);
    let root = folder.path().join("root");
    let policy = sandbox.effective_policy();
    let launch = sandbox
        .launch(&policy, &Program::new(["true"]), true)
        .unwrap();
    fs::rename(&root, folder.path().join("moved")).unwrap();
    fs::create_dir(&root).unwrap();
    let process = ProcessSession::start(launch.options).await.unwrap();
    let problem = process.wait(Some(LONG), true).await.unwrap_err();
    assert!(problem.message().contains("replaced"), "{problem}");
    process.close().await.unwrap();
}

#[tokio::test]
async fn a_wrapper_comes_first() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::default()).unwrap();
    let prefix = ["/usr/bin/env", "WRAPPED=1"].map(str::to_owned).to_vec();
    let sandbox = sandbox.command_wrapper(CommandWrapper::Prefix(prefix));
    let execution = shell(&sandbox, "echo through").await;
    assert_eq!(execution.stdout, "through\n");
    let refusing = CommandWrapper::Function(Arc::new(|command, scope| {
        assert!(command[0].ends_with("bwrap") && scope.is_none());
        Err(Error::new(ErrorKind::Policy, "not today"))
    }));
    let sandbox = sandbox.command_wrapper(refusing);
    let problem = sandbox
        .execute(Program::new(["true"]), LONG, None)
        .await
        .unwrap_err();
    assert_eq!(problem.message(), "not today");
}

#[tokio::test]
async fn the_limits_of_a_program_hold_inside() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = sandbox(&folder, Policy::writable()).await;
    let mut program = Program::shell("ulimit -t; ulimit -f; ulimit -c; ulimit -p");
    (program.cpu_seconds, program.file_bytes, program.tasks) = (Some(7), Some(51_200), Some(50));
    let execution = sandbox.execute(program, LONG, None).await.unwrap();
    assert_eq!(execution.stdout, "7\n100\n0\n50\n");
}

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
