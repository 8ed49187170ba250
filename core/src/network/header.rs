//! Names and values of HTTP headers, and which of them nobody but the gateway may touch.

/// Longest value that a decision may set.
const VALUE_BYTES: usize = 8_192;

/// Headers that belong to one hop or frame a message. Changing one could smuggle a second request past the gateway.
const PROTECTED: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The name in lower case, or what is wrong with it.
pub(crate) fn normalized(name: &str) -> Result<String, String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > 256 || !name.bytes().all(token) {
        return Err(format!("{name:?} is no name of an HTTP header"));
    }
    Ok(name.to_ascii_lowercase())
}

/// The name in lower case if a decision may change that header, or what is wrong with it.
pub(crate) fn mutable(name: &str) -> Result<String, String> {
    let name = normalized(name)?;
    if PROTECTED.contains(&name.as_str()) || name.starts_with("x-envoy-") {
        return Err(format!(
            "the header {name:?} belongs to the connection or frames the message, so only the gateway sets it"
        ));
    }
    Ok(name)
}

/// Refuses a value that could end its line. The value may be a secret, so the complaint does not repeat it.
pub(crate) fn check_value(name: &str, value: &str) -> Result<(), String> {
    if value.len() > VALUE_BYTES {
        return Err(format!(
            "the value of the header {name:?} is longer than {VALUE_BYTES} bytes"
        ));
    }
    if value.chars().any(|char| char.is_control() && char != '\t') {
        return Err(format!(
            "the value of the header {name:?} contains control characters"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case() {
        assert_eq!(normalized("X-Request-Id").unwrap(), "x-request-id");
        for name in ["", "a b", "a:b", "é", "a\r\nb"] {
            assert!(normalized(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn what_frames_a_message_is_protected() {
        for name in [
            "Host",
            "Content-Length",
            "TE",
            "X-Envoy-Auth-Headers-To-Remove",
        ] {
            assert!(
                mutable(name).unwrap_err().contains("only the gateway"),
                "{name}"
            );
        }
        assert_eq!(mutable("Authorization").unwrap(), "authorization");
    }

    #[test]
    fn a_value_cannot_end_its_line_and_is_not_repeated() {
        let complaint = check_value("authorization", "secret\r\nhost: evil").unwrap_err();
        assert!(!complaint.contains("secret"));
        assert!(check_value("a", &"x".repeat(8_193)).is_err());
        assert!(check_value("a", "b\tc é").is_ok());
    }
}
