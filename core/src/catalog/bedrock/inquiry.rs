//! What Amazon Bedrock and AWS's price list are asked, without the network: whoever asks signs and sends.

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::prices::{OFFERS, Offer, Prices};
use super::profile::{base_model, is_global};
use super::summary::{Summary, read};
use crate::catalog::date::today;
use crate::catalog::record::ModelRecord;
use crate::catalog::source::unexpected;
use crate::error::{Error, ErrorKind, Result};
use crate::http::shorten;
use crate::provider::{Secret, redact};

/// Pages of the price list that are read for one model.
const MAX_PAGES: usize = 10;

/// The largest answer that is read, in bytes.
pub(crate) const MAX_ANSWER: usize = 4 * 1_024 * 1_024;

const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// One request. Its signature is for `service` in `region`.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) method: &'static str,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) service: &'static str,
    pub(crate) region: String,
}

/// Where the two services are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) models: Url,
    /// The price list and its region; none for those who may not ask it.
    pub(super) prices: Option<(Url, String)>,
    pub(super) region: String,
}

/// A refresh in progress.
#[derive(Debug)]
pub(crate) struct Inquiry {
    connection: String,
    places: Places,
    target: Option<String>,
    step: Step,
    records: Vec<ModelRecord>,
    /// What questions were signed with, which no error repeats.
    secrets: Vec<Secret>,
}

#[derive(Debug)]
enum Step {
    Models,
    Prices(Search),
    Done,
}

/// The search for the prices of one model, whose record is the last one.
#[derive(Debug)]
struct Search {
    name: String,
    offers: std::slice::Iter<'static, Offer>,
    offer: &'static Offer,
    token: Option<String>,
    pages: usize,
    found: Prices,
}

impl Inquiry {
    pub(super) fn new(connection: &str, places: Places, target: Option<&str>) -> Self {
        let other = target.is_some_and(|target| model_of(connection, target).is_none());
        Self {
            connection: connection.to_owned(),
            places,
            target: target.map(str::to_owned),
            step: if other { Step::Done } else { Step::Models },
            records: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// Keeps what the last question was signed with out of errors.
    pub(crate) fn hide(&mut self, secrets: Vec<Secret>) {
        self.secrets = secrets;
    }

    /// What to ask next; none when everything is known.
    pub(crate) fn question(&self) -> Option<Question> {
        match &self.step {
            Step::Done => None,
            Step::Models => Some(Question {
                method: "GET",
                url: self.places.models.clone(),
                headers: HeaderMap::new(),
                body: Bytes::new(),
                service: "bedrock",
                region: self.places.region.clone(),
            }),
            Step::Prices(search) => {
                let (url, region) = self.places.prices.clone()?;
                Some(Question {
                    method: "POST",
                    url,
                    headers: HeaderMap::from_iter([
                        (
                            CONTENT_TYPE,
                            HeaderValue::from_static("application/x-amz-json-1.1"),
                        ),
                        (
                            TARGET,
                            HeaderValue::from_static("AWSPriceListService.GetProducts"),
                        ),
                    ]),
                    body: search.body(&self.places.region),
                    service: "pricing",
                    region,
                })
            }
        }
    }

    /// Takes the answer to the last question.
    ///
    /// # Errors
    /// [`ErrorKind::Http`] for any status but 200, [`ErrorKind::Protocol`] for an answer that makes no sense.
    pub(crate) fn answer(&mut self, status: u16, body: &[u8]) -> Result<()> {
        let step = std::mem::replace(&mut self.step, Step::Done);
        // Who may use models may often not see prices.
        if matches!(step, Step::Prices(_)) && matches!(status, 401 | 403) {
            return Ok(());
        }
        let document = self
            .document(status, body)
            .map_err(|error| redact(error, self.secrets.iter()))?;
        match step {
            Step::Models => self.models(&document),
            Step::Prices(search) => self.prices(search, &document),
            Step::Done => Ok(()),
        }
    }

    /// What was found.
    pub(crate) fn records(&self) -> &[ModelRecord] {
        &self.records
    }

    fn document(&self, status: u16, body: &[u8]) -> Result<Value> {
        let name = &self.connection;
        if status != 200 {
            let text = String::from_utf8_lossy(body);
            let mut message = format!("AWS answered {status} to connection {name:?}");
            if !text.trim().is_empty() {
                message.push_str(": ");
                message.push_str(&shorten(&text, 500));
            }
            let error = Error::new(ErrorKind::Http, message);
            return Err(error.with_http(Some(status), Some(text.into_owned())));
        }
        if body.len() > MAX_ANSWER {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!(
                    "the answer of AWS to connection {name:?} is larger than {MAX_ANSWER} bytes"
                ),
            ));
        }
        serde_json::from_slice(body).map_err(|_| unexpected("AWS"))
    }

    fn models(&mut self, document: &Value) -> Result<()> {
        let summaries = read(document).ok_or_else(|| unexpected("Amazon Bedrock"))?;
        let Some(target) = self.target.clone() else {
            let records = summaries
                .into_iter()
                .map(|summary| record(format!("{}:{}", self.connection, summary.id), summary));
            self.records = records.collect();
            return Ok(());
        };
        let model = model_of(&self.connection, &target).unwrap_or_default();
        let Some(summary) = summaries
            .into_iter()
            .find(|summary| summary.id == base_model(model))
        else {
            return Ok(());
        };
        let mut offers = OFFERS.iter();
        if let Some(offer) = offers.next()
            && self.places.prices.is_some()
            && !summary.name.is_empty()
        {
            self.step = Step::Prices(Search {
                name: summary.name.clone(),
                offers,
                offer,
                token: None,
                pages: 0,
                found: Prices::default(),
            });
        }
        self.records = vec![record(target, summary)];
        Ok(())
    }

    fn prices(&mut self, mut search: Search, page: &Value) -> Result<()> {
        if !page.is_object() {
            return Err(unexpected("AWS's price list"));
        }
        search.pages += 1;
        let product = search.offer.product(&search.name);
        search.found.take(search.offer, &product, page);
        let token = page.get("NextToken").and_then(Value::as_str);
        search.token = token.filter(|token| !token.is_empty()).map(str::to_owned);
        let next = search.token.is_some() || search.next_offer();
        if next && search.pages < MAX_PAGES {
            self.step = Step::Prices(search);
            return Ok(());
        }
        let model = self
            .target
            .as_deref()
            .and_then(|target| model_of(&self.connection, target));
        let pricing = search.found.pricing(model.is_some_and(is_global));
        let Some(record) = self.records.last_mut() else {
            return Ok(());
        };
        if !pricing.is_empty() {
            record
                .attributes
                .insert("pricing".into(), Value::Object(pricing));
        }
        Ok(())
    }
}

impl Search {
    /// Goes on to the next offer, if there is one.
    fn next_offer(&mut self) -> bool {
        match self.offers.next() {
            Some(offer) => {
                self.offer = offer;
                true
            }
            None => false,
        }
    }

    fn body(&self, region: &str) -> Bytes {
        let same = |field: &str, value: &str| json!({"Type": "TERM_MATCH", "Field": field, "Value": value});
        let mut body = json!({
            "ServiceCode": self.offer.service,
            "FormatVersion": "aws_v1",
            "MaxResults": 100,
            "Filters": [
                same("regionCode", region),
                same(self.offer.field, &self.offer.product(&self.name)),
            ],
        });
        if let (Some(token), Some(map)) = (&self.token, body.as_object_mut()) {
            map.insert("NextToken".into(), json!(token));
        }
        body.to_string().into()
    }
}

/// The model id in `target`, if that is one of `connection`.
fn model_of<'a>(connection: &str, target: &'a str) -> Option<&'a str> {
    target
        .split_once(':')
        .filter(|(name, _)| *name == connection)
        .map(|(_, model)| model)
}

fn record(target: String, summary: Summary) -> ModelRecord {
    ModelRecord {
        target,
        attributes: summary.attributes,
        observed_at: Some(today()),
    }
}
