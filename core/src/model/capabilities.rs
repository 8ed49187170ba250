//! Which optional features a model has.

/// The optional features of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCapabilities {
    /// Accepts a JSON Schema for its whole answer.
    pub native_structured_output: bool,
    /// Accepts tool definitions.
    pub tools: bool,
    /// Accepts an explicit choice of tool.
    pub tool_choice: bool,
    /// Request parameters the model accepts; `None` means unrestricted.
    pub supported_parameters: Option<Vec<String>>,
    /// Whether these values come from metadata rather than from absence of it.
    pub known: bool,
}

impl ModelCapabilities {
    /// Everything is supported.
    #[must_use]
    pub fn permissive() -> Self {
        Self {
            native_structured_output: true,
            tools: true,
            tool_choice: true,
            supported_parameters: None,
            known: true,
        }
    }

    /// Nothing is known, so nothing is assumed.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            native_structured_output: false,
            tools: false,
            tool_choice: false,
            supported_parameters: None,
            known: false,
        }
    }

    /// Whether the parameter list, if there is one, contains any of `names`.
    #[must_use]
    pub fn supports_parameter(&self, names: &[&str]) -> bool {
        self.supported_parameters
            .as_ref()
            .is_none_or(|list| list.iter().any(|entry| names.contains(&entry.as_str())))
    }
}
