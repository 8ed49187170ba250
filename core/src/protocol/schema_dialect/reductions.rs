//! One schema in every dialect that it was needed in.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Dialect, Reduced, reduce};

/// One schema in every dialect that it was needed in: a tool is sent with each request.
#[derive(Debug, Default)]
pub(crate) struct Reductions {
    openai_strict: OnceLock<Reduced>,
    openai_tool: OnceLock<Reduced>,
    anthropic: OnceLock<Reduced>,
    anthropic_tool: OnceLock<Reduced>,
    gemini: OnceLock<Reduced>,
    bedrock: OnceLock<Reduced>,
    bedrock_tool: OnceLock<Reduced>,
}

impl Reductions {
    /// What `schema`, which is always the same, becomes in `dialect`.
    pub(crate) fn of(&self, dialect: Dialect, schema: &Value) -> &Reduced {
        let kept = match dialect {
            Dialect::OpenAiStrict => &self.openai_strict,
            Dialect::OpenAiTool => &self.openai_tool,
            Dialect::Anthropic => &self.anthropic,
            Dialect::AnthropicTool => &self.anthropic_tool,
            Dialect::Gemini => &self.gemini,
            Dialect::Bedrock => &self.bedrock,
            Dialect::BedrockTool => &self.bedrock_tool,
        };
        kept.get_or_init(|| reduce(dialect, schema))
    }
}
