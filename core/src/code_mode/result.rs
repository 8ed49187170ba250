//! What one look at a program saw.

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::message::Content;

/// How a program stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramStatus {
    /// It ended successfully.
    #[default]
    Completed,
    /// It goes on.
    StillWorking,
    /// It was ended on request.
    Terminated,
    /// It failed.
    Error,
}

impl ProgramStatus {
    /// `"completed"`, `"still_working"`, `"terminated"` or `"error"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ProgramStatus::Completed => "completed",
            ProgramStatus::StillWorking => "still_working",
            ProgramStatus::Terminated => "terminated",
            ProgramStatus::Error => "error",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            ProgramStatus::Completed,
            ProgramStatus::StillWorking,
            ProgramStatus::Terminated,
            ProgramStatus::Error,
        ];
        all.into_iter().find(|status| status.as_str() == name)
    }
}

/// What one look at a program saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramResult {
    /// Text since the look before.
    pub output: String,
    /// What the program came to, once it is completed.
    pub value: Option<Value>,
    /// How it stands.
    pub status: ProgramStatus,
    /// Why it failed, for the model.
    pub error: Option<String>,
    /// Descriptions of what its tool calls produced since the look before: `{media_type, name, bytes, tool}`.
    pub artifacts: Vec<Value>,
    /// Images and documents of its tool calls since the look before, for the model to see.
    pub presentation_content: Vec<Content>,
}

impl ProgramResult {
    /// Whether the program ended successfully.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.status == ProgramStatus::Completed
    }

    /// Whether the program goes on.
    #[must_use]
    pub fn is_still_working(&self) -> bool {
        self.status == ProgramStatus::StillWorking
    }

    /// What a model reads: `{status, output, value?, error?}`.
    #[must_use]
    pub fn to_report(&self) -> Map<String, Value> {
        let mut report = Map::new();
        report.insert("status".into(), json!(self.status.as_str()));
        report.insert("output".into(), json!(self.output));
        if let Some(value) = &self.value {
            report.insert("value".into(), value.clone());
        }
        if let Some(error) = &self.error {
            report.insert("error".into(), json!(error));
        }
        report
    }

    /// All of it: the report, `artifacts` and `presentation_content`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = self.to_report();
        let content: Vec<Value> = self
            .presentation_content
            .iter()
            .map(Content::to_value)
            .collect();
        value.insert("artifacts".into(), json!(self.artifacts));
        value.insert("presentation_content".into(), json!(content));
        Value::Object(value)
    }

    /// Reads what [`to_value`](Self::to_value) writes; everything but `status` may be missing.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for a status that there is not, and what unusable content gives.
    pub fn from_value(value: &Value) -> Result<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let list = |key: &str| {
            let list = value.get(key).and_then(Value::as_array);
            list.map(Vec::as_slice).unwrap_or_default()
        };
        let named = text("status").unwrap_or_default();
        let status = ProgramStatus::from_name(named).ok_or_else(|| {
            Error::new(
                ErrorKind::Protocol,
                format!(
                    "the status of a program must be completed, still_working, terminated or error, not {named:?}"
                ),
            )
        })?;
        Ok(Self {
            output: text("output").unwrap_or_default().to_owned(),
            value: value.get("value").filter(|value| !value.is_null()).cloned(),
            status,
            error: text("error").map(str::to_owned),
            artifacts: list("artifacts").to_vec(),
            presentation_content: list("presentation_content")
                .iter()
                .map(Content::from_value)
                .collect::<Result<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_leaves_out_what_is_not_there() {
        let result = ProgramResult::default();
        assert_eq!(
            Value::Object(result.to_report()).to_string(),
            r#"{"status":"completed","output":""}"#
        );
        let failed = ProgramResult {
            output: "x".into(),
            status: ProgramStatus::Error,
            error: Some("no".into()),
            ..ProgramResult::default()
        };
        assert_eq!(
            ProgramResult::from_value(&failed.to_value()).unwrap(),
            failed
        );
        assert!(ProgramResult::from_value(&json!({"status": "done"})).is_err());
    }
}
