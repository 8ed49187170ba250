//! Files with credentials.

use std::fs;
use std::io;
use std::path::Path;

use reqwest::Url;
use serde_json::{Map, Value};

use super::authorized_user::AuthorizedUser;
use super::service_account::ServiceAccount;
use crate::credential::access_token::AccessToken;
use crate::credential::refresher::Clock;
use crate::credential::request::safe_url;
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::provider::Secret;

/// Where tokens are issued, unless a file says otherwise.
const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// What a file holds.
#[derive(Debug)]
pub(super) enum Credentials {
    ServiceAccount(ServiceAccount),
    AuthorizedUser(AuthorizedUser),
}

impl Credentials {
    /// A new token.
    ///
    /// # Errors
    /// What the service that issues tokens said.
    pub(super) async fn token(&self, clock: &Clock) -> Result<AccessToken> {
        match self {
            Credentials::ServiceAccount(account) => account.token(clock).await,
            Credentials::AuthorizedUser(user) => user.token(clock).await,
        }
    }
}

/// Reads a file; nothing when there is none.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for a file that cannot be read or holds something
/// else.
pub(super) fn read(path: &Path) -> Result<Option<Credentials>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => {
            return Err(unusable(format!(
                "cannot read {}: {problem}",
                path.display()
            )));
        }
    };
    // The parser's words are left out: they may quote the file.
    let Ok(Value::Object(map)) = serde_json::from_str(&text) else {
        return Err(unusable(format!("{} holds no JSON object", path.display())));
    };
    let fields = Fields { map };
    match fields.optional("type") {
        Some("service_account") => ServiceAccount::new(&fields).map(Credentials::ServiceAccount),
        Some("authorized_user") => AuthorizedUser::new(&fields).map(Credentials::AuthorizedUser),
        Some(other) => Err(unusable(format!(
            "credentials of the type {other:?} are not supported; use a service_account or an \
             authorized_user, or pass access tokens of your own"
        ))),
        None => Err(unusable(format!(
            "{} has no type, so it holds no Google credentials",
            path.display()
        ))),
    }
    .map(Some)
}

/// The fields of a file.
pub(super) struct Fields {
    map: Map<String, Value>,
}

impl Fields {
    pub(super) fn optional(&self, name: &str) -> Option<&str> {
        self.map
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
    }

    pub(super) fn text(&self, name: &str) -> Result<String> {
        self.optional(name)
            .map(str::to_owned)
            .ok_or_else(|| unusable(format!("the file has no {name}")))
    }

    pub(super) fn secret(&self, name: &str) -> Result<Secret> {
        self.text(name).map(|text| Secret::new(&text))
    }

    pub(super) fn token_uri(&self) -> Result<Url> {
        safe_url("token_uri", self.optional("token_uri").unwrap_or(TOKEN_URI))
    }
}
