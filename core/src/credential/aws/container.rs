//! The service next to a container of ECS or EKS.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Url};

use super::document;
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::file;
use crate::credential::request::{Request, address, http_url, is_loopback, json};
use crate::credential::trail::{Search, unusable};
use crate::error::Result;
use crate::provider::{Environment, Secret};

pub(super) const NAME: &str = "container";

const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const TOKEN: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
const TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";

const TIMEOUT: Duration = Duration::from_secs(2);

/// Where ECS answers.
const ECS: IpAddr = IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2));
/// Where EKS does.
const EKS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
];

/// Asks the service, when the environment says that there is one.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for an address that must not be asked, and what
/// the service said.
pub(super) async fn find(environment: &Environment) -> Result<Search<AwsCredentials>> {
    let Some(url) = url(environment)? else {
        return Ok(Search::Absent(format!(
            "neither {RELATIVE} nor {FULL} is set"
        )));
    };
    let mut request = Request::nearby(Method::GET, url, TIMEOUT);
    request
        .headers
        .insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some((token, variable)) = token(environment).await? {
        request = request.header("authorization", &token, variable)?;
    }
    let service = "the container's credential service";
    let answer = json(service, &request.send().await?, &[])?;
    document::keys(service, &answer).map(Search::Found)
}

async fn token(environment: &Environment) -> Result<Option<(Secret, &'static str)>> {
    if let Some(path) = environment.get(TOKEN_FILE) {
        // It is read each time, because the platform renews it.
        let text = file::text(PathBuf::from(path)).await?;
        return Ok(Some((Secret::new(&text), TOKEN_FILE)));
    }
    Ok(environment
        .get(TOKEN)
        .map(|token| (Secret::new(&token), TOKEN)))
}

fn url(environment: &Environment) -> Result<Option<Url>> {
    if let Some(path) = environment.get(RELATIVE) {
        // Anything else could end in another host's name.
        if !path.starts_with('/') {
            return Err(unusable(format!("{RELATIVE} must begin with a slash")));
        }
        return http_url(RELATIVE, &format!("http://{ECS}{path}")).map(Some);
    }
    let Some(full) = environment.get(FULL) else {
        return Ok(None);
    };
    let url = http_url(FULL, &full)?;
    let known = address(&url).is_some_and(|address| address == ECS || EKS.contains(&address));
    if url.scheme() == "http" && !known && !is_loopback(&url) {
        return Err(unusable(format!(
            "{FULL} uses plain http to {}, which is allowed for this machine, {ECS}, {} and {} only",
            url.host_str().unwrap_or_default(),
            EKS[0],
            EKS[1]
        )));
    }
    Ok(Some(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address_of(name: &'static str, value: &'static str) -> Result<Option<Url>> {
        url(&Environment::new(move |asked| {
            (asked == name).then(|| value.to_owned())
        }))
    }

    #[test]
    fn relative_addresses_stay_with_the_one_host() {
        let url = address_of(RELATIVE, "/v2/credentials?id=1")
            .unwrap()
            .unwrap();
        assert_eq!(url.as_str(), "http://169.254.170.2/v2/credentials?id=1");
        for path in ["@evil.test/x", ".evil.test/x", "x"] {
            assert!(address_of(RELATIVE, path).is_err(), "{path}");
        }
    }

    #[test]
    fn full_addresses_are_near_or_secure() {
        for url in [
            "http://127.0.0.1:80/x",
            "http://localhost/x",
            "http://[::1]/x",
            "http://169.254.170.2/x",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
            "https://credentials.example.test/x",
        ] {
            assert!(address_of(FULL, url).unwrap().is_some(), "{url}");
        }
        for url in [
            "http://169.254.169.254/x",
            "http://10.0.0.1/x",
            "http://evil.test/x",
            "x",
        ] {
            let error = address_of(FULL, url).unwrap_err();
            assert!(error.message().contains(FULL), "{error}");
        }
        assert!(url(&Environment::empty()).unwrap().is_none());
    }
}
