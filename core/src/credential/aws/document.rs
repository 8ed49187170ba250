//! Keys in the JSON of those who hand them out.

use serde_json::Value;

use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::timestamp;
use crate::credential::trail::unusable;
use crate::error::Result;

/// Reads `{AccessKeyId, SecretAccessKey, Token or SessionToken, Expiration}` of `source`.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for what is missing; no value is named.
pub(super) fn keys(source: &str, document: &Value) -> Result<AwsCredentials> {
    let text = |name: &str| {
        document
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
    };
    let needed =
        |name: &str| text(name).ok_or_else(|| unusable(format!("{source} gave no {name}")));
    let mut keys = AwsCredentials::new(needed("AccessKeyId")?, needed("SecretAccessKey")?)
        .session_token(
            text("SessionToken")
                .or_else(|| text("Token"))
                .unwrap_or_default(),
        );
    if let Some(expiration) = text("Expiration") {
        keys = keys.expires_at(timestamp::parse(expiration).ok_or_else(|| {
            unusable(format!(
                "{source} gave an Expiration that is no time such as \"2026-11-30T10:46:05Z\""
            ))
        })?);
    }
    Ok(keys)
}
