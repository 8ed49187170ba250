//! Fetching one document.

use bytes::Bytes;

use super::client;
use super::failure;
use super::post::{Post, bounded, error_body};
use super::response::ResponseStream;
use super::transport::Answer;
use crate::deadline::Deadline;
use crate::error::Result;

/// A GET request for a whole document, described like a [`Post`].
#[derive(Clone, Debug)]
pub(crate) struct Get(pub(crate) Post);

impl Get {
    /// Sends the request and reads the whole answer.
    ///
    /// # Errors
    /// As [`Post::send`], and [`ErrorKind::Protocol`](crate::ErrorKind::Protocol) for too large an
    /// answer.
    pub(crate) async fn fetch(&self, deadline: Option<Deadline>) -> Result<Bytes> {
        let Post {
            endpoint,
            headers,
            limits,
        } = &self.0;
        let client = client::client(limits.open_timeout, endpoint.is_direct())?;
        let request = client
            .get(endpoint.url().clone())
            .headers(headers.clone())
            .send();
        let limit = limits.silence(false).saturating_add(limits.open_timeout);
        let response = bounded(request, limit, deadline)
            .await?
            .ok_or_else(|| failure::idle(endpoint, limits.silence(false)))?
            .map_err(|problem| failure::network(problem, endpoint, limits.open_timeout))?;
        let answer = Answer::from_network(response, &self.0);
        if !(200..300).contains(&answer.status) {
            let body = error_body(answer.body, deadline).await?;
            return Err(failure::status(
                endpoint,
                answer.status,
                &answer.headers,
                &body,
            ));
        }
        let mut stream = ResponseStream::new(answer, endpoint.clone(), *limits, deadline);
        let mut body = Vec::new();
        while let Some(bytes) = stream.next().await? {
            body.extend_from_slice(&bytes);
        }
        Ok(body.into())
    }
}
