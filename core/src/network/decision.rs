//! What an authorizer answers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::header;
use crate::error::{Error, ErrorKind, Result};

/// Longest reason that reaches a child process, in bytes.
const REASON_BYTES: usize = 1_000;

/// Whether a request may go on, and what the upstream server gets to see besides.
#[derive(Clone, PartialEq, Eq)]
pub struct Decision {
    allowed: bool,
    status: u16,
    reason: Option<String>,
    set_headers: Vec<(String, String)>,
    remove_headers: Vec<String>,
}

impl Decision {
    /// Lets the request through.
    #[must_use]
    pub fn allow() -> Self {
        Self {
            allowed: true,
            status: 200,
            reason: None,
            set_headers: Vec::new(),
            remove_headers: Vec::new(),
        }
    }

    /// Rejects the request with an HTTP status from 400 to 599. Envoy answers 403 in place of those from 500.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another status.
    pub fn deny(status: u16) -> Result<Self> {
        if !(400..=599).contains(&status) {
            return Err(argument(format!(
                "a request cannot be denied with status {status}: give one from 400 to 599"
            )));
        }
        Ok(Self {
            allowed: false,
            status,
            ..Self::allow()
        })
    }

    /// The denial for when nobody decides.
    pub(crate) fn refusal() -> Self {
        Self {
            allowed: false,
            status: 403,
            ..Self::allow()
        }
    }

    /// What the child process is told about a denial. Nothing secret belongs in it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for control characters or more than 1,000 bytes.
    pub fn with_reason(mut self, reason: impl Into<String>) -> Result<Self> {
        let reason = reason.into();
        if reason.len() > REASON_BYTES || reason.chars().any(char::is_control) {
            return Err(argument(format!(
                "the reason of a decision must be one line of at most {REASON_BYTES} bytes"
            )));
        }
        self.reason = Some(reason);
        Ok(self)
    }

    /// Has the upstream server get this header, in place of what the child sent. The policy's `mutation_headers` must
    /// name it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a header of the connection or the framing, for a value that no header can have, and on a
    /// denial.
    pub fn set_header(mut self, name: &str, value: impl Into<String>) -> Result<Self> {
        let (name, value) = (self.changing(name)?, value.into());
        header::check_value(&name, &value).map_err(argument)?;
        self.set_headers.retain(|(other, _)| *other != name);
        self.set_headers.push((name, value));
        Ok(self)
    }

    /// Keeps this header of the child from the upstream server. The policy's `mutation_headers` must name it.
    ///
    /// # Errors
    /// As [`set_header`](Self::set_header).
    pub fn remove_header(mut self, name: &str) -> Result<Self> {
        let name = self.changing(name)?;
        if !self.remove_headers.contains(&name) {
            self.remove_headers.push(name);
        }
        Ok(self)
    }

    fn changing(&self, name: &str) -> Result<String> {
        if !self.allowed {
            return Err(argument(
                "a denied request reaches no server, so its headers cannot be changed".into(),
            ));
        }
        header::mutable(name).map_err(argument)
    }

    /// Reads `{allowed, status?, reason?, set_headers?, remove_headers?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for anything else, as the builder's methods.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Some(Value::Bool(allowed)) = value.get("allowed") else {
            return Err(argument(
                "allowed of a decision must be true or false".into(),
            ));
        };
        let status = match value.get("status") {
            None | Some(Value::Null) => None,
            Some(status) => Some(
                status
                    .as_u64()
                    .and_then(|status| u16::try_from(status).ok())
                    .ok_or_else(|| {
                        argument("status of a decision must be an HTTP status".into())
                    })?,
            ),
        };
        let mut decision = if *allowed {
            match status {
                None | Some(200) => Self::allow(),
                Some(status) => {
                    return Err(argument(format!(
                        "an allowed request has status 200, not {status}"
                    )));
                }
            }
        } else {
            Self::deny(status.unwrap_or(403))?
        };
        match value.get("reason") {
            None | Some(Value::Null) => {}
            Some(Value::String(reason)) => decision = decision.with_reason(reason)?,
            Some(_) => return Err(argument("reason of a decision must be a string".into())),
        }
        for (name, value) in object(value.get("set_headers"))? {
            let Value::String(value) = value else {
                return Err(argument(format!(
                    "the value of the header {name:?} must be a string"
                )));
            };
            decision = decision.set_header(name, value)?;
        }
        for name in names(value.get("remove_headers"))? {
            decision = decision.remove_header(name)?;
        }
        Ok(decision)
    }

    /// The shape that crosses to a host, as [`from_value`](Self::from_value) reads it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let set: Map<String, Value> = self
            .set_headers
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({
            "allowed": self.allowed,
            "status": self.status,
            "reason": self.reason,
            "set_headers": set,
            "remove_headers": self.remove_headers,
        })
    }

    /// Whether the request goes on.
    #[must_use]
    pub fn allowed(&self) -> bool {
        self.allowed
    }

    /// 200 for an allowed request, else the status that the child gets.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// What the child is told.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Headers that the upstream server gets.
    #[must_use]
    pub fn set_headers(&self) -> &[(String, String)] {
        &self.set_headers
    }

    /// Headers that the upstream server does not get.
    #[must_use]
    pub fn remove_headers(&self) -> &[String] {
        &self.remove_headers
    }

    /// Refuses changes to headers that the policy does not name.
    pub(crate) fn check(&self, mutation_headers: &BTreeSet<String>) -> Result<()> {
        let set = self.set_headers.iter().map(|(name, _)| name);
        match set
            .chain(&self.remove_headers)
            .find(|name| !mutation_headers.contains(*name))
        {
            None => Ok(()),
            Some(name) => Err(Error::new(
                ErrorKind::Policy,
                format!(
                    "the authorizer changes the header {name:?}: name it in mutation_headers of the network policy"
                ),
            )),
        }
    }
}

/// Values of headers may be secrets.
impl std::fmt::Debug for Decision {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self
            .set_headers
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        formatter
            .debug_struct("Decision")
            .field("allowed", &self.allowed)
            .field("status", &self.status)
            .field("reason", &self.reason)
            .field("set_headers", &names)
            .field("remove_headers", &self.remove_headers)
            .finish()
    }
}

fn object(value: Option<&Value>) -> Result<Vec<(&String, &Value)>> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => Ok(map.iter().collect()),
        Some(_) => Err(argument(
            "set_headers of a decision must be an object".into(),
        )),
    }
}

fn names(value: Option<&Value>) -> Result<Vec<&str>> {
    let wrong = || argument("remove_headers of a decision must be an array of strings".into());
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| name.as_str().ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_crosses_to_a_host_and_back() {
        let decision = Decision::allow()
            .set_header("Authorization", "Bearer hush")
            .unwrap()
            .remove_header("X-Trace")
            .unwrap();
        assert_eq!(
            decision.to_value(),
            json!({"allowed": true, "status": 200, "reason": null,
                "set_headers": {"authorization": "Bearer hush"}, "remove_headers": ["x-trace"]})
        );
        assert_eq!(
            Decision::from_value(&decision.to_value()).unwrap(),
            decision
        );
        assert!(!format!("{decision:?}").contains("hush"));
        let denied =
            Decision::from_value(&json!({"allowed": false, "reason": "not here"})).unwrap();
        assert_eq!((denied.status(), denied.reason()), (403, Some("not here")));
    }

    #[test]
    fn only_headers_of_the_policy_may_change() {
        let named = BTreeSet::from(["authorization".to_owned()]);
        let set = |name: &str| Decision::allow().set_header(name, "x").unwrap();
        assert!(set("Authorization").check(&named).is_ok());
        assert_eq!(
            set("cookie").check(&named).unwrap_err().kind(),
            ErrorKind::Policy
        );
        let removed = Decision::allow().remove_header("cookie").unwrap();
        assert!(
            removed
                .check(&named)
                .unwrap_err()
                .message()
                .contains("mutation_headers")
        );
    }

    #[test]
    fn impossible_decisions_are_refused() {
        for value in [
            json!(null),
            json!({}),
            json!({"allowed": "yes"}),
            json!({"allowed": true, "status": 204}),
            json!({"allowed": false, "status": 302}),
            json!({"allowed": false, "status": 70_000}),
            json!({"allowed": false, "reason": "two\nlines"}),
            json!({"allowed": false, "reason": "x".repeat(1_001)}),
            json!({"allowed": false, "set_headers": {"a": "b"}}),
            json!({"allowed": true, "set_headers": {"host": "b"}}),
            json!({"allowed": true, "set_headers": {"a": "b\r\nhost: c"}}),
            json!({"allowed": true, "set_headers": {"a": 1}}),
            json!({"allowed": true, "set_headers": ["a"]}),
            json!({"allowed": true, "remove_headers": ["transfer-encoding"]}),
            json!({"allowed": true, "remove_headers": [1]}),
            json!({"allowed": true, "remove_headers": "a"}),
        ] {
            let error = Decision::from_value(&value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{value}");
        }
    }
}
