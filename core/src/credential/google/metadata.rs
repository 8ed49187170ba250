//! The metadata server of Google Cloud.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};

use super::grant;
use crate::credential::access_token::AccessToken;
use crate::credential::refresher::Clock;
use crate::credential::request::{Request, http_url, json};
use crate::credential::trail::{Search, unusable};
use crate::error::Result;
use crate::provider::Environment;

pub(super) const NAME: &str = "metadata server";

const HOST: &str = "metadata.google.internal";
const PATH: &str = "computeMetadata/v1/instance/service-accounts/default/token";
const FLAVOR: HeaderName = HeaderName::from_static("metadata-flavor");
const DISABLED: &str = "NO_GCE_CHECK";

/// There is no such server on most machines, and some networks answer for names that nobody has.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Asks the server for a token of the machine's account. Whatever goes wrong means that there is none.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for an address that is none.
pub(super) async fn find(environment: &Environment, clock: &Clock) -> Result<Search<AccessToken>> {
    let disabled = environment.get(DISABLED);
    if disabled.is_some_and(|text| text.trim().eq_ignore_ascii_case("true")) {
        return Ok(Search::Absent(format!("{DISABLED} is true")));
    }
    let host = ["GCE_METADATA_HOST", "GCE_METADATA_ROOT"]
        .iter()
        .find_map(|name| environment.get(name))
        .unwrap_or_else(|| HOST.to_owned());
    let url = http_url(
        "GCE_METADATA_HOST",
        &format!("http://{}/{PATH}", host.trim()),
    )?;
    let mut request = Request::nearby(Method::GET, url, TIMEOUT);
    request
        .headers
        .insert(FLAVOR, HeaderValue::from_static("Google"));
    Ok(match token(request, clock).await {
        Ok(token) => Search::Found(token),
        Err(problem) => Search::Absent(problem.message().to_owned()),
    })
}

async fn token(request: Request, clock: &Clock) -> Result<AccessToken> {
    let asked = clock();
    let service = "the metadata server";
    let mut reply = request.clone().once().await?;
    if reply.status >= 500 {
        // It is there, so it is worth waiting for.
        reply = request.send().await?;
    }
    // Another server at this address must not be taken for Google's.
    if reply
        .headers
        .get(FLAVOR)
        .is_none_or(|flavor| flavor != "Google")
    {
        return Err(unusable(
            "what answers there is not Google's metadata server",
        ));
    }
    if reply.status == 404 {
        return Err(unusable("the machine has no service account"));
    }
    grant::read(service, &json(service, &reply, &[])?, asked)
}
