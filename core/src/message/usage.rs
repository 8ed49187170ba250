//! Token counts, the same for every provider.

use std::ops::{Add, AddAssign};

use serde_json::{Map, Value, json};

/// Token counts of one response, one run or more.
///
/// Every token is counted in exactly one field: `input_tokens` excludes cache
/// reads and writes, `output_tokens` excludes reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Uncached prompt tokens.
    pub input_tokens: u64,
    /// Visible completion tokens.
    pub output_tokens: u64,
    /// Prompt tokens served from the provider's cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Hidden reasoning tokens.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// The sum of all five fields.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
            .saturating_add(self.reasoning_tokens)
    }

    /// All fields and `total_tokens`, as a JSON object.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "total_tokens": self.total_tokens(),
        })
    }

    /// Reads the five fields from a JSON object; anything that is not a count is zero.
    #[must_use]
    pub fn from_map(map: &Map<String, Value>) -> Self {
        let count = |key: &str| map.get(key).and_then(Value::as_u64).unwrap_or(0);
        Self {
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            cache_read_tokens: count("cache_read_tokens"),
            cache_write_tokens: count("cache_write_tokens"),
            reasoning_tokens: count("reasoning_tokens"),
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self
                .cache_read_tokens
                .saturating_add(other.cache_read_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        *self = *self + other;
    }
}
