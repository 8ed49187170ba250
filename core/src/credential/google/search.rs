//! One walk through the sources.

use std::path::{Path, PathBuf};

use super::file::{self, Credentials};
use super::metadata;
use crate::credential::access_token::AccessToken;
use crate::credential::refresher::Clock;
use crate::credential::trail::{Search, Trail, unusable};
use crate::error::Result;
use crate::executor;
use crate::provider::Environment;

const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
const QUOTA: &str = "GOOGLE_CLOUD_QUOTA_PROJECT";

const ADVICE: &str = "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or run: \
                      gcloud auth application-default login";

/// A token of the first source that has one.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) that says what was tried and why it did not work;
/// [`ErrorKind::Http`](crate::ErrorKind::Http) when a source is set up but away.
pub(super) async fn search(environment: Environment, clock: Clock) -> Result<AccessToken> {
    let mut trail = Trail::new("Google credentials");
    let quota = environment.get(QUOTA);
    let token = found(&environment, &clock, &mut trail).await?;
    Ok(match quota {
        Some(project) => token.quota_project(project),
        None => token,
    })
}

async fn found(environment: &Environment, clock: &Clock, trail: &mut Trail) -> Result<AccessToken> {
    match environment.get(VARIABLE) {
        Some(path) => {
            let read = read(PathBuf::from(path))
                .await
                .and_then(|found| found.ok_or_else(|| unusable("there is no such file")));
            let token = match read {
                Ok(credentials) => credentials.token(clock).await,
                Err(error) => Err(error),
            };
            return token.map_err(|error| trail.failed(VARIABLE, &error));
        }
        None => trail.skip(VARIABLE, "it is not set"),
    }
    match well_known(environment) {
        None => trail.skip("gcloud", "HOME is not set"),
        Some(path) => {
            let name = path.display().to_string();
            let credentials = read(path)
                .await
                .map_err(|error| trail.failed(&name, &error))?;
            match credentials {
                Some(credentials) => {
                    let token = credentials.token(clock).await;
                    return token.map_err(|error| trail.failed(&name, &error));
                }
                None => trail.skip(&name, "there is no such file"),
            }
        }
    }
    match metadata::find(environment, clock).await {
        Ok(Search::Found(token)) => return Ok(token),
        Ok(Search::Absent(why)) => trail.skip(metadata::NAME, &why),
        Err(error) => return Err(trail.failed(metadata::NAME, &error)),
    }
    Err(trail.nothing(ADVICE))
}

async fn read(path: PathBuf) -> Result<Option<Credentials>> {
    executor::blocking(move || file::read(&path)).await
}

/// Where `gcloud auth application-default login` writes.
fn well_known(environment: &Environment) -> Option<PathBuf> {
    let directory = environment
        .get("CLOUDSDK_CONFIG")
        .map(PathBuf::from)
        .or_else(|| {
            let home = environment.get("HOME")?;
            Some(Path::new(&home).join(".config/gcloud"))
        });
    directory.map(|directory| directory.join("application_default_credentials.json"))
}
