//! What a run used so far, and what that cost.

use std::sync::Arc;

use crate::catalog::Prices;
use crate::cost::Cost;
use crate::message::Usage;

/// Token counts and costs, those of attempts that came to nothing included.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Of complete responses.
    responses: Usage,
    /// Of failed attempts at the response in progress.
    attempts: Usage,
    /// The latest count of the response in progress.
    snapshot: Usage,
    /// Of everything but the snapshot. Each request has its price, so that large ones are not taken for several.
    spent: Spent,
    /// Those of the model that answers now, if they are known.
    prices: Option<Arc<Prices>>,
}

/// A sum that is known only when every part is.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    known: Cost,
    incomplete: bool,
}

impl Spent {
    fn add(&mut self, cost: Option<Cost>) {
        match cost {
            Some(cost) => self.known += cost,
            None => self.incomplete = true,
        }
    }

    fn cost(self) -> Option<Cost> {
        (!self.incomplete).then_some(self.known)
    }
}

impl Tally {
    pub(super) fn usage(&self) -> Usage {
        self.responses + self.attempts + self.snapshot
    }

    /// The cost so far; `None` when a price is not known, or a response did not say what it used.
    pub(super) fn cost(&self) -> Option<Cost> {
        let mut spent = self.spent;
        spent.add(self.price(self.snapshot));
        spent.cost()
    }

    /// Counts by `prices` from now on.
    pub(super) fn price_by(&mut self, prices: Option<Arc<Prices>>) {
        // What another model was asked for and never answered has that model's price.
        self.give_up_call();
        self.prices = prices;
    }

    pub(super) fn see(&mut self, usage: Usage) {
        self.snapshot = usage;
    }

    /// The tokens of the attempt in progress are spent, whatever comes of the next.
    pub(super) fn give_up_attempt(&mut self) {
        let lost = std::mem::take(&mut self.snapshot);
        self.spent.add(self.price(lost));
        self.attempts += lost;
    }

    /// A model call that never came to a response.
    pub(super) fn give_up_call(&mut self) {
        self.give_up_attempt();
        let lost = std::mem::take(&mut self.attempts);
        self.responses += lost;
    }

    /// A response is complete. Its own count covers all attempts at it.
    pub(super) fn complete(&mut self, usage: Usage) {
        let last = without(usage, self.attempts);
        let told = last.total_tokens() > 0;
        self.spent.add(self.price(last).filter(|_| told));
        self.responses += usage;
        self.attempts = Usage::default();
        self.snapshot = Usage::default();
    }

    fn price(&self, usage: Usage) -> Option<Cost> {
        if usage.total_tokens() == 0 {
            return Some(Cost::ZERO);
        }
        self.prices.as_ref()?.cost(usage)
    }
}

fn without(all: Usage, part: Usage) -> Usage {
    Usage {
        input_tokens: all.input_tokens.saturating_sub(part.input_tokens),
        output_tokens: all.output_tokens.saturating_sub(part.output_tokens),
        cache_read_tokens: all.cache_read_tokens.saturating_sub(part.cache_read_tokens),
        cache_write_tokens: all
            .cache_write_tokens
            .saturating_sub(part.cache_write_tokens),
        reasoning_tokens: all.reasoning_tokens.saturating_sub(part.reasoning_tokens),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn prices(pricing: Value) -> Option<Arc<Prices>> {
        let details = json!({"pricing": pricing});
        Prices::of(details.as_object().unwrap()).map(Arc::new)
    }

    fn usage(input_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            ..Usage::default()
        }
    }

    fn cost(tally: &Tally) -> Option<String> {
        tally.cost().map(|cost| cost.to_string())
    }

    #[test]
    fn failed_attempts_cost_and_are_priced_alone() {
        let mut tally = Tally::default();
        assert_eq!(cost(&tally).as_deref(), Some("0"));
        tally.price_by(prices(
            json!({"input": 1, "context_over_200k": {"input": 100}}),
        ));
        tally.see(usage(150_000));
        assert_eq!(cost(&tally).as_deref(), Some("0.15"));
        tally.give_up_attempt();
        tally.see(usage(150_000));
        tally.complete(usage(300_000));
        assert_eq!(cost(&tally).as_deref(), Some("0.3"));
        assert_eq!(tally.usage(), usage(300_000));
    }

    #[test]
    fn each_model_has_its_own_prices() {
        let mut tally = Tally::default();
        tally.price_by(prices(json!({"input": 1})));
        tally.complete(usage(1_000_000));
        tally.see(usage(1_000_000));
        tally.price_by(prices(json!({"input": "0.5"})));
        tally.complete(usage(1_000_000));
        assert_eq!(cost(&tally).as_deref(), Some("2.5"));
        assert_eq!(tally.usage(), usage(3_000_000));
    }

    #[test]
    fn what_is_not_known_is_not_nothing() {
        for (pricing, used) in [
            (json!({}), 1),
            (json!({"output": 1}), 1),
            (json!({"input": 1}), 0),
        ] {
            let mut tally = Tally::default();
            tally.price_by(prices(pricing));
            tally.complete(usage(used));
            assert_eq!(tally.cost(), None);
            tally.price_by(prices(json!({"input": 1})));
            tally.complete(usage(1));
            assert_eq!(tally.cost(), None, "a part is still missing");
        }
        let mut unpriced = Tally::default();
        unpriced.price_by(None);
        unpriced.give_up_attempt();
        assert_eq!(cost(&unpriced).as_deref(), Some("0"), "nothing was used");
    }
}
