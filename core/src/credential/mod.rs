//! Credentials that are found and renewed while the application runs.
//!
//! [`AwsCredentialSource`] and [`GoogleTokenSource`] are what providers ask before each request.
//! Applications may implement them, for example over a secret manager.

mod access_token;
mod aws_credentials;
mod refresher;
#[cfg(test)]
mod refresher_tests;
pub(crate) mod sigv4;
mod timestamp;

pub use access_token::{AccessToken, GoogleTokenSource};
pub use aws_credentials::{AwsCredentialSource, AwsCredentials};
