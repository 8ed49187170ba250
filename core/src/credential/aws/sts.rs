//! AWS STS, which exchanges keys or identities for the temporary keys of a role.

use std::time::SystemTime;

use reqwest::{Method, Url};

use super::region::{self, dns_suffix};
use super::variables::endpoint;
use super::xml;
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::request::{Request, refused, safe_url};
use crate::credential::sigv4::{self, Scope};
use crate::credential::timestamp;
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::http::Reply;
use crate::provider::{Environment, Secret};

const NAME: &str = "AWS STS";
const VERSION: &str = "2011-06-15";

/// Where role sessions are made.
#[derive(Clone, Debug)]
pub(super) struct Sts {
    url: Url,
    region: String,
}

/// The role to take.
#[derive(Clone, Debug, Default)]
pub(super) struct Role {
    pub(super) arn: String,
    pub(super) session_name: Option<String>,
    pub(super) external_id: Option<String>,
    pub(super) duration_seconds: Option<u64>,
}

impl Sts {
    /// The service of `region`, or the global one without.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for an address or region that is none.
    pub(super) fn new(environment: &Environment, region: Option<&str>) -> Result<Self> {
        let signed = match region {
            None | Some("aws-global") => "us-east-1",
            Some(region) => region::checked(region)?,
        };
        let url = match (endpoint(environment, "AWS_ENDPOINT_URL_STS"), region) {
            (Some((variable, url)), _) => safe_url(variable, &url)?,
            (None, Some(region)) if region != "aws-global" => safe_url(
                "the region",
                &format!("https://sts.{region}.{}", dns_suffix(region)),
            )?,
            (None, _) => safe_url("the region", "https://sts.amazonaws.com")?,
        };
        Ok(Self {
            url,
            region: signed.to_owned(),
        })
    }

    /// Takes `role` with `keys`.
    ///
    /// # Errors
    /// What the service said.
    pub(super) async fn assume_role(
        &self,
        role: &Role,
        keys: &AwsCredentials,
    ) -> Result<AwsCredentials> {
        let session = role.session();
        let duration = role.duration_seconds.map(|seconds| seconds.to_string());
        let mut pairs = vec![
            ("Action", "AssumeRole"),
            ("Version", VERSION),
            ("RoleArn", role.arn.as_str()),
            ("RoleSessionName", session.as_str()),
        ];
        if let Some(duration) = &duration {
            pairs.push(("DurationSeconds", duration));
        }
        if let Some(id) = &role.external_id {
            pairs.push(("ExternalId", id));
        }
        let mut request = Request::new(Method::POST, self.url.clone()).form(&pairs);
        let scope = Scope {
            region: &self.region,
            service: "sts",
            at: SystemTime::now(),
        };
        sigv4::sign(
            "POST",
            &request.url,
            &mut request.headers,
            &request.body,
            keys,
            scope,
        )?;
        let secrets = [keys.secret_access_key()];
        read("AssumeRole", &request.send().await?, &secrets)
    }

    /// Takes `role` with the token of an identity.
    ///
    /// # Errors
    /// What the service said.
    pub(super) async fn assume_role_with_web_identity(
        &self,
        role: &Role,
        token: &Secret,
    ) -> Result<AwsCredentials> {
        let session = role.session();
        let pairs = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", VERSION),
            ("RoleArn", role.arn.as_str()),
            ("RoleSessionName", session.as_str()),
            ("WebIdentityToken", token.expose()),
        ];
        let request = Request::new(Method::POST, self.url.clone()).form(&pairs);
        read(
            "AssumeRoleWithWebIdentity",
            &request.send().await?,
            &[token],
        )
    }
}

impl Role {
    /// The name that logs of AWS show.
    fn session(&self) -> String {
        self.session_name
            .clone()
            .unwrap_or_else(|| format!("little-ghost-{}", timestamp::unix(SystemTime::now())))
    }
}

fn read(action: &str, reply: &Reply, secrets: &[&Secret]) -> Result<AwsCredentials> {
    let service = format!("{NAME} {action}");
    let text = String::from_utf8_lossy(&reply.body);
    if !(200..300).contains(&reply.status) {
        let said = xml::parse(&text).ok().and_then(|document| {
            let code = document.text(&["Error", "Code"])?;
            let message = document.text(&["Error", "Message"]).unwrap_or_default();
            Some(format!("{code}: {message}"))
        });
        return Err(refused(&service, reply.status, said.as_deref(), secrets));
    }
    let document = xml::parse(&text)?;
    let result = format!("{action}Result");
    let field = |name: &str| {
        document
            .text(&[result.as_str(), "Credentials", name])
            .ok_or_else(|| unusable(format!("{service} gave no {name}")))
    };
    let expiry = timestamp::parse(field("Expiration")?)
        .ok_or_else(|| unusable(format!("{service} gave an Expiration that is no time")))?;
    Ok(
        AwsCredentials::new(field("AccessKeyId")?, field("SecretAccessKey")?)
            .session_token(field("SessionToken")?)
            .expires_at(expiry),
    )
}
