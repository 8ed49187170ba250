//! Targets: `connection:model-id`.

use crate::error::{Error, ErrorKind, Result};

/// A connection's name and a model's identifier there, which may itself contain colons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) connection: String,
    pub(super) model: String,
}

impl Target {
    pub(super) fn new(connection: &str, model: &str) -> Result<Self> {
        let (connection, model) = (connection.trim(), model.trim());
        if connection.is_empty() || model.is_empty() {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "model target \"{connection}:{model}\" is incomplete: write it as \
                     \"connection:model-id\", such as \"openrouter:openai/gpt-5.6-luna\""
                ),
            ));
        }
        Ok(Self {
            connection: connection.to_owned(),
            model: model.to_owned(),
        })
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let (connection, model) = text.split_once(':').unwrap_or((text, ""));
        Self::new(connection, model)
    }

    pub(super) fn canonical(&self) -> String {
        format!("{}:{}", self.connection, self.model)
    }
}
