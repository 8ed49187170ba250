//! Gemini models of Google Cloud's Vertex AI.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::Value;

use super::Provider;
use super::adapter::AdapterRequest;
use super::authorizer::Authorizer;
use super::gemini::{Gemini, checked};
use super::options::Options;
use super::secret::Secret;
use super::substitute::SubstituteCredentials;
use crate::credential::{AccessToken, GoogleTokenChain, GoogleTokenSource};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::http::Post;
use crate::model::{ModelRequest, ModelResponse};
use crate::run::EventSender;

const OPTIONS: &[&str] = &[
    "project",
    "location",
    "access_token",
    "credential_resolver",
    "api_key",
    "base_url",
    "headers",
    "open_timeout",
    "read_timeout",
    "allow_insecure_http",
    "max_response_bytes",
    "max_retries",
    "max_retry_delay",
];

/// Where models are when nobody says otherwise: wherever there is room.
const DEFAULT_LOCATION: &str = "global";

/// Locations of several regions, which have hosts of their own.
const MULTI_REGIONS: &[&str] = &["us", "eu"];

/// Says which project's quota pays.
const USER_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");

/// A connection to Vertex AI, bound to one Gemini model.
#[derive(Debug)]
pub struct VertexAi(Gemini);

impl VertexAi {
    /// Builds the connection from its options. Its access token is the option `access_token`, or else
    /// what a [`GoogleTokenChain`] finds when it is needed; an `api_key` takes its place.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a missing project, an unknown or invalid option and a
    /// model that is not Google's.
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        let options = Options::new(request.connection, "vertex_ai", request.options, OPTIONS)?;
        let token = options.secret("access_token")?;
        let source: Option<Arc<dyn GoogleTokenSource>> = match token {
            Some(token) => Some(Arc::new(AccessToken::new(token.expose()))),
            None if options.flag("credential_resolver")? => Some(Arc::new(SubstituteCredentials)),
            None => None,
        };
        Self::build(request, &options, source)
    }

    /// Builds the connection, whose access tokens come from `source`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_tokens(
        request: &AdapterRequest<'_>,
        source: Arc<dyn GoogleTokenSource>,
    ) -> Result<Self> {
        let options = Options::new(request.connection, "vertex_ai", request.options, OPTIONS)?;
        Self::build(request, &options, Some(source))
    }

    fn build(
        request: &AdapterRequest<'_>,
        options: &Options<'_>,
        source: Option<Arc<dyn GoogleTokenSource>>,
    ) -> Result<Self> {
        let project = options.text("project")?.map(str::trim).ok_or_else(|| {
            Error::new(
                ErrorKind::Configuration,
                format!(
                    "connection {:?} needs the option project: the id of a Google Cloud project",
                    request.connection
                ),
            )
        })?;
        let location = options
            .text("location")?
            .map_or(DEFAULT_LOCATION, str::trim);
        for (name, value) in [("project", project), ("location", location)] {
            if !is_name(value) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "option {name} of connection {:?} must consist of letters, digits and \
                         - . : _",
                        request.connection
                    ),
                ));
            }
        }
        let base_url = match options.text("base_url")? {
            Some(base_url) => base_url.to_owned(),
            None => format!("https://{}/v1/", host(location)),
        };
        let path = path(request, project, location)?;
        let mut gemini = Gemini::at(request, options, &base_url, &path)?;
        // A server on this machine, or an api_key, is no reason to go looking for credentials.
        let found = || (!gemini.is_open()).then(|| GoogleTokenChain::process() as _);
        if let Some(source) = source.or_else(found) {
            gemini.set_authorizer("access_token", Bearer(source));
        }
        Ok(Self(gemini))
    }
}

fn is_name(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "-._:".contains(letter))
        && !text.contains("..")
}

/// The host that serves a location.
fn host(location: &str) -> String {
    if location == "global" {
        "aiplatform.googleapis.com".to_owned()
    } else if MULTI_REGIONS.contains(&location) {
        format!("aiplatform.{location}.rep.googleapis.com")
    } else {
        format!("{location}-aiplatform.googleapis.com")
    }
}

/// The model's place under the base URL: a bare name is one of Google's, in the project; a name
/// that begins with `projects/` says all of it.
fn path(request: &AdapterRequest<'_>, project: &str, location: &str) -> Result<String> {
    let id = checked(request)?;
    let parent = format!("projects/{project}/locations/{location}");
    let parts: Vec<&str> = id.split('/').collect();
    match *parts.as_slice() {
        [name] | ["google" | "models", name] => {
            Ok(format!("{parent}/publishers/google/models/{name}"))
        }
        ["publishers", "google", "models", _] | ["endpoints", _] => Ok(format!("{parent}/{id}")),
        [
            "projects",
            _,
            "locations",
            _,
            "publishers",
            "google",
            "models",
            _,
        ]
        | ["projects", _, "locations", _, "endpoints", _] => Ok(id.to_owned()),
        _ => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "model {id:?} of connection {:?} is no Gemini model: the adapter vertex_ai speaks \
                 Google's own format, so write a name such as \"gemini-3-flash-preview\", or \
                 \"endpoints/...\" for a tuned one",
                request.connection
            ),
        )),
    }
}

/// Adds an access token to each attempt.
struct Bearer(Arc<dyn GoogleTokenSource>);

#[async_trait]
impl Authorizer for Bearer {
    async fn authorize(
        &self,
        post: &mut Post,
        _body: &Bytes,
        deadline: Option<Deadline>,
    ) -> Result<Vec<Secret>> {
        let token = self.0.access_token(deadline).await?;
        let header = |text: &str| {
            let mut value = HeaderValue::from_str(text).map_err(|_| {
                Error::new(
                    ErrorKind::Credential,
                    format!(
                        "the access token of connection {:?}, or its quota project, contains \
                         characters that a header cannot carry",
                        post.endpoint.connection()
                    ),
                )
            })?;
            value.set_sensitive(true);
            Ok::<_, Error>(value)
        };
        let bearer = header(&format!("Bearer {}", token.token().expose()))?;
        let project = token.user_project().map(header).transpose()?;
        post.headers.insert(AUTHORIZATION, bearer);
        if let Some(project) = project {
            post.headers.entry(USER_PROJECT).or_insert(project);
        }
        Ok(vec![token.token().clone()])
    }

    fn refused(&self) -> bool {
        self.0.forget()
    }
}

#[async_trait]
impl Provider for VertexAi {
    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        self.0.unsupported_schema(schema)
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        self.0.stream(request, events).await
    }
}
