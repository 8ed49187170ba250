//! What the lists of models that services keep themselves have in common.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::source::{PATIENCE, fetch};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::http::Endpoint;
use crate::provider::{Secret, redact};

/// More pages than any list has.
const MAX_PAGES: usize = 50;

/// One connection's list of models: where it is, and who asks.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) name: String,
    pub(super) connection: String,
    pub(super) api_key: Option<Secret>,
    base_url: String,
    allow_insecure_http: bool,
}

impl Listing {
    /// The list of `adapter` for `connection`, at `base_url` unless the options have another one.
    pub(super) fn new(
        adapter: &str,
        connection: &str,
        base_url: &str,
        options: &Map<String, Value>,
    ) -> Self {
        let text = |name: &str| options.get(name).and_then(Value::as_str);
        Self {
            name: format!("{adapter}:{connection}"),
            connection: connection.to_owned(),
            api_key: text("api_key")
                .map(Secret::new)
                .filter(|key| !key.is_empty()),
            base_url: text("base_url").unwrap_or(base_url).to_owned(),
            allow_insecure_http: options.get("allow_insecure_http") == Some(&Value::Bool(true)),
        }
    }

    /// The target that `id` is called by, if `asked`, which is none for all models, includes it.
    pub(super) fn target(&self, id: &str, asked: Option<&str>) -> Option<String> {
        let target = format!("{}:{id}", self.connection);
        asked.is_none_or(|asked| asked == target).then_some(target)
    }

    /// Whether the list can tell something about what is asked for.
    pub(super) fn covers(&self, asked: Option<&str>) -> bool {
        asked.is_none_or(|target| {
            target
                .split_once(':')
                .is_some_and(|(connection, _)| connection == self.connection)
        })
    }

    /// The endpoint of `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a base URL that is not usable.
    pub(super) fn endpoint(&self, path: &str) -> Result<Endpoint> {
        Endpoint::new(
            &self.connection,
            &self.base_url,
            path,
            self.allow_insecure_http,
        )
    }

    /// The header `name` with `prefix` and the key; none without a key.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a key that a header cannot carry.
    pub(super) fn key_header(&self, name: HeaderName, prefix: &str) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.api_key {
            let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose()))
                .map_err(|_| self.unusable_key())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// As [`key_header`](Self::key_header), for a service whose list is not public.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`] without a key, but for a service on this machine.
    pub(super) fn required_key_header(&self, name: HeaderName) -> Result<HeaderMap> {
        if self.api_key.is_none() && !self.endpoint("models")?.is_loopback() {
            return Err(Error::new(
                ErrorKind::Credential,
                format!(
                    "connection {:?} has no api_key, which its list of models needs",
                    self.connection
                ),
            ));
        }
        self.key_header(name, "")
    }

    /// One document.
    ///
    /// # Errors
    /// [`ErrorKind::Http`] and [`ErrorKind::Protocol`], without the key.
    pub(super) async fn document(&self, endpoint: Endpoint, headers: HeaderMap) -> Result<Value> {
        fetch(endpoint, headers, Deadline::after(PATIENCE))
            .await
            .map_err(|error| redact(error, self.api_key.iter()))
    }

    /// The entries of a list in pages. `next` gives the parameter for the page after the one it gets, or none
    /// after the last one.
    ///
    /// # Errors
    /// As [`document`](Self::document), and [`ErrorKind::Protocol`] for a list without an end.
    pub(super) async fn pages(
        &self,
        entries: &str,
        size: (&str, &str),
        headers: HeaderMap,
        next: impl Fn(&Value) -> Option<(&'static str, String)>,
    ) -> Result<Vec<Value>> {
        let deadline = Deadline::after(PATIENCE);
        let first = self.endpoint("models")?.with_query(size.0, size.1);
        let mut endpoint = first.clone();
        let mut all = Vec::new();
        for _ in 0..MAX_PAGES {
            let mut page = fetch(endpoint, headers.clone(), deadline)
                .await
                .map_err(|error| redact(error, self.api_key.iter()))?;
            let next = next(&page);
            match page.get_mut(entries).map(Value::take) {
                Some(Value::Array(list)) => all.extend(list),
                // A page without entries leaves the field out.
                None if page.is_object() && next.is_none() => {}
                _ => return Err(super::source::unexpected(&self.name)),
            }
            let Some((name, value)) = next else {
                return Ok(all);
            };
            endpoint = first.clone().with_query(name, &value);
        }
        Err(Error::new(
            ErrorKind::Protocol,
            format!(
                "the list of {} does not end after {MAX_PAGES} pages",
                self.name
            ),
        ))
    }

    fn unusable_key(&self) -> Error {
        Error::new(
            ErrorKind::Configuration,
            format!(
                "the api_key of connection {:?} contains characters that a header cannot carry",
                self.connection
            ),
        )
    }
}
