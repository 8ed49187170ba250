//! The real model on loopback, one server for all tests of a process.

use std::process::Stdio;
use std::sync::Arc;

use little_ghost::Runtime;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, MutexGuard};

/// What agents call it, on a [`LocalModel::runtime`].
pub const LOCAL_MODEL: &str = "local:qwen2.5-coder-0.5b-instruct";

static SHARED: Mutex<Option<LocalModel>> = Mutex::const_new(None);

/// A llama.cpp server with a small instruct model. It ends with the process, which holds its input.
pub struct LocalModel {
    url: String,
    _child: Child,
}

/// The server, for one test at a time: what else it computes would show in the answers.
pub struct Turn(MutexGuard<'static, Option<LocalModel>>);

impl LocalModel {
    /// Waits until no other test uses the server, and starts it for the first one.
    ///
    /// # Panics
    /// When `LITTLE_GHOST_LOCAL_MODEL` does not name the model's file, and when the server ends.
    pub async fn turn() -> Turn {
        let mut shared = SHARED.lock().await;
        if shared.is_none() {
            *shared = Some(Self::start().await);
        }
        Turn(shared)
    }

    async fn start() -> Self {
        let model = std::env::var("LITTLE_GHOST_LOCAL_MODEL")
            .expect("set LITTLE_GHOST_LOCAL_MODEL to the model's file: run `make test`");
        let python = std::env::var("VENV_PYTHON").unwrap_or_else(|_| "python3".into());
        let serve = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../support/local-model/serve.py"
        );
        let mut child = Command::new(python)
            .args([serve, &model, "0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the model's server is a Python program");
        let output = child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(url) = line.strip_prefix("listening ") {
                return Self {
                    url: url.trim().to_owned(),
                    _child: child,
                };
            }
        }
        panic!("the model's server ended");
    }
}

impl Turn {
    /// A runtime whose connection `local` is the server: by `"chat_completions"`, `"responses"` or `"messages"`.
    ///
    /// # Panics
    /// For another format.
    #[must_use]
    pub fn runtime(&self, format: &str) -> Arc<Runtime> {
        let model = self.0.as_ref().expect("it was started");
        let base_url = format!("{}/v1/", model.url);
        let connection = match format {
            "messages" => json!({"adapter": "anthropic", "base_url": base_url}),
            api => json!({"adapter": "openai_compatible", "base_url": base_url, "api": api}),
        };
        Runtime::from_value(&json!({"providers": {"local": connection}})).unwrap()
    }
}
