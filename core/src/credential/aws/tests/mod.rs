//! Tests of the sources together, against loopback servers.

mod metadata;
mod profile;
mod signed_in;
mod sources;

use crate::credential::aws::AwsCredentialChain;
use crate::credential::aws_credentials::{AwsCredentialSource as _, AwsCredentials};
use crate::credential::test_support::{Home, environment};
use crate::error::{Error, Result};

/// The keys that the variables, and no metadata service, lead to.
async fn find(home: &Home, variables: &[(&str, &str)]) -> Result<AwsCredentials> {
    chain(home, variables).credentials(None).await
}

fn chain(home: &Home, variables: &[(&str, &str)]) -> AwsCredentialChain {
    let mut all = vec![
        ("HOME", home.path().to_str().unwrap()),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    all.extend(variables);
    AwsCredentialChain::new(environment(&all))
}

/// The id of the keys.
fn id(found: Result<AwsCredentials>) -> String {
    found.unwrap().access_key_id().expose().to_owned()
}

/// The failure, of which every part is in its message.
fn failure(found: Result<AwsCredentials>, parts: &[&str]) -> Error {
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

/// An answer of STS.
fn role_keys(action: &str, id: &str) -> String {
    format!(
        "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result>\
         <Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>hush-role</SecretAccessKey>\
         <SessionToken>hush-session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>\
         </Credentials></{action}Result></{action}Response>"
    )
}
