//! `LittleGhost::Native::AwsCredentials` and `GoogleCredentials`: chains of the engine.

use std::collections::HashMap;
use std::path::PathBuf;

use little_ghost::host::{HostAwsCredentials, HostGoogleCredentials, Patience};
use magnus::{Error, RModule, Ruby, function, method, prelude::*};

use crate::catalog::Job;
use crate::guard::guard;
use crate::token::Token;

#[magnus::wrap(class = "LittleGhost::Native::AwsCredentials", free_immediately, size)]
struct AwsCredentials(HostAwsCredentials);

#[magnus::wrap(
    class = "LittleGhost::Native::GoogleCredentials",
    free_immediately,
    size
)]
struct GoogleCredentials(HostGoogleCredentials);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let aws = native.define_class("AwsCredentials", ruby.class_object())?;
    aws.define_singleton_method("new", function!(AwsCredentials::new, 2))?;
    aws.define_singleton_method("variables", function!(aws_variables, 0))?;
    aws.define_method("find", method!(AwsCredentials::find, 3))?;
    aws.define_method("region", method!(AwsCredentials::region, 1))?;
    let google = native.define_class("GoogleCredentials", ruby.class_object())?;
    google.define_singleton_method("new", function!(GoogleCredentials::new, 0))?;
    google.define_singleton_method("variables", function!(google_variables, 0))?;
    google.define_method("find", method!(GoogleCredentials::find, 4))
}

fn aws_variables() -> Vec<&'static str> {
    HostAwsCredentials::variables().to_vec()
}

fn google_variables() -> Vec<&'static str> {
    HostGoogleCredentials::variables().to_vec()
}

fn patience(deadline_at: Option<f64>, token: Option<&Token>) -> Patience {
    Patience {
        deadline_at,
        token: token.map(|token| token.0.clone()),
    }
}

impl AwsCredentials {
    /// With a profile and a path in place of the usual ones, or nil.
    fn new(profile: Option<String>, credentials_file: Option<PathBuf>) -> Self {
        Self(HostAwsCredentials::new(profile, credentials_file))
    }

    /// A job that comes to `{access_key_id, secret_access_key, session_token, expires_at}`.
    fn find(
        ruby: &Ruby,
        rb_self: &Self,
        variables: HashMap<String, String>,
        deadline_at: Option<f64>,
        token: Option<&Token>,
    ) -> Result<Job, Error> {
        guard(ruby, || {
            let patience = patience(deadline_at, token);
            Ok(Job(rb_self.0.find(variables, patience)?))
        })
    }

    fn region(
        ruby: &Ruby,
        rb_self: &Self,
        variables: HashMap<String, String>,
    ) -> Result<Option<String>, Error> {
        guard(ruby, || Ok(rb_self.0.region(variables)))
    }
}

impl GoogleCredentials {
    fn new() -> Self {
        Self(HostGoogleCredentials::new())
    }

    /// A job that comes to `{token, quota_project, expires_at}`. `now` is the time, or nil.
    fn find(
        ruby: &Ruby,
        rb_self: &Self,
        variables: HashMap<String, String>,
        now: Option<f64>,
        deadline_at: Option<f64>,
        token: Option<&Token>,
    ) -> Result<Job, Error> {
        guard(ruby, || {
            let patience = patience(deadline_at, token);
            Ok(Job(rb_self.0.find(variables, now, patience)?))
        })
    }
}
