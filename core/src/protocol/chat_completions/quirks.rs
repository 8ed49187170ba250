//! In what services differ that speak Chat Completions.

/// The differences that requests take into account. The default is OpenAI's own service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// How reasoning is asked for.
    pub(crate) reasoning: ReasoningField,
    /// Whether reasoning of earlier turns is sent back.
    pub(crate) replay_reasoning: bool,
    /// Where a marker asks for prompt caching.
    pub(crate) cache: CacheMarker,
}

/// How a request asks for reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReasoningField {
    /// `reasoning_effort: "high"`.
    #[default]
    Effort,
    /// `reasoning: {"effort": "high"}`; a setting `reasoning` is sent as it is.
    Object,
}

/// Where a request marks what to cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CacheMarker {
    /// Nowhere: caching is automatic or absent.
    #[default]
    None,
    /// On the request as a whole.
    Request,
    /// On the last text of the first system or developer message.
    Instructions,
}
