//! Which optional features a model has.

use serde_json::{Map, Value, json};

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

    /// What `supported_parameters` in the details of a model say; without that list
    /// [`unknown`](Self::unknown).
    #[must_use]
    pub fn from_details(details: &Map<String, Value>) -> Self {
        let Some(Value::Array(list)) = details.get("supported_parameters") else {
            return Self::unknown();
        };
        let mut parameters: Vec<String> = Vec::with_capacity(list.len());
        for name in list.iter().filter_map(Value::as_str) {
            if !parameters.iter().any(|known| known == name) {
                parameters.push(name.to_owned());
            }
        }
        let has = |name: &str| parameters.iter().any(|parameter| parameter == name);
        Self {
            native_structured_output: has("structured_outputs") || has("response_format"),
            tools: has("tools"),
            tool_choice: has("tool_choice"),
            known: true,
            supported_parameters: Some(parameters),
        }
    }

    /// `{native_structured_output, tools, tool_choice, supported_parameters, known}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "native_structured_output": self.native_structured_output,
            "tools": self.tools,
            "tool_choice": self.tool_choice,
            "supported_parameters": self.supported_parameters,
            "known": self.known,
        })
    }

    /// Reads what [`to_value`](Self::to_value) writes. What is absent is not supported; `known` is
    /// true unless it says otherwise.
    #[must_use]
    pub fn from_value(value: &Value) -> Self {
        let flag =
            |name: &str, default: bool| value.get(name).and_then(Value::as_bool).unwrap_or(default);
        let parameters = value.get("supported_parameters").and_then(Value::as_array);
        Self {
            native_structured_output: flag("native_structured_output", false),
            tools: flag("tools", false),
            tool_choice: flag("tool_choice", false),
            supported_parameters: parameters.map(|list| {
                let names = list.iter().filter_map(Value::as_str);
                names.map(str::to_owned).collect()
            }),
            known: flag("known", true),
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
