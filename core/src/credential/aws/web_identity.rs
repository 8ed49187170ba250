//! The role of a workload, proven by a token in a file that its platform renews.

use std::path::Path;

use super::ini::Section;
use super::profiles::expand;
use super::role::setting;
use super::sts::{Role, Sts};
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::file;
use crate::credential::trail::{Search, unusable};
use crate::error::Result;
use crate::provider::{Environment, Secret};

pub(super) const NAME: &str = "web identity";

/// Takes the role of the environment, unless `with_variables` is false, or of the profile.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for a token without a role, a file that cannot
/// be read, or what STS said.
pub(super) async fn find(
    environment: &Environment,
    section: Option<&Section>,
    with_variables: bool,
    sts: impl Fn() -> Result<Sts>,
) -> Result<Search<AwsCredentials>> {
    let find = |variable: &str, key: &str| {
        let variable = with_variables.then(|| environment.get(variable)).flatten();
        let configured = || section.and_then(|section| setting(section, key).map(str::to_owned));
        variable.or_else(configured)
    };
    let Some(path) = find("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file") else {
        return Ok(Search::Absent(
            "AWS_WEB_IDENTITY_TOKEN_FILE is not set".into(),
        ));
    };
    let Some(arn) = find("AWS_ROLE_ARN", "role_arn") else {
        return Err(unusable(
            "there is a token file but no role: set AWS_ROLE_ARN, or role_arn in the profile",
        ));
    };
    let role = Role {
        arn,
        session_name: find("AWS_ROLE_SESSION_NAME", "role_session_name"),
        ..Role::default()
    };
    let token = Secret::new(&file::text(expand(environment, Path::new(&path))).await?);
    let keys = sts()?.assume_role_with_web_identity(&role, &token).await?;
    Ok(Search::Found(keys))
}
