//! What tokens of a model cost.

use serde_json::{Map, Value};

use crate::cost::{Cost, decimal};
use crate::message::Usage;

/// Digits of a price for a million tokens that count; a token's then has six more.
const DIGITS: u32 = 12;

/// Beyond this many tokens of prompt the prices of `context_over_200k` apply.
const LARGE_CONTEXT: u64 = 200_000;

/// The prices of one model, for a million tokens of each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Prices {
    usual: Rates,
    /// Prices of requests whose prompt has more tokens than the number says; smaller numbers first.
    tiers: Vec<(u64, Rates)>,
}

/// Prices by kind, in units of 10^-12 dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rates {
    input: Option<u128>,
    output: Option<u128>,
    cache_read: Option<u128>,
    cache_write: Option<u128>,
    reasoning: Option<u128>,
}

impl Prices {
    /// The prices in the details of a model; `None` when there are none.
    pub(crate) fn of(details: &Map<String, Value>) -> Option<Self> {
        let pricing = details.get("pricing")?.as_object()?;
        let usual = Rates::of(pricing);
        let mut tiers: Vec<(u64, Rates)> = Vec::new();
        for tier in pricing
            .get("tiers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if tier.pointer("/tier/type").and_then(Value::as_str) == Some("context")
                && let Some(size) = tier.pointer("/tier/size").and_then(Value::as_u64)
                && let Some(rates) = tier.as_object()
            {
                tiers.push((size, Rates::of(rates).or(&usual)));
            }
        }
        if tiers.is_empty()
            && let Some(Value::Object(rates)) = pricing.get("context_over_200k")
        {
            tiers.push((LARGE_CONTEXT, Rates::of(rates).or(&usual)));
        }
        tiers.sort_by_key(|(size, _)| *size);
        Some(Self { usual, tiers })
    }

    /// What one request cost; `None` when a kind that it used has no price.
    pub(crate) fn cost(&self, usage: Usage) -> Option<Cost> {
        let prompt = usage
            .input_tokens
            .saturating_add(usage.cache_read_tokens)
            .saturating_add(usage.cache_write_tokens);
        let tier = self.tiers.iter().rev().find(|(size, _)| prompt > *size);
        tier.map_or(&self.usual, |(_, rates)| rates).cost(usage)
    }
}

impl Rates {
    fn of(map: &Map<String, Value>) -> Self {
        let price = |kind: &str| match map.get(kind)? {
            Value::String(text) => decimal(text, DIGITS),
            // The shortest text that reads as the same number is the one that was written.
            Value::Number(number) => decimal(&number.to_string(), DIGITS),
            _ => None,
        };
        let output = price("output");
        Self {
            input: price("input"),
            output,
            cache_read: price("cache_read"),
            cache_write: price("cache_write"),
            reasoning: price("reasoning").or(output),
        }
    }

    /// These prices, and those of `other` for what has none.
    fn or(self, other: &Rates) -> Self {
        Self {
            input: self.input.or(other.input),
            output: self.output.or(other.output),
            cache_read: self.cache_read.or(other.cache_read),
            cache_write: self.cache_write.or(other.cache_write),
            reasoning: self.reasoning.or(other.reasoning),
        }
    }

    fn cost(&self, usage: Usage) -> Option<Cost> {
        let kinds = [
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
            (usage.reasoning_tokens, self.reasoning),
        ];
        let used = kinds.into_iter().filter(|(count, _)| *count > 0);
        used.map(|(count, price)| Some(Cost::of(count, price?)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prices(pricing: Value) -> Prices {
        Prices::of(json!({"pricing": pricing}).as_object().unwrap()).unwrap()
    }

    fn usage(counts: [u64; 5]) -> Usage {
        let [
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
        ] = counts;
        Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
            reasoning_tokens,
        }
    }

    fn cost(prices: &Prices, counts: [u64; 5]) -> Option<String> {
        prices.cost(usage(counts)).map(|cost| cost.to_string())
    }

    #[test]
    fn every_kind_has_its_price() {
        let prices = prices(json!({
            "input": 0.1, "output": "0.4", "cache_read": 0.025, "cache_write": 1, "reasoning": 3.5,
        }));
        for (counts, expected) in [
            ([3, 0, 0, 0, 0], "0.0000003"),
            ([0, 1, 0, 0, 0], "0.0000004"),
            ([0, 0, 1, 0, 0], "0.000000025"),
            ([0, 0, 0, 1, 0], "0.000001"),
            ([0, 0, 0, 0, 2], "0.000007"),
            ([1_000_000, 1_000_000, 0, 0, 1_000_000], "4"),
            ([0; 5], "0"),
        ] {
            assert_eq!(
                cost(&prices, counts).as_deref(),
                Some(expected),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn reasoning_costs_what_output_costs_and_nothing_else_is_guessed() {
        let prices = prices(json!({"input": 1, "output": 2}));
        assert_eq!(cost(&prices, [1, 0, 0, 0, 1]).as_deref(), Some("0.000003"));
        assert_eq!(cost(&prices, [1, 0, 1, 0, 0]), None);
        assert_eq!(cost(&prices, [1, 0, 0, 1, 0]), None);
        for odd in [
            json!({"input": null}),
            json!({"input": -1}),
            json!({"input": "free"}),
            json!({}),
        ] {
            assert_eq!(cost(&super::tests::prices(odd), [1, 0, 0, 0, 0]), None);
        }
        assert_eq!(Prices::of(&Map::new()), None);
    }

    #[test]
    fn large_prompts_have_prices_of_their_own() {
        let tier = |size: u64, input: u64| json!({"input": input, "tier": {"type": "context", "size": size}});
        let tiered = prices(json!({
            "input": 1, "output": 10, "cache_read": 1, "context_over_200k": {"input": 99},
            "tiers": [tier(500_000, 3), tier(100_000, 2), {"input": 77, "tier": {"type": "batch"}}],
        }));
        for (counts, expected) in [
            ([100_000, 0, 0, 0, 0], "0.1"),
            ([100_001, 0, 0, 0, 0], "0.200002"),
            ([1, 0, 100_000, 0, 0], "0.100002"),
            ([500_001, 1, 0, 0, 0], "1.500013"),
        ] {
            assert_eq!(
                cost(&tiered, counts).as_deref(),
                Some(expected),
                "{counts:?}"
            );
        }
        let over = prices(
            json!({"input": 3, "output": 15, "context_over_200k": {"input": 6, "output": 22.5}}),
        );
        assert_eq!(cost(&over, [200_000, 0, 0, 0, 0]).as_deref(), Some("0.6"));
        assert_eq!(
            cost(&over, [200_001, 0, 0, 0, 2]).as_deref(),
            Some("1.200051")
        );
    }
}
