//! Takes secrets out of values before they are written somewhere.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

/// What stands where a secret was.
pub const REDACTED: &str = "[REDACTED]";

/// Shorter literals would take out ordinary text.
const MIN_LITERAL: usize = 8;

/// Texts that look like secrets: bearer tokens, keys of GitHub, of AWS, and `sk-` and `pk-` keys.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?i:(?P<scheme>\bbearer\s+)[A-Za-z0-9._~+/=-]+)
        | \bgh[a-z]_[A-Za-z0-9_]{16,}
        | \bgithub_pat_[A-Za-z0-9_]{9,}
        | \bAKIA[A-Z0-9]{16}\b
        | \b[sp]k-[A-Za-z0-9_-]{16,}",
    )
    .ok()
});

/// Removes what is secret, or looks like it, from values on their way to logs and telemetry.
///
/// Values under keys such as `password`, `api_key` or `accessToken` go, and so do known literals and texts
/// of well-known shape, wherever they are. It lowers the risk of a leak; it cannot prove that nothing is left.
#[derive(Clone, Default)]
pub struct Redactor {
    literals: Vec<String>,
}

impl Redactor {
    /// A redactor that also knows these secrets. Those of fewer than eight characters are ignored, because they
    /// would take out ordinary text.
    #[must_use]
    pub fn new<T: Into<String>>(literals: impl IntoIterator<Item = T>) -> Self {
        let mut literals: Vec<String> = literals
            .into_iter()
            .map(Into::into)
            .filter(|literal| literal.chars().count() >= MIN_LITERAL)
            .collect();
        // Longest first, so that a secret that holds another one goes as a whole.
        literals.sort_by_key(|literal| std::cmp::Reverse(literal.len()));
        Self { literals }
    }

    /// A redacted copy of `value`.
    #[must_use]
    pub fn redact(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.scrub(text).into_owned()),
            Value::Array(items) => items.iter().map(|item| self.redact(item)).collect(),
            Value::Object(map) => Value::Object(self.redact_map(map)),
            other => other.clone(),
        }
    }

    /// A redacted copy of `map`.
    #[must_use]
    pub fn redact_map(&self, map: &Map<String, Value>) -> Map<String, Value> {
        map.iter()
            .map(|(key, value)| {
                let value = if Self::is_sensitive_key(key) {
                    Value::String(REDACTED.into())
                } else {
                    self.redact(value)
                };
                (key.clone(), value)
            })
            .collect()
    }

    /// `text` without the secrets in it.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for literal in &self.literals {
            if text.contains(literal.as_str()) {
                text = Cow::Owned(text.replace(literal.as_str(), REDACTED));
            }
        }
        let Some(secrets) = &*SECRETS else {
            return Cow::Borrowed(REDACTED);
        };
        let replacement = format!("${{scheme}}{REDACTED}");
        let replaced = match secrets.replace_all(&text, replacement.as_str()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(replaced) => Some(replaced),
        };
        replaced.map_or(text, Cow::Owned)
    }

    /// Whether `key` names a credential: it contains authorization, api key, credential, password, secret, cookie or
    /// private key, or has the word token; in any case and any way of joining words.
    #[must_use]
    pub fn is_sensitive_key(key: &str) -> bool {
        let key = words(key);
        const PARTS: [&str; 8] = [
            "authorization",
            "api_key",
            "apikey",
            "credential",
            "password",
            "secret",
            "cookie",
            "private_key",
        ];
        PARTS.iter().any(|part| key.contains(part)) || key.split('_').any(|word| word == "token")
    }
}

/// `"X-accessTokenID"` as `"x_access_token_id"`.
fn words(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    let mut words = String::with_capacity(key.len() + 8);
    for (index, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            words.push('_');
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| characters.get(index));
        let after = characters.get(index + 1);
        let starts_word = character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if starts_word {
            words.push('_');
        }
        words.extend(character.to_lowercase());
    }
    words
}

impl fmt::Debug for Redactor {
    /// Never shows the secrets that it knows.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Redactor")
            .field("literals", &self.literals.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn knows_the_names_of_credentials() {
        for key in [
            "Authorization",
            "api_key",
            "apiKey",
            "API-Key",
            "xApiKeyValue",
            "credentials",
            "dbPassword",
            "client_secret",
            "Set-Cookie",
            "privateKey",
            "token",
            "accessToken",
            "TOKEN",
            "x-token-id",
            "OAuthToken",
        ] {
            assert!(Redactor::is_sensitive_key(key), "{key}");
        }
        for key in ["input_tokens", "maxTokens", "tokenizer", "key", "name", ""] {
            assert!(!Redactor::is_sensitive_key(key), "{key}");
        }
    }

    #[test]
    fn takes_secrets_out_of_text() {
        let redactor = Redactor::new(["hunter2-hunter2", "short"]);
        for (text, expected) in [
            (
                "Authorization: Bearer abc.def-123",
                "Authorization: Bearer [REDACTED]",
            ),
            ("use ghp_0123456789abcdefghij now", "use [REDACTED] now"),
            ("github_pat_0123456789abcdefghij", "[REDACTED]"),
            ("id AKIAABCDEFGHIJKLMNOP.", "id [REDACTED]."),
            ("sk-or-v1-0123456789abcdef01234", "[REDACTED]"),
            ("pass hunter2-hunter2!", "pass [REDACTED]!"),
            (
                "short risk-averse sk-short AKIASHORT",
                "short risk-averse sk-short AKIASHORT",
            ),
        ] {
            assert_eq!(redactor.scrub(text), expected);
        }
    }

    #[test]
    fn redacts_nested_values_and_leaves_the_original() {
        let value = json!({"user": "Ann", "auth": {"password": {"a": 1}, "list": ["Bearer x", 3]}});
        let redacted = Redactor::default().redact(&value);
        assert_eq!(
            redacted,
            json!({"user": "Ann", "auth": {"password": "[REDACTED]", "list": ["Bearer [REDACTED]", 3]}})
        );
        assert_eq!(value["auth"]["list"][0], "Bearer x");
    }

    #[test]
    fn does_not_show_what_it_knows() {
        let shown = format!("{:?}", Redactor::new(["a-secret-value"]));
        assert!(!shown.contains("a-secret-value"), "{shown}");
    }
}
