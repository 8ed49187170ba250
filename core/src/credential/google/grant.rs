//! The exchange of a proof for an access token.

use std::time::{Duration, SystemTime};

use reqwest::{Method, Url};
use serde_json::Value;

use crate::credential::access_token::AccessToken;
use crate::credential::refresher::Clock;
use crate::credential::request::{Request, json};
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::provider::Secret;

const SERVICE: &str = "Google's token service";

/// Sends the fields of a grant and reads the token.
///
/// # Errors
/// What the service said, without `secrets`.
pub(super) async fn token(
    url: Url,
    pairs: &[(&str, &str)],
    secrets: &[&Secret],
    clock: &Clock,
) -> Result<AccessToken> {
    let asked = clock();
    let reply = Request::new(Method::POST, url).form(pairs).send().await?;
    read(SERVICE, &json(SERVICE, &reply, secrets)?, asked)
}

/// Reads `{access_token, expires_in}` of `service`, which was asked at `asked`.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for an answer without a token.
pub(super) fn read(service: &str, answer: &Value, asked: SystemTime) -> Result<AccessToken> {
    let token = answer
        .get("access_token")
        .and_then(Value::as_str)
        .filter(|token| !token.is_empty())
        .ok_or_else(|| unusable(format!("{service} gave no access_token")))?;
    let token = AccessToken::new(token);
    // Some services write the number as a string.
    let life = answer.get("expires_in").and_then(|life| match life {
        Value::String(text) => text.parse().ok(),
        life => life.as_u64(),
    });
    let expiry = life.and_then(|life| asked.checked_add(Duration::from_secs(life)));
    Ok(match expiry {
        Some(expiry) => token.expires_at(expiry),
        None => token,
    })
}
