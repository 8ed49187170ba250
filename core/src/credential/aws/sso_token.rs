//! The tokens that the AWS CLI keeps for those who signed in.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use ring::digest;
use serde_json::{Value, json};

use super::profiles::home;
use super::region::dns_suffix;
use super::variables::endpoint;
use crate::credential::request::{self, Request, safe_url};
use crate::credential::sigv4::hex;
use crate::credential::timestamp;
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::executor;
use crate::provider::{Environment, Secret};

/// Tokens are renewed when they have less time left.
const EARLY: Duration = Duration::from_secs(15 * 60);

/// What a person signed in to.
#[derive(Debug)]
pub(super) struct Session {
    /// The name of an `sso-session`; older profiles have none, and their tokens are not renewed.
    pub(super) name: Option<String>,
    pub(super) start_url: String,
    pub(super) region: String,
}

/// The token of the session, renewed when its time has come. `again` says how to sign in.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) when nobody is signed in.
pub(super) async fn current(
    environment: &Environment,
    session: &Session,
    again: &str,
) -> Result<Secret> {
    let path = path(environment, session)?;
    let mut kept = load(path.clone(), again.to_owned()).await?;
    if remaining(&kept, "expiresAt") < EARLY
        && let Some(renewed) = renew(environment, session, &kept).await
    {
        kept = renewed;
        // The old refresh token may be void now; without the new one in its place, the next process has none.
        store(path, kept.to_string()).await?;
    }
    let token = kept.get("accessToken").and_then(Value::as_str);
    match token {
        Some(token) if !remaining(&kept, "expiresAt").is_zero() => Ok(Secret::new(token)),
        _ => Err(unusable(format!("the sign-in has expired; {again}"))),
    }
}

/// Where the CLI keeps the token.
fn path(environment: &Environment, session: &Session) -> Result<PathBuf> {
    let home = home(environment).ok_or_else(|| unusable("HOME is not set"))?;
    let name = session.name.as_ref().unwrap_or(&session.start_url);
    let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, name.as_bytes());
    let file = format!("{}.json", hex(hash.as_ref()));
    Ok(home.join(".aws/sso/cache").join(file))
}

async fn load(path: PathBuf, again: String) -> Result<Value> {
    executor::blocking(move || {
        let text = fs::read_to_string(&path).map_err(|problem| {
            unusable(format!(
                "nobody is signed in ({}: {problem}); {again}",
                path.display()
            ))
        })?;
        serde_json::from_str(&text)
            .map_err(|_| unusable(format!("{} holds no JSON; {again}", path.display())))
    })
    .await
}

/// Replaces the file as a whole, for the user's eyes only.
async fn store(path: PathBuf, text: String) -> Result<()> {
    executor::blocking(move || {
        let part = path.with_extension(format!("{}.part", std::process::id()));
        write(&part, &text)
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|problem| {
                let _ = fs::remove_file(&part);
                unusable(format!("cannot write {}: {problem}", path.display()))
            })
    })
    .await
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Time until `field`; zero when it has passed or is missing.
fn remaining(kept: &Value, field: &str) -> Duration {
    kept.get(field)
        .and_then(Value::as_str)
        .and_then(timestamp::parse)
        .and_then(|at| at.duration_since(SystemTime::now()).ok())
        .unwrap_or_default()
}

/// A new token, if the kept one has what that takes. When it fails, the kept one may still work.
async fn renew(environment: &Environment, session: &Session, kept: &Value) -> Option<Value> {
    session.name.as_ref()?;
    let text = |name: &str| kept.get(name).and_then(Value::as_str);
    let (id, secret) = (text("clientId")?, text("clientSecret")?);
    let refresh = text("refreshToken")?;
    if remaining(kept, "registrationExpiresAt").is_zero() {
        return None;
    }
    let region = &session.region;
    let (setting, base) = endpoint(environment, "AWS_ENDPOINT_URL_SSO_OIDC").unwrap_or_else(|| {
        let base = format!("https://oidc.{region}.{}", dns_suffix(region));
        ("sso_region", base)
    });
    let url = safe_url(setting, &format!("{}/token", base.trim_end_matches('/'))).ok()?;
    let mut request = Request::new(Method::POST, url);
    request
        .headers
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.body = json!({
        "clientId": id,
        "clientSecret": secret,
        "grantType": "refresh_token",
        "refreshToken": refresh,
    })
    .to_string()
    .into();
    let reply = request.send().await.ok()?;
    let answer = request::json("AWS SSO OIDC", &reply, &[]).ok()?;
    let life = Duration::from_secs(answer.get("expiresIn")?.as_u64()?);
    let expiry = SystemTime::now().checked_add(life)?;
    let mut renewed = kept.as_object()?.clone();
    renewed.insert("accessToken".into(), answer.get("accessToken")?.clone());
    renewed.insert("expiresAt".into(), json!(timestamp::extended(expiry)));
    if let Some(refresh) = answer.get("refreshToken").filter(|token| token.is_string()) {
        renewed.insert("refreshToken".into(), refresh.clone());
    }
    Some(Value::Object(renewed))
}
