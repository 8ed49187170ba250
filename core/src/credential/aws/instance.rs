//! The metadata service of an EC2 instance, version 2.

use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;

use super::document;
use super::variables::flag;
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::request::{Request, http_url};
use crate::credential::trail::{Search, unusable};
use crate::error::Result;
use crate::http::{Reply, shorten};
use crate::provider::{Environment, Secret};

pub(super) const NAME: &str = "instance metadata";

const DISABLED: &str = "AWS_EC2_METADATA_DISABLED";
const ENDPOINT: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
const MODE: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";
const TOKEN: &str = "x-aws-ec2-metadata-token";
const ROLES: &str = "latest/meta-data/iam/security-credentials/";

/// There is no such service on most machines, and an address that nobody has may stay silent.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Asks the service for the keys of the instance's role. Whatever goes wrong means that there are none.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for an address that is none.
pub(super) async fn find(environment: &Environment) -> Result<Search<AwsCredentials>> {
    if flag(environment, DISABLED) {
        return Ok(Search::Absent(format!("{DISABLED} is true")));
    }
    let base = base(environment)?;
    Ok(match keys(&base).await {
        Ok(keys) => Search::Found(keys),
        Err(problem) => Search::Absent(problem.message().to_owned()),
    })
}

fn base(environment: &Environment) -> Result<String> {
    let base = match environment.get(ENDPOINT) {
        Some(base) => base,
        None if environment
            .get(MODE)
            .is_some_and(|mode| mode.eq_ignore_ascii_case("ipv6")) =>
        {
            "http://[fd00:ec2::254]".to_owned()
        }
        None => "http://169.254.169.254".to_owned(),
    };
    let base = base.trim().trim_end_matches('/').to_owned();
    http_url(ENDPOINT, &base)?;
    Ok(base)
}

async fn keys(base: &str) -> Result<AwsCredentials> {
    let mut request = Request::nearby(Method::PUT, url(base, "latest/api/token")?, TIMEOUT);
    request.headers.insert(
        HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds"),
        HeaderValue::from_static("21600"),
    );
    let token = Secret::new(&text(&request.once().await?, "token")?);
    let roles = get(base, ROLES, &token).await?;
    let roles = text(&roles, "role")?;
    let role = roles.lines().next().unwrap_or_default().trim();
    let answer = get(base, &format!("{ROLES}{role}"), &token).await?;
    let document: Value = serde_json::from_str(&text(&answer, "keys")?)
        .map_err(|_| unusable("the metadata service answered no JSON"))?;
    // It reports some failures with the status of a success.
    if let (Some(code), Some(message)) = (document.get("Code"), document.get("Message")) {
        let said = format!(
            "{}: {}",
            code.as_str().unwrap_or_default(),
            message.as_str().unwrap_or_default()
        );
        return Err(unusable(format!(
            "the metadata service has no keys for role {role:?}: {}",
            shorten(&said, 300)
        )));
    }
    document::keys("the metadata service", &document)
}

async fn get(base: &str, path: &str, token: &Secret) -> Result<Reply> {
    Request::nearby(Method::GET, url(base, path)?, TIMEOUT)
        .header(TOKEN, token, "the token of the metadata service")?
        .once()
        .await
}

fn url(base: &str, path: &str) -> Result<Url> {
    http_url(ENDPOINT, &format!("{base}/{path}"))
}

fn text(reply: &Reply, what: &str) -> Result<String> {
    let text = String::from_utf8_lossy(&reply.body).trim().to_owned();
    match reply.status {
        200 if !text.is_empty() => Ok(text),
        200 => Err(unusable(format!("the metadata service gave no {what}"))),
        404 if what == "role" => Err(unusable("the instance has no role")),
        status => Err(unusable(format!(
            "the metadata service answered HTTP {status} when asked for the {what}"
        ))),
    }
}
