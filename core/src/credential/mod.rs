//! Credentials that are found and renewed while the application runs.
//!
//! [`AwsCredentialSource`] and [`GoogleTokenSource`] are what providers ask before each request.
//! [`AwsCredentialChain`] and [`GoogleTokenChain`] look in the usual places; applications may
//! implement the traits themselves, for example over a secret manager.

mod access_token;
mod aws;
mod aws_credentials;
mod file;
mod google;
mod refresher;
#[cfg(test)]
mod refresher_tests;
mod remembered;
mod request;
pub(crate) mod sigv4;
#[cfg(test)]
mod test_support;
mod timestamp;
mod trail;

pub use access_token::{AccessToken, GoogleTokenSource};
pub use aws::AwsCredentialChain;
pub(crate) use aws::dns_suffix;
pub use aws_credentials::{AwsCredentialSource, AwsCredentials};
pub use google::GoogleTokenChain;

/// Names of the variables that the chains read.
pub(crate) mod variables {
    pub(crate) use super::aws::VARIABLES as AWS;
    pub(crate) use super::google::VARIABLES as GOOGLE;
}
