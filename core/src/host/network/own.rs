//! Gateways that the host implements, in part or whole.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::json;

use super::description::Description;
use crate::error::Result;
use crate::host::HostQuestions;
use crate::network::{Gateway, GatewayMount};
use crate::run::Run;

/// A gateway of the engine that the host has a say in too.
pub(super) struct Checked {
    gateway: Arc<dyn Gateway>,
    questions: Arc<HostQuestions>,
}

impl Checked {
    pub(super) fn new(gateway: Arc<dyn Gateway>, questions: Arc<HostQuestions>) -> Self {
        Self { gateway, questions }
    }
}

#[async_trait]
impl Gateway for Checked {
    async fn open(&self, run: Option<&Run>) -> Result<()> {
        self.gateway.open(run).await
    }

    async fn close(&self) -> Result<()> {
        self.gateway.close().await
    }

    async fn validate(&self) -> Result<()> {
        self.gateway.validate().await?;
        self.questions
            .ask(json!({"op": "validate"}))
            .await
            .map(drop)
    }

    fn mounts(&self) -> Vec<GatewayMount> {
        self.gateway.mounts()
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.gateway.environment()
    }

    fn proxy_socket(&self) -> Option<PathBuf> {
        self.gateway.proxy_socket()
    }

    fn proxy_mount_path(&self) -> Option<PathBuf> {
        self.gateway.proxy_mount_path()
    }

    fn client_network(&self) -> Option<String> {
        self.gateway.client_network()
    }

    fn hidden(&self) -> Vec<PathBuf> {
        self.gateway.hidden()
    }
}

/// A gateway that the host implements.
pub(super) struct Own {
    questions: Arc<HostQuestions>,
    described: Mutex<Description>,
}

impl Own {
    pub(super) fn new(questions: Arc<HostQuestions>) -> Self {
        Self {
            questions,
            described: Mutex::default(),
        }
    }

    async fn ask(&self, op: &str) -> Result<()> {
        let answer = self.questions.ask(json!({"op": op})).await?;
        let description = Description::from_value(&answer)?;
        *self.described.lock() = description;
        Ok(())
    }
}

#[async_trait]
impl Gateway for Own {
    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        self.ask("open").await
    }

    async fn close(&self) -> Result<()> {
        self.questions.ask(json!({"op": "close"})).await.map(drop)
    }

    async fn validate(&self) -> Result<()> {
        self.ask("validate").await
    }

    fn mounts(&self) -> Vec<GatewayMount> {
        self.described.lock().mounts.clone()
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.described.lock().environment.clone()
    }

    fn proxy_socket(&self) -> Option<PathBuf> {
        self.described.lock().proxy_socket.clone()
    }

    fn proxy_mount_path(&self) -> Option<PathBuf> {
        self.described.lock().proxy_mount_path.clone()
    }

    fn client_network(&self) -> Option<String> {
        self.described.lock().client_network.clone()
    }
}
