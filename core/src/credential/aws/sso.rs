//! Roles of people who signed in with the AWS CLI (IAM Identity Center).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::{Method, Url};
use serde_json::Value;

use super::ini::Section;
use super::profiles::Profiles;
use super::region::{self, dns_suffix};
use super::role::setting;
use super::sso_token::{self, Session};
use super::variables::endpoint;
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::request::{Request, json, safe_url};
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::provider::Environment;

const SERVICE: &str = "AWS SSO";

/// The role that a person may take.
#[derive(Debug)]
pub(super) struct Sso {
    profile: String,
    account: String,
    role: String,
    session: Session,
}

impl Sso {
    /// What a profile says of it; nothing when it has no such settings.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for settings that are missing or contradict
    /// each other.
    pub(super) fn new(profiles: &Profiles, name: &str, section: &Section) -> Result<Option<Self>> {
        let (account, role) = (
            setting(section, "sso_account_id"),
            setting(section, "sso_role_name"),
        );
        if account.is_none() && role.is_none() {
            return Ok(None);
        }
        let session_name = setting(section, "sso_session");
        let shared = match session_name {
            None => None,
            Some(session) => Some(profiles.sso_sessions.get(session).ok_or_else(|| {
                unusable(format!(
                    "profile {name:?} names the sso-session {session:?}, which is not configured"
                ))
            })?),
        };
        let find = |key: &str| {
            let (own, shared) = (
                setting(section, key),
                shared.and_then(|section| setting(section, key)),
            );
            if let (Some(own), Some(shared)) = (own, shared)
                && own != shared
            {
                return Err(unusable(format!(
                    "{key} differs between profile {name:?} and its sso-session"
                )));
            }
            shared.or(own).map(str::to_owned).ok_or_else(|| {
                unusable(format!(
                    "profile {name:?} signs in with SSO, but has no {key}"
                ))
            })
        };
        let (start_url, region) = (find("sso_start_url")?, find("sso_region")?);
        region::checked(&region)?;
        Ok(Some(Self {
            account: find("sso_account_id")?,
            role: find("sso_role_name")?,
            profile: name.to_owned(),
            session: Session {
                name: session_name.map(str::to_owned),
                start_url,
                region,
            },
        }))
    }

    /// The keys of the role.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) that says to sign in again, and what the
    /// service said.
    pub(super) async fn keys(&self, environment: &Environment) -> Result<AwsCredentials> {
        let again = format!("run: aws sso login --profile {}", self.profile);
        let token = sso_token::current(environment, &self.session, &again).await?;
        let request = Request::new(Method::GET, self.url(environment)?).header(
            "x-amz-sso_bearer_token",
            &token,
            "the token of the sign-in",
        )?;
        let reply = request.send().await?;
        if reply.status == 401 {
            return Err(unusable(format!(
                "the sign-in is not valid any more; {again}"
            )));
        }
        read(&json(SERVICE, &reply, &[&token])?)
    }

    fn url(&self, environment: &Environment) -> Result<Url> {
        let region = &self.session.region;
        let (setting, base) = endpoint(environment, "AWS_ENDPOINT_URL_SSO").unwrap_or_else(|| {
            let base = format!("https://portal.sso.{region}.{}", dns_suffix(region));
            ("sso_region", base)
        });
        let path = format!("{}/federation/credentials", base.trim_end_matches('/'));
        let mut url = safe_url(setting, &path)?;
        url.query_pairs_mut()
            .append_pair("role_name", &self.role)
            .append_pair("account_id", &self.account);
        Ok(url)
    }
}

fn read(answer: &Value) -> Result<AwsCredentials> {
    let text = |name: &str| {
        answer
            .pointer(&format!("/roleCredentials/{name}"))
            .and_then(Value::as_str)
            .ok_or_else(|| unusable(format!("{SERVICE} gave no {name}")))
    };
    let keys = AwsCredentials::new(text("accessKeyId")?, text("secretAccessKey")?)
        .session_token(text("sessionToken")?);
    let expiry = answer
        .pointer("/roleCredentials/expiration")
        .and_then(Value::as_u64)
        .and_then(|milliseconds| UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)));
    Ok(keys.expires_at(expiry.unwrap_or_else(SystemTime::now)))
}
