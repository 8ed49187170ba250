//! AWS Signature Version 4 in the headers of a request.

use std::collections::BTreeMap;
use std::time::SystemTime;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use ring::{digest, hmac};

use super::aws_credentials::AwsCredentials;
use super::timestamp;
use crate::error::{Error, ErrorKind, Result};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature is good for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    /// When it is made. Services accept it for a few minutes.
    pub(crate) at: SystemTime,
}

/// Adds `x-amz-date`, `x-amz-security-token` for temporary keys, and `authorization` to `headers`.
///
/// Of the headers, `content-type`, `host` and those of AWS are signed: proxies may change others.
///
/// # Errors
/// [`ErrorKind::Credential`] for keys that a header cannot carry.
pub(crate) fn sign(
    method: &str,
    url: &Url,
    headers: &mut HeaderMap,
    body: &[u8],
    keys: &AwsCredentials,
    scope: Scope<'_>,
) -> Result<()> {
    let time = timestamp::compact(scope.at);
    let date = time.split('T').next().unwrap_or_default();
    headers.insert(HeaderName::from_static("x-amz-date"), header(&time)?);
    if let Some(token) = keys.token() {
        let name = HeaderName::from_static("x-amz-security-token");
        headers.insert(name, secret_header(token.expose())?);
    }
    let signed = signed_headers(url, headers);
    let names: Vec<&str> = signed.keys().map(String::as_str).collect();
    let names = names.join(";");
    let lines: String = signed
        .iter()
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let canonical = format!(
        "{method}\n{}\n{}\n{lines}\n{names}\n{}",
        encode(url.path(), true),
        canonical_query(url),
        sha256(body)
    );
    let credential_scope = format!("{date}/{}/{}/aws4_request", scope.region, scope.service);
    let to_sign = format!(
        "{ALGORITHM}\n{time}\n{credential_scope}\n{}",
        sha256(canonical.as_bytes())
    );
    let secret = format!("AWS4{}", keys.secret_access_key().expose());
    let key = [scope.region, scope.service, "aws4_request"]
        .iter()
        .fold(mac(secret.as_bytes(), date), |key, part| {
            mac(key.as_ref(), part)
        });
    let signature = hex(mac(key.as_ref(), &to_sign).as_ref());
    let authorization = format!(
        "{ALGORITHM} Credential={}/{credential_scope}, SignedHeaders={names}, \
         Signature={signature}",
        keys.access_key_id().expose()
    );
    headers.insert(AUTHORIZATION, secret_header(&authorization)?);
    Ok(())
}

fn signed_headers(url: &Url, headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut signed = BTreeMap::new();
    for name in headers.keys() {
        if name != "content-type" && !name.as_str().starts_with("x-amz-") {
            continue;
        }
        let values: Vec<String> = headers
            .get_all(name)
            .iter()
            .map(|value| collapse(&String::from_utf8_lossy(value.as_bytes())))
            .collect();
        signed.insert(name.as_str().to_owned(), values.join(","));
    }
    let host = url.host_str().unwrap_or_default();
    let host = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    signed.insert("host".to_owned(), host);
    signed
}

/// One space for each run of white space.
fn collapse(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names and values as they are sent, sorted.
fn canonical_query(url: &Url) -> String {
    let mut pairs: Vec<String> = url
        .query_pairs()
        .map(|(name, value)| format!("{}={}", encode(&name, false), encode(&value, false)))
        .collect();
    pairs.sort_unstable();
    pairs.join("&")
}

/// Encodes all but unreserved characters. A path is encoded once more than it is sent, as every
/// service but S3 expects.
fn encode(text: &str, path: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            b'/' if path => encoded.push('/'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn mac(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn secret_header(text: &str) -> Result<HeaderValue> {
    let mut value = header(text)?;
    value.set_sensitive(true);
    Ok(value)
}

fn header(text: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(text).map_err(|_| {
        Error::new(
            ErrorKind::Credential,
            "the AWS keys, their token or the region contain characters that a header cannot \
             carry, such as a line break",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    /// The example keys and time of AWS's own signature tests.
    fn signed(method: &str, url: &str, token: &str, content_type: &str, body: &[u8]) -> HeaderMap {
        let url = Url::parse(url).unwrap();
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert("content-type", content_type.parse().unwrap());
        }
        headers.insert("user-agent", "little-ghost".parse().unwrap());
        let keys = AwsCredentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
            .session_token(token);
        let scope = Scope {
            region: "us-east-1",
            service: "service",
            at: UNIX_EPOCH + Duration::from_secs(1_440_938_160),
        };
        sign(method, &url, &mut headers, body, &keys, scope).unwrap();
        headers
    }

    fn signature(headers: &HeaderMap) -> &str {
        let authorization = headers["authorization"].to_str().unwrap();
        authorization.rsplit("Signature=").next().unwrap()
    }

    #[test]
    fn signatures_are_those_of_the_published_examples() {
        // get-vanilla, get-vanilla-query-order-key-case and post-x-www-form-urlencoded.
        let headers = signed("GET", "https://example.amazonaws.com/", "", "", b"");
        assert_eq!(
            headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert!(headers["authorization"].is_sensitive());
        let url = "https://example.amazonaws.com/?Param2=value2&Param1=value1";
        assert_eq!(
            signature(&signed("GET", url, "", "", b"")),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        );
        let form = "application/x-www-form-urlencoded";
        let url = "https://example.amazonaws.com/";
        assert_eq!(
            signature(&signed("POST", url, "", form, b"Param1=value1")),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
    }

    #[test]
    fn a_token_is_signed_and_secret() {
        let headers = signed("GET", "https://example.amazonaws.com/", "session", "", b"");
        assert!(headers["x-amz-security-token"].is_sensitive());
        let authorization = headers["authorization"].to_str().unwrap();
        assert!(authorization.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"));
    }

    #[test]
    fn encoded_paths_are_encoded_once_more() {
        let url =
            Url::parse("https://a.test/model/vendor.model%3A0/converse?a=b%20c&a=%2F").unwrap();
        assert_eq!(
            encode(url.path(), true),
            "/model/vendor.model%253A0/converse"
        );
        assert_eq!(canonical_query(&url), "a=%2F&a=b%20c");
    }

    #[test]
    fn keys_that_no_header_can_carry_are_an_error() {
        let keys = AwsCredentials::new("AKID\nEXAMPLE", "hush-hush");
        let scope = Scope {
            region: "us-east-1",
            service: "sts",
            at: UNIX_EPOCH,
        };
        let url = Url::parse("https://a.test/").unwrap();
        let error = sign("GET", &url, &mut HeaderMap::new(), b"", &keys, scope).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Credential);
        assert!(!error.message().contains("hush"));
    }
}
