//! Profiles that are roles: whom to ask for keys, and which roles to take with them.

use super::ini::Section;
use super::profiles::Profiles;
use super::sts::Role;
use crate::credential::trail::unusable;
use crate::error::Result;

/// Roles to take one after the other.
#[derive(Debug)]
pub(super) struct Plan {
    /// The first one is taken with the keys of `base`, each other one with those of its predecessor.
    pub(super) roles: Vec<Role>,
    pub(super) base: Base,
}

/// Where the first keys come from.
#[derive(Debug, PartialEq)]
pub(super) enum Base {
    /// A profile that is no role.
    Profile(String),
    Environment,
    Container,
    Instance,
}

/// What to do for `profile`; nothing when it is no role.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for settings that lead nowhere.
pub(super) fn plan(profiles: &Profiles, profile: &str) -> Result<Option<Plan>> {
    let mut roles = Vec::new();
    let mut visited = vec![profile.to_owned()];
    let mut name = profile.to_owned();
    loop {
        let Some(section) = profiles
            .merged
            .get(&name)
            .filter(|section| is_role(section))
        else {
            return Ok(None);
        };
        roles.push(role(&name, section)?);
        let base = match (
            setting(section, "source_profile"),
            setting(section, "credential_source"),
        ) {
            (Some(_), Some(_)) => {
                return Err(unusable(format!(
                    "profile {name:?} has both source_profile and credential_source; remove one"
                )));
            }
            (None, None) => {
                return Err(unusable(format!(
                    "profile {name:?} has a role_arn, but neither source_profile nor \
                     credential_source says with which keys to take the role"
                )));
            }
            (None, Some(source)) => named_source(&name, source)?,
            (Some(source), None) => {
                let Some(next) = profiles.merged.get(source) else {
                    return Err(unusable(format!(
                        "source_profile {source:?} of profile {name:?} is not in {}",
                        profiles.places
                    )));
                };
                // A profile may name itself, to take a role with its own keys.
                let seen = visited.iter().any(|visited| visited == source);
                if seen && !(source == name && has_keys(next)) {
                    return Err(unusable(format!(
                        "the source_profile of profile {name:?} leads in a circle: {} -> {source}",
                        visited.join(" -> ")
                    )));
                }
                if is_role(next) && !has_keys(next) {
                    visited.push(source.to_owned());
                    name = source.to_owned();
                    continue;
                }
                Base::Profile(source.to_owned())
            }
        };
        roles.reverse();
        return Ok(Some(Plan { roles, base }));
    }
}

fn role(name: &str, section: &Section) -> Result<Role> {
    if setting(section, "mfa_serial").is_some() {
        return Err(unusable(format!(
            "profile {name:?} needs a code of {} (mfa_serial), which nobody can be asked for here; \
             get temporary keys with the AWS CLI, or use credential_process",
            setting(section, "mfa_serial").unwrap_or_default()
        )));
    }
    let text = |key: &str| setting(section, key).map(str::to_owned);
    Ok(Role {
        arn: text("role_arn").unwrap_or_default(),
        session_name: text("role_session_name"),
        external_id: text("external_id"),
        duration_seconds: setting(section, "duration_seconds").and_then(|text| text.parse().ok()),
    })
}

fn named_source(profile: &str, source: &str) -> Result<Base> {
    match source.to_ascii_lowercase().as_str() {
        "environment" => Ok(Base::Environment),
        "ecscontainer" => Ok(Base::Container),
        "ec2instancemetadata" => Ok(Base::Instance),
        _ => Err(unusable(format!(
            "credential_source {source:?} of profile {profile:?} must be Environment, EcsContainer \
             or Ec2InstanceMetadata"
        ))),
    }
}

/// Whether a profile takes a role with keys, rather than with a web identity.
pub(super) fn is_role(section: &Section) -> bool {
    setting(section, "role_arn").is_some() && setting(section, "web_identity_token_file").is_none()
}

fn has_keys(section: &Section) -> bool {
    ["aws_access_key_id", "aws_secret_access_key"]
        .iter()
        .any(|key| setting(section, key).is_some())
}

/// A setting that is not blank.
pub(super) fn setting<'a>(section: &'a Section, key: &str) -> Option<&'a str> {
    section
        .get(key)
        .map(|value| value.trim())
        .filter(|value| !value.is_empty())
}
