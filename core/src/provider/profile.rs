//! Model profiles: what a role stands for.

use serde_json::{Map, Value};

use super::policy;
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::protocol::settings::overlay;

/// What a model role stands for.
///
/// ```
/// use little_ghost::provider::Profile;
///
/// let profile = Profile::new("primary:openai/gpt-5.6-luna")
///     .setting("temperature", 0.2)
///     .request("read_timeout", 300);
/// # let _ = profile;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    pub(super) target: Option<String>,
    pub(super) settings: Map<String, Value>,
    pub(super) request: Map<String, Value>,
    pub(super) details: Option<Map<String, Value>>,
    pub(super) inherits: Option<String>,
}

impl Profile {
    /// A profile for `target`, written `connection:model-id`.
    pub fn new(target: impl Into<String>) -> Self {
        Self {
            target: Some(target.into()),
            ..Self::default()
        }
    }

    /// A profile that takes everything it does not set from another role.
    pub fn inheriting(role: impl Into<String>) -> Self {
        Self {
            inherits: Some(role.into()),
            ..Self::default()
        }
    }

    /// Sets a default for requests, such as `temperature`.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Sets a transport bound over the connection's, such as `read_timeout` in seconds.
    #[must_use]
    pub fn request(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.request.insert(name.into(), value.into());
        self
    }

    /// States what is known about the model: `context_window`, `max_output_tokens`,
    /// `input_modalities`, `supported_parameters`, `pricing`.
    #[must_use]
    pub fn details(mut self, details: Map<String, Value>) -> Self {
        self.details = Some(details);
        self
    }

    /// Reads a profile; keys other than `target`, `settings`, `request`, `details` and
    /// `inherits` are ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for a wrong shape or an unknown request option.
    pub fn from_value(role: &str, value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(role, "", "a mapping", value));
        };
        let present = |key: &str| map.get(key).filter(|value| !value.is_null());
        let text = |key: &str| match present(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
            Some(other) => Err(invalid(role, key, "a string", other)),
        };
        let object = |key: &str| match present(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object.clone())),
            Some(other) => Err(invalid(role, key, "a mapping", other)),
        };
        let request = object("request")?.unwrap_or_default();
        Ok(Self {
            target: text("target")?,
            settings: object("settings")?.unwrap_or_default(),
            request: policy::normalize(role, &request)?,
            details: object("details")?,
            inherits: text("inherits")?,
        })
    }

    /// This profile with everything that `child` sets over it.
    pub(super) fn overlaid(mut self, child: Profile) -> Profile {
        overlay(&mut self.settings, &child.settings);
        self.request.extend(child.request);
        Profile {
            target: child.target.or(self.target),
            settings: self.settings,
            request: self.request,
            details: child.details.or(self.details),
            inherits: child.inherits,
        }
    }
}

/// The prefixes of a dotted role, longest first: `a.b.c`, `a.b`, `a`.
pub(super) fn prefixes(role: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(role), |prefix| {
        prefix.rsplit_once('.').map(|(shorter, _)| shorter)
    })
}

fn invalid(role: &str, key: &str, expected: &str, got: &Value) -> Error {
    let what = if key.is_empty() {
        format!("model {role:?}")
    } else {
        format!("{key} of model {role:?}")
    };
    Error::new(
        ErrorKind::Configuration,
        format!("{what} must be {expected}, not {}", kind_of(got)),
    )
}
