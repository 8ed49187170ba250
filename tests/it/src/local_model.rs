//! Starts the real model on loopback for a test.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A llama.cpp server with a small instruct model. It ends when this value is dropped.
pub struct LocalModel {
    url: String,
    _child: Child,
}

impl LocalModel {
    /// Starts the server; `None` unless `LITTLE_GHOST_LOCAL_MODEL` names the model's file.
    pub async fn start() -> Option<Self> {
        let model = std::env::var("LITTLE_GHOST_LOCAL_MODEL").ok()?;
        let python = std::env::var("VENV_PYTHON").unwrap_or_else(|_| "python3".into());
        let serve = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../support/local-model/serve.py"
        );
        let mut child = Command::new(python)
            .args([serve, &model, "0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let mut lines = BufReader::new(child.stdout.take()?).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(url) = line.strip_prefix("listening ") {
                return Some(Self {
                    url: url.trim().to_owned(),
                    _child: child,
                });
            }
        }
        None
    }

    /// Base URL of its OpenAI-compatible endpoints.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1/", self.url)
    }
}
