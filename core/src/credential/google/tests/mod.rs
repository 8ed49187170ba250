//! Tests of the sources together, against loopback servers. The keys were made for these tests and open nothing.

mod files;
mod machine;

use crate::credential::access_token::{AccessToken, GoogleTokenSource as _};
use crate::credential::google::GoogleTokenChain;
use crate::credential::test_support::{Home, environment};
use crate::error::{Error, Result};

const PKCS1: &str = include_str!("pkcs1.pem");
const PKCS8: &str = include_str!("pkcs8.pem");

/// The token that the variables, and no metadata server, lead to.
async fn find(home: &Home, variables: &[(&str, &str)]) -> Result<AccessToken> {
    let mut all = vec![
        ("HOME", home.path().to_str().unwrap()),
        ("NO_GCE_CHECK", "true"),
    ];
    all.extend(variables);
    GoogleTokenChain::new(environment(&all))
        .access_token(None)
        .await
}

/// The failure, of which every part is in its message.
fn failure(found: Result<AccessToken>, parts: &[&str]) -> Error {
    let error = found.unwrap_err();
    for part in parts {
        assert!(
            error.message().contains(part),
            "{part:?} is not in: {error}"
        );
    }
    assert!(!error.message().contains("hush"), "{error}");
    error
}
