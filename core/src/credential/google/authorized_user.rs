//! People who signed in with gcloud.

use reqwest::Url;

use super::file::Fields;
use super::grant;
use crate::credential::access_token::AccessToken;
use crate::credential::refresher::Clock;
use crate::error::Result;
use crate::provider::Secret;

/// The advice for a sign-in that is over.
const AGAIN: &str = "the sign-in is not valid any more; run: gcloud auth application-default login";

/// A person's consent, which lasts until it is withdrawn.
#[derive(Debug)]
pub(super) struct AuthorizedUser {
    client_id: String,
    client_secret: Secret,
    refresh_token: Secret,
    token_uri: Url,
    quota_project: Option<String>,
}

impl AuthorizedUser {
    pub(super) fn new(fields: &Fields) -> Result<Self> {
        Ok(Self {
            client_id: fields.text("client_id")?,
            client_secret: fields.secret("client_secret")?,
            refresh_token: fields.secret("refresh_token")?,
            token_uri: fields.token_uri()?,
            quota_project: fields.optional("quota_project_id").map(str::to_owned),
        })
    }

    pub(super) async fn token(&self, clock: &Clock) -> Result<AccessToken> {
        let pairs = [
            ("grant_type", "refresh_token"),
            ("client_id", &self.client_id),
            ("client_secret", self.client_secret.expose()),
            ("refresh_token", self.refresh_token.expose()),
        ];
        let secrets = [&self.client_secret, &self.refresh_token];
        let token = grant::token(self.token_uri.clone(), &pairs, &secrets, clock)
            .await
            .map_err(|error| {
                if !error.message().contains("invalid_grant") {
                    return error;
                }
                let message = format!("{AGAIN} ({})", error.message());
                error.with_message(message)
            })?;
        Ok(match &self.quota_project {
            Some(project) => token.quota_project(project),
            None => token,
        })
    }
}
