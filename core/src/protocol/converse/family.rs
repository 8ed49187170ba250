//! In what models differ that are asked in this format.

/// Whose model it is, as far as requests depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Anthropic's Claude.
    Claude,
    /// DeepSeek, which refuses reasoning of earlier turns.
    DeepSeek,
    /// Any other, or one that hides behind the identifier of an inference profile.
    Other,
}

impl Family {
    /// The family of `model`: an identifier, with or without a region in front, or an ARN.
    pub(super) fn of(model: &str) -> Self {
        if model.contains("anthropic.claude") || model.contains("claude-") {
            Family::Claude
        } else if model.contains("deepseek") {
            Family::DeepSeek
        } else {
            Family::Other
        }
    }
}
