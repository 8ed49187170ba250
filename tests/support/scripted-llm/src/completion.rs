//! The shorthand for a model's answer, which `chat` and `responses` expand.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Completion {
    #[serde(default)]
    pub(crate) text: Pieces,
    #[serde(default)]
    pub(crate) reasoning: Pieces,
    /// The field of a chat delta that carries reasoning.
    #[serde(default = "default_reasoning_field")]
    pub(crate) reasoning_field: String,
    /// Chat only: each entry becomes a delta with `reasoning_details: [entry]`.
    #[serde(default)]
    pub(crate) reasoning_details: Vec<Value>,
    /// Responses only: `encrypted_content` of the reasoning item.
    pub(crate) encrypted_content: Option<String>,
    #[serde(default)]
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) finish_reason: Option<String>,
    #[serde(default = "default_usage", deserialize_with = "usage")]
    pub(crate) usage: Option<Usage>,
    pub(crate) id: Option<String>,
    #[serde(default = "default_model")]
    pub(crate) model: String,
    pub(crate) error: Option<Map<String, Value>>,
    /// Chat only: whether `[DONE]` ends the stream.
    #[serde(default = "yes")]
    pub(crate) done: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolCall {
    id: Option<String>,
    pub(crate) name: String,
    #[serde(default)]
    arguments: Value,
    /// Into how many fragments the arguments are cut.
    #[serde(default = "one")]
    pieces: usize,
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "text and reasoning take a string or a list of strings, {repeat, count}, {delay_ms} and {wait_for}"
)]
pub(crate) enum Pieces {
    One(String),
    Many(Vec<Piece>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Piece {
    Text(String),
    Repeat { repeat: String, count: usize },
    Delay { delay_ms: u64 },
    WaitFor { wait_for: String },
}

/// A piece as the expansions see it.
pub(crate) enum Part {
    Text(String, usize),
    Delay(Duration),
    WaitFor(String),
}

/// Token counts under neither vendor's names.
#[derive(Debug)]
pub(crate) struct Usage {
    pub(crate) input: Value,
    pub(crate) output: Value,
    pub(crate) total: Value,
    pub(crate) cached: Value,
    pub(crate) cache_write: Value,
    pub(crate) reasoning: Value,
    /// Everything else, passed on as it is.
    pub(crate) rest: Map<String, Value>,
}

impl Completion {
    pub(crate) fn finish_reason(&self) -> &str {
        match &self.finish_reason {
            Some(reason) => reason,
            None if self.tool_calls.is_empty() => "stop",
            None => "tool_calls",
        }
    }
}

impl ToolCall {
    pub(crate) fn id(&self, index: usize) -> String {
        self.id
            .clone()
            .unwrap_or_else(|| format!("call_{}", index + 1))
    }

    pub(crate) fn arguments(&self) -> String {
        match &self.arguments {
            Value::String(raw) => raw.clone(),
            Value::Null => "{}".to_owned(),
            other => other.to_string(),
        }
    }

    /// The arguments in about equal fragments, never inside a character.
    pub(crate) fn fragments(&self) -> Vec<String> {
        let characters: Vec<char> = self.arguments().chars().collect();
        let size = characters.len().div_ceil(self.pieces.max(1)).max(1);
        characters
            .chunks(size)
            .map(|fragment| fragment.iter().collect())
            .collect()
    }
}

impl Default for Pieces {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Pieces {
    /// The pieces; empty strings are left out unless listed.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match self {
            Self::One(text) if text.is_empty() => Vec::new(),
            Self::One(text) => vec![Part::Text(text.clone(), 1)],
            Self::Many(pieces) => pieces.iter().map(Piece::part).collect(),
        }
    }
}

impl Piece {
    fn part(&self) -> Part {
        match self {
            Self::Text(text) => Part::Text(text.clone(), 1),
            Self::Repeat { repeat, count } => Part::Text(repeat.clone(), *count),
            Self::Delay { delay_ms } => Part::Delay(Duration::from_millis(*delay_ms)),
            Self::WaitFor { wait_for } => Part::WaitFor(wait_for.clone()),
        }
    }
}

impl Usage {
    fn new(mut given: Map<String, Value>) -> Self {
        let mut take = |names: [&str; 2], default: u64| {
            names
                .iter()
                .find_map(|name| given.shift_remove(*name))
                .unwrap_or_else(|| default.into())
        };
        let input = take(["input_tokens", "prompt_tokens"], 10);
        let output = take(["output_tokens", "completion_tokens"], 5);
        let sum = input.as_u64().unwrap_or(0) + output.as_u64().unwrap_or(0);
        Self {
            total: take(["total_tokens", "total"], sum),
            cached: take(["cached_tokens", "cached"], 0),
            cache_write: take(["cache_write_tokens", "cache_write"], 0),
            reasoning: take(["reasoning_tokens", "reasoning"], 0),
            input,
            output,
            rest: given,
        }
    }
}

fn usage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
    Ok(Option::<Map<String, Value>>::deserialize(deserializer)?.map(Usage::new))
}

// Serde wants a function that gives the field's type, which is an Option.
#[allow(clippy::unnecessary_wraps)]
fn default_usage() -> Option<Usage> {
    Some(Usage::new(Map::new()))
}

fn default_reasoning_field() -> String {
    "reasoning_content".to_owned()
}

fn default_model() -> String {
    "scripted-model".to_owned()
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}
