//! A sandbox, and what lies around it.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use little_ghost::sandbox::{Access, Bubblewrap, Policy, Program};
use little_ghost::{Sandbox, Workspace};
use serde_json::Value;

pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A sandbox whose root can be written, with a path that can only be read, and a host around it: a secret, and
/// listeners.
pub(crate) struct Place {
    pub(crate) sandbox: Bubblewrap,
    folder: PathBuf,
    tcp: TcpListener,
    abstract_name: String,
    _listeners: [UnixListener; 2],
}

static NEXT: AtomicU32 = AtomicU32::new(0);

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

impl Place {
    /// `None` where the kernel makes no sandboxes.
    pub(crate) async fn new() -> Option<Self> {
        let probe = Bubblewrap::probe(None, None).await;
        if let Some(reason) = probe.reason {
            let required = std::env::var("LITTLE_GHOST_REQUIRE_SANDBOX");
            assert!(required.is_err(), "a sandbox is required: {reason}");
            eprintln!("skipped: {reason}");
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("little-ghost-escapes-{}-{number}", std::process::id());
        // Not below /tmp: inside, that is empty whatever the policy says.
        let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let folder = base.join(&name);
        fs::create_dir_all(folder.join("read-only")).unwrap();
        let folder = folder.canonicalize().unwrap();
        fs::write(folder.join("read-only/file"), "only to be read").unwrap();
        fs::write(folder.join("secret"), "secret").unwrap();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let listeners = [
            UnixListener::bind_addr(&address).unwrap(),
            UnixListener::bind(std::env::temp_dir().join(&name)).unwrap(),
        ];
        Some(Self {
            sandbox: Self::sandbox(&folder).await,
            folder,
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            abstract_name: name,
            _listeners: listeners,
        })
    }

    /// A sandbox with the root of `folder`.
    pub(crate) async fn sandbox(folder: &Path) -> Bubblewrap {
        let workspace = Workspace::builder(folder.join("root"))
            .path("read_only", folder.join("read-only"))
            .path("attempts", repository().join("tests/escapes"))
            .build()
            .unwrap();
        workspace.open(None).await.unwrap();
        let policy = Policy {
            files: vec![
                ("root".to_owned(), Access::ReadWrite),
                ("read_only".to_owned(), Access::ReadOnly),
            ],
            runtime_paths: vec![("attempts".to_owned(), Access::ReadOnly)],
            ..Policy::default()
        };
        let sandbox = Bubblewrap::new(workspace, policy).unwrap();
        sandbox.open(None).await.unwrap();
        sandbox
    }

    pub(crate) fn attempts(&self) -> PathBuf {
        repository().join("tests/escapes")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where everything is, as environment variables.
    fn facts(&self) -> [(&'static str, String); 6] {
        let path = |name: &str| self.folder.join(name).display().to_string();
        let file = std::env::temp_dir().join(&self.abstract_name);
        [
            ("OUTSIDE", path("secret")),
            ("READ_ONLY", path("read-only")),
            ("HOST_PID", std::process::id().to_string()),
            (
                "HOST_PORT",
                self.tcp.local_addr().unwrap().port().to_string(),
            ),
            ("ABSTRACT", self.abstract_name.clone()),
            ("SOCKET_FILE", file.display().to_string()),
        ]
    }

    /// `program`, told where everything is.
    pub(crate) fn program(&self, program: Program) -> Program {
        let told = |program: Program, (name, value)| program.variable(name, value);
        let program = self.facts().into_iter().fold(program, told);
        program.variable("PYTHONDONTWRITEBYTECODE", "1")
    }

    /// The same for a program of code mode, with numbers where they are some.
    pub(crate) fn frame(&self, marker: &str) -> Value {
        let facts = self.facts().into_iter().map(|(name, value)| {
            let number = value.parse::<u64>().map(Value::from);
            (name.to_lowercase(), number.unwrap_or(Value::String(value)))
        });
        let marker = ("marker".to_owned(), Value::from(marker));
        Value::Object(facts.chain([marker]).collect())
    }

    /// Fails if anything outside has changed, or something was left that means more outside than inside.
    pub(crate) fn check_untouched(&self) {
        let text = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap();
        assert_eq!(text("secret"), "secret");
        assert_eq!(text("read-only/file"), "only to be read");
        assert_eq!(
            fs::read_dir(self.folder.join("read-only")).unwrap().count(),
            1
        );
        for entry in fs::read_dir(self.folder.join("root")).unwrap() {
            let entry = entry.unwrap();
            let mode = fs::symlink_metadata(entry.path()).unwrap().mode();
            assert_eq!(mode & 0o6000, 0, "{:?} has set-id bits", entry.path());
            assert!(
                ![0o020_000, 0o060_000].contains(&(mode & 0o170_000)),
                "{:?}",
                entry.path()
            );
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
        drop(fs::remove_file(
            std::env::temp_dir().join(&self.abstract_name),
        ));
    }
}

/// A number of seconds to sleep that no other process was told.
pub(crate) fn marker() -> String {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("600.{}{number:04}", std::process::id())
}

/// The processes of this machine that were told `marker`.
pub(crate) fn marked(marker: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|word| word == marker.as_bytes())
    })
    .collect()
}

/// Waits until `look` holds; what the kernel does to other processes takes a moment.
pub(crate) async fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !look() {
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
