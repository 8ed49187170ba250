#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod operations;
mod race;
mod walls;

use serde_json::{Value, json};
use std::sync::Arc;

use super::Files;
use crate::sandbox::tests::folder::Folder;
use crate::sandbox::{Limits, Policy};
use crate::workspace::Workspace;
use crate::{Error, ErrorKind};

/// A workspace with files, and what tools reach of it.
struct Place {
    folder: Folder,
    workspace: Arc<Workspace>,
    policy: Policy,
    limits: Limits,
}

impl Place {
    async fn new() -> Self {
        let folder = Folder::new();
        let workspace = folder.opened().await;
        Self {
            folder,
            workspace,
            policy: Policy::writable(),
            limits: Limits::default(),
        }
    }

    /// With the root writable, and `paths` of that access.
    async fn with(paths: &[(&str, &str)], policy: Value) -> Self {
        let folder = Folder::new();
        let mut builder = folder.workspace();
        for (name, path) in paths {
            builder = match path.strip_prefix("^") {
                Some(outside) => {
                    let path = folder.path().join(outside);
                    std::fs::create_dir_all(&path).unwrap();
                    builder.path(*name, path)
                }
                None => builder.path(*name, *path),
            };
        }
        let workspace = builder.build().unwrap();
        workspace.open(None).await.unwrap();
        Self {
            folder,
            workspace,
            policy: Policy::from_value(&policy).unwrap(),
            limits: Limits::default(),
        }
    }

    fn files(&self) -> Files {
        let workspace = Arc::clone(&self.workspace);
        Files::new(workspace, self.policy.clone(), self.limits.clone())
    }

    async fn read(&self, path: &str) -> Result<String, String> {
        self.files().read(path).await.map_err(told)
    }

    async fn list(&self, path: &str) -> Result<String, String> {
        self.files().list(path).await.map_err(told)
    }

    async fn write(&self, path: &str, content: &str) -> Result<String, String> {
        self.files()
            .write(path, content.as_bytes())
            .await
            .map_err(told)
    }

    async fn replace(&self, path: &str, old: &str, new: &str) -> Result<String, String> {
        self.files().replace(path, old, new).await.map_err(told)
    }

    /// That `outcome` is a failure that a model may read, about `what`, without the layout of the host.
    fn refused<T: std::fmt::Debug>(&self, outcome: Result<T, String>, what: &str) {
        let text = outcome.unwrap_err();
        assert!(text.contains(what), "{text:?} should say {what:?}");
        let host = self.folder.path().to_str().unwrap();
        assert!(!text.contains(host), "{text:?} shows the host");
    }
}

fn told(error: Error) -> String {
    assert_eq!(error.kind(), ErrorKind::Tool, "{error}");
    error.message().to_owned()
}

fn root_read_only() -> Value {
    json!({"files": {"root": "read_only"}})
}
