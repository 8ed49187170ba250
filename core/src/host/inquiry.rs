//! A refresh whose requests the host sends.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::job::{HostJob, entry};
use crate::catalog::{BedrockModels, Inquiry, Question};
use crate::error::{Error, ErrorKind, Result};

/// Questions to Amazon Bedrock and AWS's price list, which a client of the application asks.
pub struct HostInquiry {
    source: Arc<BedrockModels>,
    inquiry: Arc<Mutex<Inquiry>>,
}

impl HostInquiry {
    /// About the models of a connection with these options, or about `target`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an invalid option, or no region.
    pub fn bedrock_models(
        connection: &str,
        options: &Map<String, Value>,
        target: Option<&str>,
    ) -> Result<Self> {
        let source = BedrockModels::from_options(connection, options)?.ok_or_else(|| {
            Error::new(
                ErrorKind::Configuration,
                format!("connection {connection:?} has no AWS region: set its option region"),
            )
        })?;
        Ok(Self {
            inquiry: Arc::new(Mutex::new(source.inquiry(target))),
            source: Arc::new(source),
        })
    }

    /// Signs the next request: `{method, url, headers, body}`, or null when everything is known.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the job's own are those of the search for keys.
    pub fn question(&self) -> Result<HostJob> {
        let inquiry = Arc::clone(&self.inquiry);
        let question = inquiry.lock().question();
        let source = Arc::clone(&self.source);
        HostJob::start(async move {
            let Some(mut question) = question else {
                return Ok(Value::Null);
            };
            let secrets = source.sign(&mut question, None).await?;
            inquiry.lock().hide(secrets);
            Ok(to_value(&question))
        })
    }

    /// Takes the answer to the last request.
    ///
    /// # Errors
    /// [`ErrorKind::Http`] for another status than 200, [`ErrorKind::Protocol`] for nonsense.
    pub fn answer(&self, status: u16, body: &[u8]) -> Result<()> {
        self.inquiry.lock().answer(status, body)
    }

    /// What was found, as `{target: {attributes, observed_at}}`.
    #[must_use]
    pub fn records(&self) -> Value {
        let records = self.inquiry.lock().records().to_vec();
        Value::Object(records.into_iter().map(entry).collect())
    }
}

fn to_value(question: &Question) -> Value {
    let headers: Map<String, Value> = question
        .headers
        .iter()
        .map(|(name, value)| {
            let text = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), json!(text))
        })
        .collect();
    json!({
        "method": question.method,
        "url": question.url.as_str(),
        "headers": headers,
        "body": String::from_utf8_lossy(&question.body),
    })
}

impl fmt::Debug for HostInquiry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostInquiry")
    }
}
