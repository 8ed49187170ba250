//! What a finished answer says about itself.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result, Retry};
use crate::http::shorten;
use crate::message::Usage;
use crate::model::StopReason;

/// Characters of the service's explanation that an error repeats.
const MAX_EXPLANATION: usize = 500;

/// Reads the token counts of `usageMetadata`.
///
/// The prompt includes what was cached, but not what tools of the service added to it. The answer
/// excludes thoughts; some services include them, which the total gives away.
pub(super) fn usage(counts: &Map<String, Value>) -> Usage {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or(0);
    let prompt = count("promptTokenCount");
    let tools = count("toolUsePromptTokenCount");
    let cached = count("cachedContentTokenCount");
    let answer = count("candidatesTokenCount");
    let thoughts = count("thoughtsTokenCount");
    let total = count("totalTokenCount");
    let inside = thoughts > 0 && total == prompt.saturating_add(tools).saturating_add(answer);
    Usage {
        input_tokens: prompt.saturating_sub(cached).saturating_add(tools),
        output_tokens: if inside {
            answer.saturating_sub(thoughts)
        } else {
            answer
        },
        cache_read_tokens: cached,
        cache_write_tokens: 0,
        reasoning_tokens: thoughts,
    }
}

/// Why the model stopped, or that the answer is of no use.
///
/// # Errors
/// [`ErrorKind::MalformedToolCall`] for a call that the service could not read,
/// [`ErrorKind::Protocol`] for an answer that it could not, and [`ErrorKind::Provider`] for a
/// conversation that it did not accept.
pub(super) fn stop_reason(
    reason: &str,
    explanation: Option<&str>,
    has_calls: bool,
) -> Result<StopReason> {
    let failure = |kind: ErrorKind, what: &str| {
        let why = explanation.map_or(String::new(), |text| {
            format!(": {}", shorten(text, MAX_EXPLANATION))
        });
        Err(Error::new(kind, format!("{what} ({reason}){why}")))
    };
    match reason {
        "MALFORMED_FUNCTION_CALL" => failure(
            ErrorKind::MalformedToolCall,
            "the model wrote a tool call that cannot be read",
        ),
        "UNEXPECTED_TOOL_CALL" => failure(
            ErrorKind::MalformedToolCall,
            "the model called a tool that it was not offered",
        ),
        "MALFORMED_RESPONSE" => failure(
            ErrorKind::Protocol,
            "the model wrote an answer that cannot be read",
        )
        .map_err(|error| error.with_retry(Retry::Backoff)),
        "MISSING_THOUGHT_SIGNATURE" => failure(
            ErrorKind::Provider,
            "the conversation lacks the signature of an earlier answer: keep the reasoning blocks \
             of the model's messages",
        ),
        "MAX_TOKENS" | "CONTINUATION" => Ok(StopReason::MaxTokens),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR"
        | "ESCALATION"
        | "PUP_LIMITED_DISABLED" => Ok(StopReason::ContentFilter),
        _ if has_calls => Ok(StopReason::ToolUse),
        "STOP" | UNSPECIFIED => Ok(StopReason::EndTurn),
        other => Ok(StopReason::from_name(&other.to_ascii_lowercase())),
    }
}

/// A reason that says nothing, and that some services send before the end.
pub(super) const UNSPECIFIED: &str = "FINISH_REASON_UNSPECIFIED";
