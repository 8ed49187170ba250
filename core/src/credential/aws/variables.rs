//! The environment variables that lead to AWS credentials.

use crate::provider::Environment;

/// Every variable that is read here.
pub(crate) const VARIABLES: &[&str] = &[
    "HOME",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_CREDENTIAL_EXPIRATION",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ENDPOINT_URL_SSO",
    "AWS_ENDPOINT_URL_SSO_OIDC",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
];

/// The address of a service of AWS, if the environment names another than the usual one; with the
/// name of the variable.
pub(super) fn endpoint(
    environment: &Environment,
    service: &'static str,
) -> Option<(&'static str, String)> {
    if flag(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
        return None;
    }
    [service, "AWS_ENDPOINT_URL"]
        .into_iter()
        .find_map(|name| Some((name, environment.get(name)?)))
}

/// Whether a variable says yes.
pub(super) fn flag(environment: &Environment, name: &str) -> bool {
    environment
        .get(name)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}
