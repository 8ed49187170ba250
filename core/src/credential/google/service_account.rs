//! Service accounts, which prove themselves with a key.

use std::time::SystemTime;

use reqwest::Url;
use serde_json::json;

use super::file::Fields;
use super::{SCOPE, grant, jwt};
use crate::credential::access_token::AccessToken;
use crate::credential::refresher::Clock;
use crate::credential::timestamp;
use crate::error::Result;
use crate::provider::Secret;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// How long a proof is good for, in seconds. The token lives as long.
const LIFE: u64 = 3_600;

/// An account of an application.
#[derive(Debug)]
pub(super) struct ServiceAccount {
    email: String,
    key: Secret,
    key_id: Option<String>,
    token_uri: Url,
    quota_project: Option<String>,
}

impl ServiceAccount {
    pub(super) fn new(fields: &Fields) -> Result<Self> {
        Ok(Self {
            email: fields.text("client_email")?,
            key: fields.secret("private_key")?,
            key_id: fields.optional("private_key_id").map(str::to_owned),
            token_uri: fields.token_uri()?,
            quota_project: fields.optional("quota_project_id").map(str::to_owned),
        })
    }

    pub(super) async fn token(&self, clock: &Clock) -> Result<AccessToken> {
        let proof = self.proof(clock())?;
        let pairs = [("grant_type", GRANT), ("assertion", proof.expose())];
        let token = grant::token(self.token_uri.clone(), &pairs, &[&proof], clock).await?;
        Ok(match &self.quota_project {
            Some(project) => token.quota_project(project),
            None => token,
        })
    }

    fn proof(&self, at: SystemTime) -> Result<Secret> {
        let now = timestamp::unix(at);
        let claims = json!({
            "iat": now,
            "exp": now + LIFE,
            "iss": self.email,
            "aud": self.token_uri.as_str(),
            "scope": SCOPE,
        });
        jwt::sign(&self.key, self.key_id.as_deref(), &claims)
    }
}
