//! Variables by which programs find their proxy, and what they trust.

/// The port of a child's own loopback address that is relayed to the gateway.
pub const PROXY_PORT: u16 = 3128;

/// Names under which programs look for certificate authorities.
const TRUST: &[&str] = &[
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "DENO_CERT",
    "BUNDLE_SSL_CA_CERT",
];

/// Variables that send a child's requests to the relay on its loopback address.
#[must_use]
pub fn proxy_environment() -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let own = "localhost,127.0.0.1,::1";
    let mut variables: Vec<(String, String)> = Vec::new();
    for name in ["HTTP_PROXY", "HTTPS_PROXY"] {
        variables.push((name.into(), proxy.clone()));
        variables.push((name.to_ascii_lowercase(), proxy.clone()));
    }
    variables.push(("NO_PROXY".into(), own.into()));
    variables.push(("no_proxy".into(), own.into()));
    // Node.js looks at the others only when told to.
    variables.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
    variables
}

/// Variables that have a child trust the authorities in this file, a path as the child sees it.
pub(super) fn trust_environment(path: &str) -> Vec<(String, String)> {
    TRUST
        .iter()
        .map(|name| ((*name).to_owned(), path.to_owned()))
        .collect()
}
