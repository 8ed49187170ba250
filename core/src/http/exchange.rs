//! Small requests to services that issue credentials.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};

use super::client;
use super::failure;
use super::post::bounded;
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result, Retry};

/// The largest answer that is read.
const MAX_BYTES: usize = 1_024 * 1_024;

/// One request that is answered by a small document. No transport of a run sees it, because it and
/// its answer are secret.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The longest time to connect.
    pub(crate) open_timeout: Duration,
    /// The longest time for everything.
    pub(crate) timeout: Duration,
    /// Whether it must not go through a proxy.
    pub(crate) direct: bool,
}

/// The whole answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Exchange {
    /// Sends the request.
    ///
    /// # Errors
    /// [`ErrorKind::Http`] for a failed connection or too long a wait,
    /// [`ErrorKind::Protocol`] for too large an answer, [`ErrorKind::DeadlineExceeded`].
    pub(crate) async fn send(self, deadline: Option<Deadline>) -> Result<Reply> {
        let timeout = self.timeout;
        let address = address(&self.url);
        bounded(self.sent(&address), timeout, deadline)
            .await?
            .unwrap_or_else(|| {
                Err(Error::new(
                    ErrorKind::Http,
                    format!(
                        "{address} did not answer within {} s",
                        timeout.as_secs_f64()
                    ),
                )
                .with_retry(Retry::Backoff))
            })
    }

    async fn sent(self, address: &str) -> Result<Reply> {
        let client = client::client(self.open_timeout, self.direct)?;
        let mut response = client
            .request(self.method, self.url)
            .headers(self.headers)
            .body(self.body)
            .send()
            .await
            .map_err(|problem| failure::plain(problem, address))?;
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|problem| failure::plain(problem, address))?
        {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BYTES {
                return Err(Error::new(
                    ErrorKind::Protocol,
                    format!("the answer of {address} is larger than {MAX_BYTES} bytes"),
                ));
            }
        }
        Ok(Reply {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body,
        })
    }
}

/// `host:port`, for messages.
fn address(url: &Url) -> String {
    format!(
        "{}:{}",
        url.host_str().unwrap_or_default(),
        url.port_or_known_default().unwrap_or_default()
    )
}
