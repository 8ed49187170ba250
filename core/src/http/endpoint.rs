//! Where a provider connection sends its requests.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use reqwest::Url;

use crate::error::{Error, ErrorKind, Result};

/// A checked URL, with the names that error messages use for it. Cheap to clone: every request has some.
#[derive(Clone)]
pub(crate) struct Endpoint(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    url: Url,
    path: String,
    connection: String,
    address: String,
    loopback: bool,
    /// The option of the connection that says where it is, for messages.
    location: &'static str,
    /// The option of the connection that proves who asks, for messages.
    proof: &'static str,
    /// Whether the connection has the option `api`, for messages.
    format: bool,
}

impl Endpoint {
    /// Joins `path` to `base_url`, whose query survives, and checks that the transport is safe.
    ///
    /// HTTPS is required unless `allow_insecure_http`, because prompts and keys travel in the
    /// request. Plain HTTP to a loopback address is always allowed: those bytes never leave the
    /// machine, local model servers rarely have certificates, and asking every developer for the
    /// unsafe option would teach them to set it in production too. Such requests bypass proxies,
    /// which would carry them off the machine.
    pub(crate) fn new(
        connection: &str,
        base_url: &str,
        path: &str,
        allow_insecure_http: bool,
    ) -> Result<Self> {
        Self::named("base_url", connection, base_url, path, allow_insecure_http)
    }

    /// As [`new`](Self::new), where the option `location` of the connection is the base.
    pub(crate) fn named(
        location: &'static str,
        connection: &str,
        base_url: &str,
        path: &str,
        allow_insecure_http: bool,
    ) -> Result<Self> {
        let invalid = |problem: &str| {
            Error::new(
                ErrorKind::Configuration,
                format!(
                    "{location} of connection {connection:?} {problem}; \
                     expected a URL such as \"https://api.example.com/v1\""
                ),
            )
        };
        let mut url = Url::parse(base_url.trim()).map_err(|_| invalid("is not a URL"))?;
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or_else(|| invalid("has no host"))?
            .to_owned();
        let loopback = is_loopback(&host);
        match url.scheme() {
            "https" => {}
            "http" if loopback || allow_insecure_http => {}
            "http" => {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "{location} of connection {connection:?} uses plain http to {host}, which \
                         sends prompts and keys in the clear: use https, or set \
                         allow_insecure_http when the network is trusted"
                    ),
                ));
            }
            _ => return Err(invalid("is neither https nor http")),
        }
        url.set_fragment(None);
        let joined = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&joined);
        let port = url.port_or_known_default().unwrap_or(443);
        Ok(Self(Arc::new(Parts {
            connection: connection.into(),
            path: path.into(),
            address: format!("{host}:{port}"),
            url,
            loopback,
            location,
            proof: "api_key",
            format: false,
        })))
    }

    /// The endpoint with one more parameter in its query.
    #[must_use]
    pub(crate) fn with_query(mut self, name: &str, value: &str) -> Self {
        let parts = Arc::make_mut(&mut self.0);
        parts.url.query_pairs_mut().append_pair(name, value);
        self
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0.url
    }

    /// The path below the base URL, with the query.
    pub(crate) fn relative(&self) -> String {
        match self.0.url.query() {
            Some(query) => format!("{}?{query}", self.0.path),
            None => self.0.path.clone(),
        }
    }

    /// The application's name for the connection.
    pub(crate) fn connection(&self) -> &str {
        &self.0.connection
    }

    /// The endpoint whose requests are proved by another option than `api_key`.
    #[must_use]
    pub(crate) fn with_proof(mut self, option: &'static str) -> Self {
        Arc::make_mut(&mut self.0).proof = option;
        self
    }

    /// The endpoint of a connection whose option `api` chooses the wire format.
    #[must_use]
    pub(crate) fn with_choice_of_format(mut self) -> Self {
        Arc::make_mut(&mut self.0).format = true;
        self
    }

    /// Whether the connection's option `api` chooses the wire format.
    pub(crate) fn has_choice_of_format(&self) -> bool {
        self.0.format
    }

    /// The option of the connection that proves who asks.
    pub(crate) fn proof(&self) -> &'static str {
        self.0.proof
    }

    /// The option of the connection that says where it is.
    pub(crate) fn location(&self) -> &'static str {
        self.0.location
    }

    /// `host:port`, for messages.
    pub(crate) fn address(&self) -> &str {
        &self.0.address
    }

    /// Whether the host is this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.0.loopback
    }

    /// Whether requests must not go through a proxy.
    pub(crate) fn is_direct(&self) -> bool {
        self.0.loopback
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL itself may hold credentials in its user part or query.
        write!(
            formatter,
            "Endpoint({}://{}{})",
            self.0.url.scheme(),
            self.0.address,
            self.0.url.path()
        )
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback(),
        Ok(IpAddr::V6(address)) => {
            address == Ipv6Addr::LOCALHOST
                || address
                    .to_ipv4_mapped()
                    .is_some_and(|mapped| mapped.is_loopback())
        }
        Err(_) => {
            let name = bare.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base: &str) -> Result<Endpoint> {
        Endpoint::new("primary", base, "chat/completions", false)
    }

    #[test]
    fn paths_are_joined_with_or_without_a_slash_and_keep_a_query() {
        for (base, expected) in [
            ("https://a.test/v1", "https://a.test/v1/chat/completions"),
            ("https://a.test/v1/", "https://a.test/v1/chat/completions"),
            ("https://a.test", "https://a.test/chat/completions"),
            (
                "https://a.test/v1?api-version=2#x",
                "https://a.test/v1/chat/completions?api-version=2",
            ),
        ] {
            assert_eq!(endpoint(base).unwrap().url().as_str(), expected);
        }
    }

    #[test]
    fn parameters_are_added_to_the_query() {
        let endpoint = endpoint("https://a.test/v1?x=1").unwrap();
        assert_eq!(
            endpoint.with_query("page", "a b&c").url().as_str(),
            "https://a.test/v1/chat/completions?x=1&page=a+b%26c"
        );
    }

    #[test]
    fn plain_http_is_for_this_machine_only() {
        for host in [
            "localhost",
            "LOCALHOST",
            "api.localhost",
            "127.0.0.1",
            "127.9.8.7",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            let endpoint = endpoint(&format!("http://{host}:8080/v1")).unwrap();
            assert!(endpoint.is_direct(), "{host}");
        }
        for host in [
            "example.test",
            "10.0.0.1",
            "localhost.example.test",
            "0.0.0.0",
            "[::2]",
        ] {
            let error = endpoint(&format!("http://{host}/v1")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{host}");
            assert!(error.message().contains("allow_insecure_http"), "{error}");
            assert!(Endpoint::new("p", &format!("http://{host}/"), "x", true).is_ok());
        }
    }

    #[test]
    fn nonsense_is_a_configuration_error() {
        for base in ["", "api.example.com/v1", "ftp://a.test", "https://"] {
            let error = endpoint(base).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{base:?}");
            assert!(error.message().contains("\"primary\""));
        }
    }

    #[test]
    fn debug_hides_credentials_in_the_url() {
        let endpoint = endpoint("https://user:hush@a.test/v1?key=hush").unwrap();
        assert!(!format!("{endpoint:?}").contains("hush"));
    }
}
