//! Signed requests to AWS.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;

use super::authorizer::Authorizer;
use super::secret::Secret;
use super::substitute;
use crate::credential::AwsCredentialSource;
use crate::credential::sigv4::{Scope, sign};
use crate::deadline::Deadline;
use crate::error::{ErrorKind, Result};
use crate::http::Post;

/// Signs every attempt of a request with the keys of the moment.
pub(super) struct AwsSigner {
    source: Arc<dyn AwsCredentialSource>,
    region: String,
    service: &'static str,
    /// Whether a request without keys is sent unsigned: servers on this machine need none.
    optional: bool,
}

impl AwsSigner {
    pub(super) fn new(
        source: Arc<dyn AwsCredentialSource>,
        region: String,
        service: &'static str,
        optional: bool,
    ) -> Self {
        Self {
            source,
            region,
            service,
            optional,
        }
    }
}

#[async_trait]
impl Authorizer for AwsSigner {
    async fn authorize(
        &self,
        post: &mut Post,
        body: &Bytes,
        deadline: Option<Deadline>,
    ) -> Result<Vec<Secret>> {
        let keys = match self.source.credentials(deadline).await {
            Ok(keys) => keys,
            Err(error) if self.optional && error.kind() == ErrorKind::Credential => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let at = match substitute::current() {
            Some(substitute) => substitute.now().await?,
            None => SystemTime::now(),
        };
        let scope = Scope {
            region: &self.region,
            service: self.service,
            at,
        };
        let url = post.endpoint.url();
        sign("POST", url, &mut post.headers, body, &keys, scope)?;
        let always = [keys.access_key_id(), keys.secret_access_key()];
        Ok(always.into_iter().chain(keys.token()).cloned().collect())
    }

    fn refused(&self) -> bool {
        self.source.forget()
    }
}
