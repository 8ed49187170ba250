//! How a model is made to answer with a structured result.

use crate::model::ModelCapabilities;

/// How a model is made to answer with a structured result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultStrategy {
    /// Whatever the model has: its own structured output, else a tool. This is the default.
    #[default]
    Auto,
    /// The provider's own structured output.
    Provider,
    /// A tool that the model calls as its last action.
    Tool,
}

impl ResultStrategy {
    /// `"auto"`, `"provider"` or `"tool"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ResultStrategy::Auto => "auto",
            ResultStrategy::Provider => "provider",
            ResultStrategy::Tool => "tool",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Auto, Self::Provider, Self::Tool]
            .into_iter()
            .find(|strategy| strategy.as_str() == name)
    }
}

impl ResultStrategy {
    /// The strategy for the model `target`, with or without ordinary tools; an error says why
    /// there is none.
    pub(super) fn choose(
        self,
        capabilities: &ModelCapabilities,
        target: &str,
        has_tools: bool,
    ) -> Result<Self, String> {
        let native = capabilities.native_structured_output && (!has_tools || capabilities.tools);
        let by_tool = capabilities.tools && capabilities.tool_choice;
        let refuse = |problem: &str| Err(format!("the model {target:?} {problem}"));
        match self {
            Self::Auto if !capabilities.known => refuse(
                "has unknown capabilities; say which strategy it supports (provider or tool), or \
                 give the model details with supported_parameters",
            ),
            Self::Auto if native => Ok(Self::Provider),
            Self::Auto if by_tool => Ok(Self::Tool),
            Self::Auto => refuse(
                "has neither structured output nor tools with a choice of tool; use another model",
            ),
            Self::Provider if capabilities.known && !native => refuse(if has_tools {
                "does not support structured output together with tools; use strategy tool or auto"
            } else {
                "does not support structured output; use strategy tool or auto"
            }),
            Self::Tool if capabilities.known && !by_tool => refuse(
                "does not support tools with a choice of tool; use strategy provider or auto",
            ),
            chosen => Ok(chosen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ResultStrategy::{Auto, Provider, Tool};
    use super::*;

    fn capabilities(native: bool, tools: bool, tool_choice: bool) -> ModelCapabilities {
        ModelCapabilities {
            native_structured_output: native,
            tools,
            tool_choice,
            ..ModelCapabilities::permissive()
        }
    }

    #[test]
    fn the_strategy_follows_the_capabilities() {
        let everything = ModelCapabilities::permissive();
        assert_eq!(Auto.choose(&everything, "c:m", true), Ok(Provider));
        let only_native = capabilities(true, false, false);
        assert_eq!(Auto.choose(&only_native, "c:m", false), Ok(Provider));
        let by_tool = capabilities(false, true, true);
        assert_eq!(Auto.choose(&by_tool, "c:m", true), Ok(Tool));
        for (strategy, capabilities, has_tools) in [
            (Auto, &only_native, true),
            (Auto, &capabilities(false, true, false), false),
            (Auto, &ModelCapabilities::unknown(), false),
            (Provider, &by_tool, false),
            (Provider, &only_native, true),
            (Tool, &only_native, false),
        ] {
            let problem = strategy.choose(capabilities, "c:m", has_tools).unwrap_err();
            assert!(problem.contains("c:m"), "{problem}");
        }
        let unknown = ModelCapabilities::unknown();
        assert_eq!(Provider.choose(&unknown, "c:m", false), Ok(Provider));
        assert_eq!(Tool.choose(&unknown, "c:m", false), Ok(Tool));
    }
}
