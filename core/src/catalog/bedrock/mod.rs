//! Amazon Bedrock's own list of models, and AWS's price list.

mod inquiry;
mod options;
mod prices;
mod profile;
mod summary;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Method, Url};

use super::record::{MergeStrategy, ModelRecord};
use super::source::{CatalogSource, PATIENCE};
use crate::credential::AwsCredentialSource;
use crate::credential::sigv4::{Scope, sign};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Endpoint, Exchange};
use crate::provider::{Secret, aws_address, check_aws_region};
use inquiry::Places;
pub(crate) use inquiry::{Inquiry, Question};
pub(super) use profile::base_model;

/// Regions whose keys and prices are apart from all others', and where their price list is.
const CHINA: (&str, &str) = ("cn-", "cn-northwest-1");

/// The region of the price list for everybody else.
const PRICES: &str = "us-east-1";

/// Which models Amazon Bedrock has in a region, what they take, and, for a single one, its prices on demand.
///
/// It asks for models with the permission `bedrock:ListFoundationModels` and for prices with `pricing:GetProducts`;
/// without the latter there are no prices.
pub struct BedrockModels {
    name: String,
    connection: String,
    region: String,
    places: Places,
    direct: bool,
    keys: Arc<dyn AwsCredentialSource>,
    /// A key of Bedrock itself, which other services do not know.
    api_key: Option<Secret>,
    /// The time of all signatures, when it is not the present one.
    signed_at: Option<SystemTime>,
}

impl BedrockModels {
    /// A source for the connection of that name, such as `BedrockModels::new("primary", "us-east-1", None, keys)`.
    /// `endpoint` is the address of an emulator on this machine that serves everything AWS has; others are left alone.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for what is no region or no address.
    pub fn new(
        connection: &str,
        region: &str,
        endpoint: Option<&str>,
        keys: Arc<dyn AwsCredentialSource>,
    ) -> Result<Self> {
        let local = match endpoint {
            None => None,
            Some(endpoint) => {
                let models = Endpoint::new(connection, endpoint, "foundation-models", true)?;
                let prices = Endpoint::new(connection, endpoint, "", true)?;
                models.is_loopback().then_some((models, prices))
            }
        };
        let direct = local.is_some();
        let places = match local {
            Some((models, prices)) => Places {
                models: models.url().clone(),
                prices: Some((prices.url().clone(), PRICES.into())),
                region: region.to_owned(),
            },
            None => places(connection, region)?,
        };
        Ok(Self {
            name: format!("bedrock:{connection}"),
            connection: connection.to_owned(),
            region: region.to_owned(),
            places,
            direct,
            keys,
            api_key: None,
            signed_at: None,
        })
    }

    /// A refresh that somebody else sends the requests of.
    pub(crate) fn inquiry(&self, target: Option<&str>) -> Inquiry {
        Inquiry::new(&self.connection, self.places.clone(), target)
    }

    /// Asks with a key of Bedrock itself instead, as its consoles make them. There are no prices then.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a key that a header cannot carry.
    pub(crate) fn with_api_key(mut self, key: Secret) -> Result<Self> {
        self.places.prices = None;
        bearer(&self.connection, &key)?;
        self.api_key = Some(key);
        Ok(self)
    }

    /// Signs a request, and returns what it signed with.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`] without keys, but for an emulator on this machine.
    pub(crate) async fn sign(
        &self,
        question: &mut Question,
        deadline: Option<Deadline>,
    ) -> Result<Vec<Secret>> {
        if let Some(key) = &self.api_key {
            let header = bearer(&self.connection, key)?;
            question.headers.insert(AUTHORIZATION, header);
            return Ok(vec![key.clone()]);
        }
        let keys = match self.keys.credentials(deadline).await {
            Ok(keys) => keys,
            Err(error) if self.direct && error.kind() == ErrorKind::Credential => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let scope = Scope {
            region: &question.region,
            service: question.service,
            at: self.signed_at.unwrap_or_else(SystemTime::now),
        };
        sign(
            question.method,
            &question.url,
            &mut question.headers,
            &question.body,
            &keys,
            scope,
        )?;
        let always = [keys.access_key_id(), keys.secret_access_key()];
        Ok(always.into_iter().chain(keys.token()).cloned().collect())
    }
}

#[async_trait]
impl CatalogSource for BedrockModels {
    fn name(&self) -> &str {
        &self.name
    }

    /// AWS names fewer modalities than the Converse API takes.
    fn merge_strategies(&self) -> Vec<(String, MergeStrategy)> {
        ["input_modalities", "output_modalities"]
            .map(|list| (list.to_owned(), MergeStrategy::Union))
            .into()
    }

    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>> {
        let deadline = Some(Deadline::after(PATIENCE));
        let mut inquiry = self.inquiry(target);
        while let Some(mut question) = inquiry.question() {
            let secrets = self.sign(&mut question, deadline).await?;
            inquiry.hide(secrets);
            let exchange = Exchange {
                method: Method::from_bytes(question.method.as_bytes()).unwrap_or(Method::GET),
                url: question.url,
                headers: question.headers,
                body: question.body,
                open_timeout: Duration::from_secs(10),
                timeout: Duration::from_secs(30),
                direct: self.direct,
            };
            let reply = exchange.send(deadline).await?;
            inquiry.answer(reply.status, &reply.body)?;
        }
        Ok(inquiry.records().to_vec())
    }
}

impl fmt::Debug for BedrockModels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BedrockModels")
            .field("connection", &self.connection)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

fn bearer(connection: &str, key: &Secret) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
        Error::new(
            ErrorKind::Configuration,
            format!("the api_key of connection {connection:?} contains characters that a header cannot carry"),
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn places(connection: &str, region: &str) -> Result<Places> {
    check_aws_region(connection, region)?;
    let endpoint = |service: &str, region: &str, path: &str| {
        let endpoint = Endpoint::new(connection, &aws_address(service, region), path, false)?;
        Ok::<Url, Error>(endpoint.url().clone())
    };
    let prices = if region.starts_with(CHINA.0) {
        CHINA.1
    } else {
        PRICES
    };
    Ok(Places {
        models: endpoint("bedrock", region, "foundation-models")?,
        prices: Some((endpoint("api.pricing", prices, "")?, prices.into())),
        region: region.to_owned(),
    })
}
