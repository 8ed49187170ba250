//! JSON Web Tokens, signed with a key of a service account.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

use crate::credential::trail::unusable;
use crate::error::{Error, Result};
use crate::provider::Secret;

/// The token that says `claims`, by RS256.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for a key that is none.
pub(super) fn sign(key: &Secret, key_id: Option<&str>, claims: &Value) -> Result<Secret> {
    let mut header = json!({"alg": "RS256", "typ": "JWT"});
    if let (Some(id), Value::Object(header)) = (key_id, &mut header) {
        header.insert("kid".into(), json!(id));
    }
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encode(&header), encode(claims));
    let key = pair(key.expose())?;
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(
        &RSA_PKCS1_SHA256,
        &SystemRandom::new(),
        message.as_bytes(),
        &mut signature,
    )
    .map_err(|_| unreadable())?;
    let signature = URL_SAFE_NO_PAD.encode(signature);
    Ok(Secret::new(&format!("{message}.{signature}")))
}

/// The key in a PEM text, as PKCS #8 or PKCS #1.
fn pair(pem: &str) -> Result<RsaKeyPair> {
    let inside = |label: &str| {
        let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
        let (inside, _) = rest.split_once(&format!("-----END {label}-----"))?;
        let digits: String = inside.split_whitespace().collect();
        STANDARD.decode(digits).ok()
    };
    if let Some(der) = inside("PRIVATE KEY") {
        return RsaKeyPair::from_pkcs8(&der).map_err(|_| unreadable());
    }
    let der = inside("RSA PRIVATE KEY").ok_or_else(unreadable)?;
    RsaKeyPair::from_der(&der).map_err(|_| unreadable())
}

fn unreadable() -> Error {
    unusable("private_key is no RSA key of at least 2048 bits in PEM format")
}
