//! Where child processes may connect to.

use serde_json::{Map, Value, json};

use super::access::{invalid, said};
use crate::error::Result;

/// How far child processes reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NetworkMode {
    /// No network.
    None,
    /// What a gateway lets through.
    Allowlist,
    /// What the host reaches.
    Inherit,
}

impl NetworkMode {
    /// Every mode.
    pub const ALL: [NetworkMode; 3] = [Self::Inherit, Self::None, Self::Allowlist];

    /// The name in declarations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            NetworkMode::None => "none",
            NetworkMode::Allowlist => "allowlist",
            NetworkMode::Inherit => "inherit",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// How much a gateway looks into what it passes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inspection {
    /// Only where connections go.
    #[default]
    Connect,
    /// Each HTTP request, which an authorizer decides about.
    Http,
}

impl Inspection {
    /// The name in declarations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Inspection::Connect => "connect",
            Inspection::Http => "http",
        }
    }
}

/// Where child processes may connect to. Two policies are equal when they are enforced alike.
#[derive(Clone, PartialEq)]
pub struct NetworkPolicy {
    /// How far they reach.
    pub mode: NetworkMode,
    /// The destinations of an allowlist: lower case, sorted, each once.
    pub allow: Vec<String>,
    /// How much a gateway looks at.
    pub inspection: Inspection,
    /// Which gateway enforces the allowlist, as its declaration; `None` is the sandbox's own choice.
    pub gateway: Option<Value>,
    /// What decides about HTTP requests; an object of a host stands there as `{"host": key}`.
    pub authorizer: Option<Value>,
    /// Headers that the authorizer sees: lower case, sorted.
    pub forward_headers: Vec<String>,
    /// Headers that the authorizer may set: lower case, sorted.
    pub mutation_headers: Vec<String>,
}

impl NetworkPolicy {
    /// The policy of a mode without options.
    #[must_use]
    pub fn new(mode: NetworkMode) -> Self {
        Self {
            mode,
            allow: Vec::new(),
            inspection: Inspection::default(),
            gateway: None,
            authorizer: None,
            forward_headers: Vec::new(),
            mutation_headers: Vec::new(),
        }
    }

    /// No network.
    #[must_use]
    pub fn none() -> Self {
        Self::new(NetworkMode::None)
    }

    /// What the host reaches.
    #[must_use]
    pub fn inherit() -> Self {
        Self::new(NetworkMode::Inherit)
    }

    /// Only these destinations, through a gateway.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) without a destination, or for one that is blank or contains spaces.
    pub fn allowlist<T: AsRef<str>>(destinations: impl IntoIterator<Item = T>) -> Result<Self> {
        let allow = destinations
            .into_iter()
            .map(|destination| destination.as_ref().to_owned())
            .collect();
        Self {
            allow,
            ..Self::new(NetworkMode::Allowlist)
        }
        .check()
    }

    /// Reads a mode, or `{mode, allow, inspection, gateway, authorizer, forward_headers, mutation_headers}`.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) for what is unknown or does not go together.
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = match value {
            Value::String(_) => return Ok(Self::new(mode(value)?)),
            Value::Object(map) => map,
            other => {
                return Err(invalid(format!(
                    "network must be a mode or an object, got {}",
                    said(other)
                )));
            }
        };
        let mut policy = Self::new(mode(map.get("mode").unwrap_or(&Value::Null))?);
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "mode" => {}
                "allow" => policy.allow = texts(key, value)?,
                "inspection" => policy.inspection = inspection(value)?,
                "gateway" => policy.gateway = Some(value.clone()),
                "authorizer" => policy.authorizer = Some(value.clone()),
                "forward_headers" => policy.forward_headers = texts(key, value)?,
                "mutation_headers" => policy.mutation_headers = texts(key, value)?,
                other => {
                    return Err(invalid(format!(
                        "unknown network option {other:?}; use mode, allow, inspection, gateway, \
                         authorizer, forward_headers or mutation_headers"
                    )));
                }
            }
        }
        policy.check()
    }

    /// The policy, normalised, when its parts go together.
    ///
    /// # Errors
    /// As [`NetworkPolicy::from_value`].
    pub fn check(mut self) -> Result<Self> {
        self.allow = normalized("allow", self.allow)?;
        self.forward_headers = headers("forward_headers", self.forward_headers)?;
        self.mutation_headers = headers("mutation_headers", self.mutation_headers)?;
        if self.mode == NetworkMode::Allowlist {
            if self.allow.is_empty() {
                return Err(invalid(
                    "an allowlist needs at least one destination in allow; use the mode none for no network"
                        .into(),
                ));
            }
            if self.inspection == Inspection::Http && self.authorizer.is_none() {
                return Err(invalid(
                    "the inspection http needs an authorizer, which decides about each request"
                        .into(),
                ));
            }
        } else if self != Self::new(self.mode) {
            return Err(invalid(format!(
                "the network mode {} takes no options; they belong to the mode allowlist",
                self.mode.as_str()
            )));
        }
        Ok(self)
    }

    /// Whether a gateway decides.
    #[must_use]
    pub fn is_allowlist(&self) -> bool {
        self.mode == NetworkMode::Allowlist
    }

    /// Whether this is no wider than `parent`: the same, or no network.
    #[must_use]
    pub fn is_within(&self, parent: &Self) -> bool {
        self.mode == NetworkMode::None || self == parent
    }

    /// The declaration, normalised.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("mode".into(), json!(self.mode.as_str()));
        if self.is_allowlist() {
            map.insert("allow".into(), json!(self.allow));
            map.insert("inspection".into(), json!(self.inspection.as_str()));
            map.insert("gateway".into(), json!(self.gateway));
            map.insert("authorizer".into(), json!(self.authorizer));
            map.insert("forward_headers".into(), json!(self.forward_headers));
            map.insert("mutation_headers".into(), json!(self.mutation_headers));
        }
        Value::Object(map)
    }
}

fn mode(value: &Value) -> Result<NetworkMode> {
    value
        .as_str()
        .and_then(NetworkMode::from_name)
        .ok_or_else(|| {
            invalid(format!(
                "the network mode must be none, inherit or allowlist, got {}",
                said(value)
            ))
        })
}

fn inspection(value: &Value) -> Result<Inspection> {
    match value.as_str() {
        Some("connect") => Ok(Inspection::Connect),
        Some("http") => Ok(Inspection::Http),
        _ => Err(invalid(format!(
            "network.inspection must be connect or http, got {}",
            said(value)
        ))),
    }
}

impl std::fmt::Debug for NetworkPolicy {
    /// Without what is declared of the gateway and the authorizer, which may hold secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hidden = |declared: &Option<Value>| declared.as_ref().map(|_| "..");
        formatter
            .debug_struct("NetworkPolicy")
            .field("mode", &self.mode)
            .field("allow", &self.allow)
            .field("inspection", &self.inspection)
            .field("gateway", &hidden(&self.gateway))
            .field("authorizer", &hidden(&self.authorizer))
            .field("forward_headers", &self.forward_headers)
            .field("mutation_headers", &self.mutation_headers)
            .finish()
    }
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>> {
    let refused =
        |what: String| invalid(format!("network.{key} must be a list of texts, got {what}"));
    let Value::Array(values) = value else {
        return Err(refused(said(value)));
    };
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(refused(format!("{} in it", said(other)))),
    };
    values.iter().map(text).collect()
}

fn normalized(key: &str, values: Vec<String>) -> Result<Vec<String>> {
    let mut values: Vec<String> = values.iter().map(|value| value.to_lowercase()).collect();
    let unusable = |value: &String| {
        value.is_empty() || value.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    if let Some(value) = values.iter().find(|value| unusable(value)) {
        return Err(invalid(format!(
            "network.{key} must not hold {value:?}: leave out blanks and spaces"
        )));
    }
    values.sort();
    values.dedup();
    Ok(values)
}

fn headers(key: &str, values: Vec<String>) -> Result<Vec<String>> {
    let values = normalized(key, values)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match values.iter().find(|value| !value.bytes().all(allowed)) {
        Some(value) => Err(invalid(format!(
            "network.{key} must hold names of HTTP headers, got {value:?}"
        ))),
        None => Ok(values),
    }
}
