//! Sources of fresh facts.

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use serde_json::Value;

use std::time::Duration;

use super::record::{MergeStrategy, ModelRecord};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Endpoint, Get, Limits, Post};

/// Where fresh facts about models come from. The engine has [`ModelsDev`](super::ModelsDev)
/// and the lists that services keep themselves, such as [`OpenRouterModels`](super::OpenRouterModels); applications write
/// others.
#[async_trait]
pub trait CatalogSource: Send + Sync {
    /// The name that provenance shows.
    fn name(&self) -> &str;

    /// Attributes that do not replace older values.
    fn merge_strategies(&self) -> Vec<(String, MergeStrategy)> {
        Vec::new()
    }

    /// Fetches records: all, or at least the one of `target`.
    ///
    /// # Errors
    /// Any; the catalog then stays as it is.
    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>>;
}

/// What a refresh did.
#[derive(Clone, Debug, Default)]
pub struct Refreshed {
    /// Targets with fresh facts, sorted.
    pub updated: Vec<String>,
    /// What failed, by the name of the source.
    pub errors: Vec<(String, Error)>,
}

/// The largest list of models that is read.
const MAX_BYTES: u64 = 25 * 1_024 * 1_024;

/// The longest that a list of models may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Fetches a JSON document.
pub(super) async fn fetch(
    endpoint: Endpoint,
    headers: HeaderMap,
    deadline: Deadline,
) -> Result<Value> {
    let address = endpoint.address().to_owned();
    let request = Get(Post {
        headers,
        limits: Limits {
            read_timeout: Some(Duration::from_secs(30)),
            max_response_bytes: MAX_BYTES,
            ..Limits::default()
        },
        endpoint,
    });
    let body = request.fetch(Some(deadline)).await?;
    serde_json::from_slice(&body).map_err(|problem| {
        Error::new(
            ErrorKind::Protocol,
            format!("{address} answered no JSON: {problem}"),
        )
    })
}

/// The error for a document of another shape than expected.
pub(super) fn unexpected(source: &str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("the answer of {source} has another shape than its documented one"),
    )
}
