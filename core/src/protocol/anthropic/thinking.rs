//! How hard a model thinks.

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};

/// The smallest budget that the service accepts.
const MIN_BUDGET: u64 = 1_024;

/// How a model is told how hard to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// By an effort; it decides itself when to think.
    Effort,
    /// By a budget of tokens.
    Budget,
}

impl Thinking {
    /// The way of `model`, whose name may be that of another service for it.
    ///
    /// Models before Claude 4.6 only know budgets, as do most models of others that speak the
    /// format.
    pub(crate) fn of(model: &str) -> Self {
        let Some((_, name)) = model.split_once("claude-") else {
            return Thinking::Budget;
        };
        let name = name.split(['@', ':']).next().unwrap_or_default();
        let mut numbers = name
            .split(['-', '.'])
            .filter_map(|part| part.parse::<u64>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(0..=3), _) => Thinking::Budget,
            // A long second number is the date of a release without one.
            (Some(4), None | Some(0..=5 | 100..)) => Thinking::Budget,
            _ => Thinking::Effort,
        }
    }

    /// The fields `thinking` and `output_config` for the setting `reasoning_effort`.
    ///
    /// `max_tokens` bounds thinking and answer together; `None` leaves room for both, which the
    /// caller then has to grant, with [`room`].
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown effort, and when `max_tokens` leaves no room to
    /// think.
    pub(crate) fn fields(
        self,
        effort: &Value,
        max_tokens: Option<u64>,
    ) -> Result<Map<String, Value>> {
        let word = effort.as_str().unwrap_or_default();
        let level = match word {
            "none" => None,
            "minimal" | "low" => Some(("low", 2_048)),
            "medium" => Some(("medium", 8_192)),
            "high" => Some(("high", 16_384)),
            "xhigh" => Some(("xhigh", 24_576)),
            "max" => Some(("max", 24_576)),
            _ => return Err(unknown(effort)),
        };
        let mut fields = Map::new();
        match (self, level) {
            (Thinking::Effort, None) => {
                fields.insert("thinking".into(), json!({"type": "disabled"}));
            }
            (Thinking::Effort, Some((word, _))) => {
                fields.insert("thinking".into(), json!({"type": "adaptive"}));
                fields.insert("output_config".into(), json!({"effort": word}));
            }
            (Thinking::Budget, None) => {}
            (Thinking::Budget, Some((_, budget))) => {
                let budget = match max_tokens {
                    None => budget,
                    Some(limit) if limit <= MIN_BUDGET => return Err(no_room(limit)),
                    // A fifth at least is for the answer.
                    Some(limit) => budget.min(limit / 5 * 4).max(MIN_BUDGET),
                };
                fields.insert(
                    "thinking".into(),
                    json!({"type": "enabled", "budget_tokens": budget}),
                );
            }
        }
        Ok(fields)
    }
}

/// The tokens that `thinking` may use of `max_tokens`.
pub(super) fn room(thinking: Option<&Value>) -> u64 {
    thinking
        .and_then(|thinking| thinking.get("budget_tokens"))
        .and_then(Value::as_u64)
        .unwrap_or(0)
}

fn unknown(effort: &Value) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!(
            "the setting reasoning_effort must be one of none, minimal, low, medium, high, xhigh \
             and max, got {effort}"
        ),
    )
}

fn no_room(limit: u64) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!(
            "the setting reasoning_effort needs max_tokens of more than {MIN_BUDGET}, because \
             thinking counts towards it, got {limit}"
        ),
    )
}
