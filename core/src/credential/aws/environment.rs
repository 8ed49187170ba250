//! Keys in environment variables.

use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::timestamp;
use crate::credential::trail::{Search, unusable};
use crate::error::Result;
use crate::provider::Environment;

pub(super) const NAME: &str = "environment";

/// The pair of the environment, if it is complete.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for an expiry that is no time, or is past.
pub(super) fn find(environment: &Environment) -> Result<Search<AwsCredentials>> {
    let (id, secret) = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    let (id, secret) = match (environment.get(id), environment.get(secret)) {
        (Some(id), Some(secret)) => (id, secret),
        (None, None) => return Ok(Search::Absent(format!("{id} is not set"))),
        (Some(_), None) => {
            return Ok(Search::Absent(format!("{id} is set, but {secret} is not")));
        }
        (None, Some(_)) => {
            return Ok(Search::Absent(format!("{secret} is set, but {id} is not")));
        }
    };
    // The older name comes first for the vendor's tools, too.
    let token = ["AWS_SECURITY_TOKEN", "AWS_SESSION_TOKEN"]
        .iter()
        .find_map(|name| environment.get(name));
    let mut keys = AwsCredentials::new(&id, &secret).session_token(&token.unwrap_or_default());
    if let Some(text) = environment.get("AWS_CREDENTIAL_EXPIRATION") {
        let expiry = timestamp::parse(&text).ok_or_else(|| {
            unusable(
                "AWS_CREDENTIAL_EXPIRATION is no time such as \"2026-11-30T10:46:05Z\"".to_owned(),
            )
        })?;
        if expiry <= std::time::SystemTime::now() {
            return Err(unusable(format!(
                "the keys expired at {} (AWS_CREDENTIAL_EXPIRATION)",
                timestamp::extended(expiry)
            )));
        }
        keys = keys.expires_at(expiry);
    }
    Ok(Search::Found(keys))
}
