//! On-demand prices of AWS's price list.

use serde_json::{Map, Value};

use crate::catalog::price::scaled;

/// Services of the list that sell tokens, the field that names the model there, and what follows its name.
pub(super) const OFFERS: &[Offer] = &[
    Offer {
        service: "AmazonBedrock",
        field: "model",
        suffix: "",
    },
    Offer {
        service: "AmazonBedrockFoundationModels",
        field: "servicename",
        suffix: " (Amazon Bedrock Edition)",
    },
];

/// Where the list has the prices of a model.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) service: &'static str,
    pub(super) field: &'static str,
    suffix: &'static str,
}

impl Offer {
    /// What the field says for the model called `name`.
    pub(super) fn product(&self, name: &str) -> String {
        format!("{name}{}", self.suffix)
    }
}

/// Words for ways to buy tokens other than on demand, and for other things than text.
const OTHERWISE: &[&str] = &[
    "batch",
    "flex",
    "priority",
    "reserved",
    "provisioned",
    "custom",
    "latency",
    "lctx",
    "long context",
    "1h",
    "image",
    "video",
    "audio",
    "speech",
    "guardrail",
];

/// The prices of one model that were found so far.
#[derive(Debug, Default)]
pub(super) struct Prices(Vec<Price>);

#[derive(Debug)]
struct Price {
    kind: &'static str,
    /// Whether it is for requests that may be answered anywhere.
    global: bool,
    /// The more words a usage needs, the more special it is.
    words: usize,
    value: Value,
}

impl Prices {
    /// Takes what a page of the list says about `product`. Entries are JSON within a string.
    pub(super) fn take(&mut self, offer: &Offer, product: &str, page: &Value) {
        let entries = page.get("PriceList").and_then(Value::as_array);
        for entry in entries.into_iter().flatten().filter_map(Value::as_str) {
            let Ok(entry) = serde_json::from_str::<Value>(entry) else {
                continue;
            };
            let Some(attributes) = entry.pointer("/product/attributes") else {
                continue;
            };
            let is_same = |text: &str| text.eq_ignore_ascii_case(product);
            if attribute(attributes, offer.field).is_some_and(is_same)
                && let Some(price) = price(attributes, &entry)
            {
                self.0.push(price);
            }
        }
    }

    /// The price of each kind of token, in USD for a million; `global` prefers those of requests that may be
    /// answered anywhere.
    pub(super) fn pricing(self, global: bool) -> Map<String, Value> {
        let mut found = self.0;
        found.retain(|price| global || !price.global);
        found.sort_by_key(|price| (price.global != global, price.words));
        let mut pricing = Map::new();
        for kind in ["input", "output", "cache_read", "cache_write"] {
            if let Some(price) = found.iter().find(|price| price.kind == kind) {
                pricing.insert(kind.into(), price.value.clone());
            }
        }
        pricing
    }
}

fn attribute<'a>(attributes: &'a Value, name: &str) -> Option<&'a str> {
    attributes.get(name)?.as_str()
}

fn price(attributes: &Value, entry: &Value) -> Option<Price> {
    let usage = ["usagetype", "inferenceType", "feature"]
        .iter()
        .filter_map(|name| attribute(attributes, name))
        .map(words)
        .collect::<Vec<_>>()
        .join(" ");
    if OTHERWISE.iter().any(|word| usage.contains(word)) {
        return None;
    }
    let terms = entry.pointer("/terms/OnDemand")?.as_object()?;
    let dimension = terms
        .values()
        .filter_map(|term| term.get("priceDimensions")?.as_object())
        .flat_map(Map::values)
        .find(|dimension| {
            let begin = attribute(dimension, "beginRange");
            begin.is_none_or(|begin| begin == "0") && million(dimension).is_some()
        })?;
    let price = attribute(dimension.get("pricePerUnit")?, "USD")?;
    Some(Price {
        kind: kind(&usage)?,
        global: usage.contains("global"),
        words: usage.split(' ').count(),
        value: scaled(price.parse().ok()?, million(dimension)?)?,
    })
}

fn kind(usage: &str) -> Option<&'static str> {
    let has = |word: &str| usage.contains(word);
    if !has("token") {
        return None;
    }
    match (has("cache"), has("input"), has("output")) {
        (true, ..) if has("read") => Some("cache_read"),
        (true, ..) if has("write") => Some("cache_write"),
        (true, ..) => None,
        (_, _, true) => Some("output"),
        (_, true, _) => Some("input"),
        _ => None,
    }
}

/// How many of the list's units a million tokens are.
fn million(dimension: &Value) -> Option<f64> {
    let unit = attribute(dimension, "unit")?.to_lowercase();
    let description = attribute(dimension, "description")
        .unwrap_or_default()
        .to_lowercase();
    let says = |text: &str| match unit.as_str() {
        // A market place's unit; the description says what of.
        "units" => description.contains(text),
        unit => unit.contains(text),
    };
    if says("1m ") || says("million") {
        Some(1.0)
    } else if says("1k ") || says("1000 ") || says("thousand") {
        Some(1_000.0)
    } else {
        (unit == "tokens").then_some(1_000_000.0)
    }
}

/// `text` in small letters with one space between its words, `InputTokenCount` being three.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 8);
    let mut small = false;
    for letter in text.chars() {
        if letter.is_ascii_uppercase() && small {
            words.push(' ');
        }
        small = letter.is_ascii_lowercase();
        words.push(if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            ' '
        });
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(attributes: Value, unit: &str, description: &str, price: &str) -> Value {
        let entry = json!({"product": {"attributes": attributes}, "terms": {"OnDemand": {"A.B":
            {"priceDimensions": {"A.B.C": {"unit": unit, "description": description,
                "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": price}}}}}}});
        json!(entry.to_string())
    }

    fn nova(usage: &str, kind: &str, feature: &str, price: &str) -> Value {
        let attributes = json!({"model": "Nova Lite", "usagetype": usage, "inferenceType": kind,
            "feature": feature, "regionCode": "us-east-1"});
        entry(attributes, "1K tokens", "", price)
    }

    #[test]
    fn prices_on_demand_are_told_from_others() {
        let demand = "On-demand Inference";
        let page = json!({"PriceList": [
            nova("USE1-NovaLite-input-tokens-batch", "Input tokens batch", demand, "0.00003"),
            nova("USE1-NovaLite-input-tokens-cross-region-global", "Input tokens", demand, "0.00005"),
            nova("USE1-NovaLite-input-tokens", "Input tokens", demand, "0.00006"),
            nova("USE1-NovaLite-output-tokens", "Output tokens", demand, "0.00024"),
            nova("USE1-NovaLite-cache-read-input-token-count", "Prompt cache read input tokens",
                demand, "0.000015"),
            nova("USE1-NovaLite-output-tokens-custom-model", "Output tokens", demand, "1"),
            nova("USE1-NovaLite-hours", "Input tokens", "Provisioned Throughput", "9"),
            nova("USE1-NovaLite-x", "Something", demand, "7"),
            "no JSON", 5,
            entry(json!({"model": "Nova Pro", "usagetype": "input-tokens"}), "1K tokens", "", "8"),
        ]});
        let offer = &OFFERS[0];
        let read = |global| {
            let mut prices = Prices::default();
            prices.take(offer, &offer.product("nova lite"), &page);
            Value::Object(prices.pricing(global))
        };
        assert_eq!(
            read(false),
            json!({"input": 0.06, "output": 0.24, "cache_read": 0.015})
        );
        assert_eq!(
            read(true),
            json!({"input": 0.05, "output": 0.24, "cache_read": 0.015})
        );
    }

    #[test]
    fn a_market_places_units_are_those_of_their_description() {
        let offer = &OFFERS[1];
        let name = "Claude Haiku 4.5 (Amazon Bedrock Edition)";
        let claude = |usage: &str, what: &str, price: &str| {
            let attributes = json!({"servicename": name, "usagetype": usage});
            let description = format!("AWS Marketplace software usage|us-east-1|{what}");
            entry(attributes, "Units", &description, price)
        };
        let page = json!({"PriceList": [
            claude("USE1-MP:USE1_InputTokenCount-Units", "Million Input Tokens", "1.00"),
            claude("USE1-MP:USE1_OutputTokenCount-Units", "Million Response Tokens", "5.00"),
            claude("USE1-MP:USE1_CacheWriteInputTokenCount-Units", "Million Input Tokens", "1.25"),
            claude("USE1-MP:USE1_CacheWrite1hInputTokenCount-Units", "Million Tokens", "2"),
            claude("USE1-MP:USE1_InputTokenCount_Batch-Units", "Million Input Tokens", "0.5"),
            claude("USE1-MP:USE1_InputTokenCount_LCtx-Units", "Million Input Tokens", "2"),
            claude("USE1-MP:USE1_OutputTokenCount-Units", "Hours", "3"),
        ]});
        let mut prices = Prices::default();
        prices.take(offer, &offer.product("Claude Haiku 4.5"), &page);
        assert_eq!(
            Value::Object(prices.pricing(false)),
            json!({"input": 1.0, "output": 5.0, "cache_write": 1.25})
        );
    }
}
