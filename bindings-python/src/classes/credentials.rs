//! `AwsCredentialChain` and `GoogleTokenChain`: where credentials are usually found.

use std::collections::HashMap;
use std::path::PathBuf;

use little_ghost::host::{HostAwsCredentials, HostGoogleCredentials, Patience};
use pyo3::prelude::*;

use super::catalog::Job;
use crate::error::OrRaise as _;
use crate::guard::guard;

/// The usual places for AWS credentials.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct AwsCredentialChain {
    inner: HostAwsCredentials,
}

#[pymethods]
impl AwsCredentialChain {
    #[new]
    fn new(profile: Option<String>, credentials_file: Option<PathBuf>) -> Self {
        Self {
            inner: HostAwsCredentials::new(profile, credentials_file),
        }
    }

    #[staticmethod]
    fn variables() -> Vec<&'static str> {
        HostAwsCredentials::variables().to_vec()
    }

    fn find(&self, variables: HashMap<String, String>, deadline_at: Option<f64>) -> PyResult<Job> {
        guard(|| {
            let job = self
                .inner
                .find(variables, patience(deadline_at))
                .or_raise()?;
            Ok(Job::wrap(job))
        })
    }

    fn region(&self, variables: HashMap<String, String>) -> PyResult<Option<String>> {
        guard(|| Ok(self.inner.region(variables)))
    }
}

/// The usual places for Google credentials.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct GoogleTokenChain {
    inner: HostGoogleCredentials,
}

#[pymethods]
impl GoogleTokenChain {
    #[new]
    fn new() -> Self {
        Self {
            inner: HostGoogleCredentials::new(),
        }
    }

    #[staticmethod]
    fn variables() -> Vec<&'static str> {
        HostGoogleCredentials::variables().to_vec()
    }

    fn find(&self, variables: HashMap<String, String>, deadline_at: Option<f64>) -> PyResult<Job> {
        guard(|| {
            let patience = patience(deadline_at);
            let job = self.inner.find(variables, None, patience).or_raise()?;
            Ok(Job::wrap(job))
        })
    }
}

fn patience(deadline_at: Option<f64>) -> Patience {
    Patience {
        deadline_at,
        token: None,
    }
}
