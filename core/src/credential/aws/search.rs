//! One walk through the sources, in the order of the vendor's own tools.

use std::path::PathBuf;

use super::ini::Section;
use super::profiles::{Places, Profiles};
use super::region::region;
use super::role::{self, Base, setting};
use super::sso::Sso;
use super::sts::Sts;
use super::{container, environment, instance, process, web_identity};
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::trail::{Search, Trail, unusable};
use crate::error::Result;
use crate::executor;
use crate::provider::Environment;

const ADVICE: &str = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in \
                      ~/.aws/credentials";

/// What the sources look at.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) environment: Environment,
    /// The profile that the application chose, over that of the environment.
    pub(super) profile: Option<String>,
    pub(super) credentials_file: Option<PathBuf>,
}

impl Surroundings {
    /// The profile's name, and whether somebody chose it.
    pub(super) fn profile(&self) -> (String, bool) {
        let chosen = self.profile.clone().or_else(|| {
            ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]
                .iter()
                .find_map(|name| self.environment.get(name))
        });
        match chosen {
            Some(name) => (name, true),
            None => ("default".to_owned(), false),
        }
    }

    pub(super) fn places(&self) -> Places {
        Places::new(&self.environment, self.credentials_file.as_deref())
    }

    /// The keys of the first source that has any.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) that says what was tried and why it did not
    /// work; [`ErrorKind::Http`](crate::ErrorKind::Http) when a source is set up but away.
    pub(super) async fn search(self) -> Result<AwsCredentials> {
        let mut trail = Trail::new("AWS credentials");
        // A profile that the application chose goes over keys that happen to be in the environment.
        if self.profile.is_none() {
            match environment::find(&self.environment) {
                Ok(Search::Found(keys)) => return Ok(keys),
                Ok(Search::Absent(why)) => trail.skip(environment::NAME, &why),
                Err(error) => return Err(trail.failed(environment::NAME, &error)),
            }
        }
        let (profile, chosen) = self.profile();
        let source = format!("profile {profile:?}");
        let places = self.places();
        let profiles = executor::blocking(move || Profiles::load(&places))
            .await
            .map_err(|error| trail.failed(&source, &error))?;
        if chosen && !profiles.merged.contains_key(&profile) {
            let missing = unusable(format!("it is not in {}", profiles.places));
            return Err(trail.failed(&source, &missing));
        }
        let walk = Walk {
            surroundings: &self,
            profiles: &profiles,
            sts: || {
                let region = region(&self.environment, &profiles, &profile);
                Sts::new(&self.environment, region.as_deref())
            },
        };
        match walk.role(&profile).await {
            Ok(Some(keys)) => return Ok(keys),
            Ok(None) => {}
            Err(error) => return Err(trail.failed(&source, &error)),
        }
        match walk.identity(&profile, self.profile.is_none()).await {
            Ok(Search::Found(keys)) => return Ok(keys),
            Ok(Search::Absent(why)) => trail.skip(web_identity::NAME, &why),
            Err(error) => return Err(trail.failed(web_identity::NAME, &error)),
        }
        match walk.own(&profile).await {
            Ok(Search::Found(keys)) => return Ok(keys),
            Ok(Search::Absent(why)) => trail.skip(&source, &why),
            Err(error) => return Err(trail.failed(&source, &error)),
        }
        match container::find(&self.environment).await {
            Ok(Search::Found(keys)) => return Ok(keys),
            Ok(Search::Absent(why)) => trail.skip(container::NAME, &why),
            Err(error) => return Err(trail.failed(container::NAME, &error)),
        }
        match instance::find(&self.environment).await {
            Ok(Search::Found(keys)) => return Ok(keys),
            Ok(Search::Absent(why)) => trail.skip(instance::NAME, &why),
            Err(error) => return Err(trail.failed(instance::NAME, &error)),
        }
        Err(trail.nothing(ADVICE))
    }
}

/// Profiles, and what follows from them.
struct Walk<'a, F> {
    surroundings: &'a Surroundings,
    profiles: &'a Profiles,
    sts: F,
}

impl<F: Fn() -> Result<Sts>> Walk<'_, F> {
    fn section(&self, profile: &str) -> Option<&Section> {
        self.profiles.merged.get(profile)
    }

    /// Takes the roles that lead to `profile`, if it is one.
    async fn role(&self, profile: &str) -> Result<Option<AwsCredentials>> {
        let Some(plan) = role::plan(self.profiles, profile)? else {
            return Ok(None);
        };
        let environment = &self.surroundings.environment;
        let (name, base) = match &plan.base {
            Base::Profile(name) => (format!("source_profile {name:?}"), self.base(name).await?),
            Base::Environment => (
                "credential_source Environment".to_owned(),
                environment::find(environment)?,
            ),
            Base::Container => (
                "credential_source EcsContainer".to_owned(),
                container::find(environment).await?,
            ),
            Base::Instance => (
                "credential_source Ec2InstanceMetadata".to_owned(),
                instance::find(environment).await?,
            ),
        };
        let mut keys = match base {
            Search::Found(keys) => keys,
            Search::Absent(why) => return Err(unusable(format!("{name} has no keys: {why}"))),
        };
        let sts = (self.sts)()?;
        for role in &plan.roles {
            keys = sts.assume_role(role, &keys).await?;
        }
        Ok(Some(keys))
    }

    /// The keys of a profile that others take roles with.
    async fn base(&self, profile: &str) -> Result<Search<AwsCredentials>> {
        match self.identity(profile, false).await? {
            Search::Found(keys) => Ok(Search::Found(keys)),
            Search::Absent(_) => self.own(profile).await,
        }
    }

    async fn identity(&self, profile: &str, variables: bool) -> Result<Search<AwsCredentials>> {
        web_identity::find(
            &self.surroundings.environment,
            self.section(profile),
            variables,
            &self.sts,
        )
        .await
    }

    /// What a profile has itself: a sign-in, keys or a program.
    async fn own(&self, profile: &str) -> Result<Search<AwsCredentials>> {
        let Some(section) = self.section(profile) else {
            return Ok(Search::Absent(format!(
                "it is not in {}",
                self.profiles.places
            )));
        };
        if let Some(sso) = Sso::new(self.profiles, profile, section)? {
            return sso
                .keys(&self.surroundings.environment)
                .await
                .map(Search::Found);
        }
        if let Some(keys) = pair(self.profiles.credentials.get(profile)) {
            return Ok(Search::Found(keys));
        }
        if let Some(command) = setting(section, "credential_process") {
            return process::keys(command).await.map(Search::Found);
        }
        Ok(match pair(self.profiles.config.get(profile)) {
            Some(keys) => Search::Found(keys),
            None => Search::Absent(incomplete(section)),
        })
    }
}

/// The keys in a section, if both are there.
fn pair(section: Option<&Section>) -> Option<AwsCredentials> {
    let section = section?;
    let keys = AwsCredentials::new(
        setting(section, "aws_access_key_id")?,
        setting(section, "aws_secret_access_key")?,
    );
    let token = ["aws_security_token", "aws_session_token"]
        .iter()
        .find_map(|name| setting(section, name));
    Some(keys.session_token(token.unwrap_or_default()))
}

fn incomplete(section: &Section) -> String {
    let has = |name: &str| setting(section, name).is_some();
    match (has("aws_access_key_id"), has("aws_secret_access_key")) {
        (true, false) => "it has aws_access_key_id, but no aws_secret_access_key".to_owned(),
        (false, true) => "it has aws_secret_access_key, but no aws_access_key_id".to_owned(),
        _ => "it has no keys".to_owned(),
    }
}
