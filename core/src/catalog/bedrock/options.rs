//! Amazon Bedrock's list of models for a connection.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::BedrockModels;
use crate::credential::AwsCredentialSource;
use crate::error::Result;
use crate::http::Endpoint;
use crate::provider::{Secret, aws_chain, aws_credentials};

impl BedrockModels {
    /// From the options of a connection with the adapter `bedrock`: `region`, `credentials`, `profile`,
    /// `api_key`, `endpoint`. None
    /// when neither they nor the environment or the files of AWS name a region.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for an invalid option.
    pub fn from_options(connection: &str, options: &Map<String, Value>) -> Result<Option<Self>> {
        let text = |name: &str| {
            let value = options.get(name).and_then(Value::as_str);
            value.filter(|text| !text.trim().is_empty())
        };
        let is_local = text("endpoint").is_some_and(|endpoint| {
            Endpoint::new(connection, endpoint, "", true).is_ok_and(|found| found.is_loopback())
        });
        let chain = aws_chain(text("profile"), is_local);
        let Some(region) = text("region").map(str::to_owned).or_else(|| chain.region()) else {
            return Ok(None);
        };
        let keys: Arc<dyn AwsCredentialSource> = match aws_credentials(connection, options)? {
            Some(keys) => Arc::new(keys),
            None => chain,
        };
        let mut source = Self::new(connection, region.trim(), text("endpoint"), keys)?;
        // A clock of the application's host.
        source.signed_at = options
            .get("signed_at")
            .and_then(Value::as_f64)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(|since| SystemTime::UNIX_EPOCH + since);
        match text("api_key").map(Secret::new) {
            Some(key) => source.with_api_key(key).map(Some),
            None => Ok(Some(source)),
        }
    }
}
