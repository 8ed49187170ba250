//! An answer that does not go on as it should.

use async_trait::async_trait;
use bytes::Bytes;

use super::fault::End;
use crate::error::Result;
use crate::http::{Body, Endpoint, Source, closed};

/// A body up to a number of bytes, and what comes then.
pub(super) struct Cut {
    body: Body,
    left: u64,
    end: Option<End>,
    endpoint: Endpoint,
}

impl Cut {
    pub(super) fn new(body: Body, after: u64, end: End, endpoint: Endpoint) -> Self {
        Self {
            body,
            left: after,
            end: Some(end),
            endpoint,
        }
    }
}

#[async_trait]
impl Source for Cut {
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        while self.left > 0 {
            // An answer shorter than the cut goes wrong at its end.
            let Some(mut bytes) = self.body.chunk().await? else {
                self.left = 0;
                break;
            };
            let length = usize::try_from(self.left).unwrap_or(usize::MAX);
            bytes.truncate(length);
            self.left -= bytes.len() as u64;
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        if matches!(self.end, Some(End::Stall)) {
            std::future::pending::<()>().await;
        }
        match self.end.take() {
            Some(End::Drop) => Err(closed(&self.endpoint)),
            Some(End::Garbage(bytes)) => Ok(Some(bytes)),
            Some(End::Truncate | End::Stall) | None => Ok(None),
        }
    }
}
