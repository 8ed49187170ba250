//! Regions, and the names of the hosts in them.

use super::profiles::Profiles;
use crate::credential::trail::unusable;
use crate::error::Result;
use crate::provider::Environment;

/// Partitions other than the public one, by the beginning of their regions' names.
const SUFFIXES: &[(&str, &str)] = &[
    ("cn-", "amazonaws.com.cn"),
    ("us-iso-", "c2s.ic.gov"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("eusc-", "amazonaws.eu"),
];

/// What the names of hosts in `region` end with, such as `amazonaws.com`.
pub(crate) fn dns_suffix(region: &str) -> &'static str {
    SUFFIXES
        .iter()
        .find(|(prefix, _)| region.starts_with(prefix))
        .map_or("amazonaws.com", |(_, suffix)| suffix)
}

/// The region of the environment, or else of the profile.
pub(super) fn region(
    environment: &Environment,
    profiles: &Profiles,
    profile: &str,
) -> Option<String> {
    from_environment(environment).or_else(|| profiles.region(profile).map(str::to_owned))
}

/// The region of the environment.
pub(super) fn from_environment(environment: &Environment) -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"]
        .into_iter()
        .find_map(|name| environment.get(name))
        .map(|region| region.trim().to_owned())
}

/// `region`, if it may be part of a host's name.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) if not.
pub(super) fn checked(region: &str) -> Result<&str> {
    let usual = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if region.is_empty() || !region.chars().all(usual) {
        return Err(unusable(format!(
            "{region:?} is not the name of an AWS region such as \"eu-central-1\""
        )));
    }
    Ok(region)
}
