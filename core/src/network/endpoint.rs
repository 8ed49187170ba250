//! One destination of an allowlist.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};

/// A DNS name and a port, such as `api.example.com:443`. Nothing stands for more than itself: there are no wildcards.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    host: String,
    port: u16,
}

impl Endpoint {
    /// Reads `host:port`.
    ///
    /// # Errors
    /// [`ErrorKind::Policy`] for a missing port, an address in place of a name, a wildcard, or no DNS name at all.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::new(
                ErrorKind::Policy,
                format!(
                    "the gateway cannot allow {text:?}: {what}; write it as \"api.example.com:443\""
                ),
            )
        };
        let (host, port) = text
            .rsplit_once(':')
            .ok_or_else(|| wrong("it has no port"))?;
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port
            .parse()
            .ok()
            .filter(|port| digits && *port > 0)
            .ok_or_else(|| wrong("its port is no number from 1 to 65535"))?;
        let host = host.to_ascii_lowercase();
        let last = host.rsplit('.').next().unwrap_or_default();
        if host.contains(['[', ':'])
            || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Err(wrong("it is an address, not a DNS name"));
        }
        if host.len() > 253 || !host.split('.').all(is_label) {
            return Err(wrong("it is no DNS name"));
        }
        Ok(Self { host, port })
    }

    /// The name in lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

fn is_label(label: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len())
        && label.bytes().all(allowed)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_ports_are_endpoints() {
        let endpoint = Endpoint::parse("API.Example.com:443").unwrap();
        assert_eq!(endpoint.to_string(), "api.example.com:443");
        assert_eq!(Endpoint::parse("localhost:8080").unwrap().port(), 8_080);
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "example.com",
            "example.com:",
            "example.com:0",
            "example.com:65536",
            "example.com:+1",
            ":443",
            "127.0.0.1:443",
            "[::1]:443",
            "::1:443",
            "2130706433:80",
            "*.example.com:443",
            "*:443",
            "example.com.:443",
            "-a.com:443",
            "a-.com:443",
            "a..com:443",
            "exa mple.com:443",
            "https://example.com:443",
            "é.com:443",
            "user@example.com:443",
            "example.com:443\n",
        ] {
            assert_eq!(
                Endpoint::parse(text).unwrap_err().kind(),
                ErrorKind::Policy,
                "{text:?}"
            );
        }
        let long = format!("{}:1", ["a".repeat(63).as_str(); 4].join("."));
        assert!(Endpoint::parse(&long).is_err());
        assert!(Endpoint::parse(&format!("{}.com:1", "a".repeat(64))).is_err());
    }
}
