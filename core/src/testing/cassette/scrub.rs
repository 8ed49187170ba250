//! Taking secrets out of what is written to files.

use bytes::Bytes;
use memchr::memmem;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

/// What stands in place of a secret.
pub(super) const MASK: &str = "[scrubbed]";

/// Shorter credentials are not looked for in texts: they would match by accident.
const MIN_FOUND: usize = 8;

/// How deep JSON may lie inside JSON: tool arguments are text in an event in a cassette.
const NESTING: usize = 3;

/// Headers that carry credentials.
const SECRET_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "api-key",
    "x-api-key",
    "x-goog-api-key",
    "cookie",
    "x-amz-security-token",
];

/// Parts of the names of query parameters and JSON keys that hold credentials.
const SECRET_NAMES: &[&str] = &[
    "apikey",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authorization",
    "clientsecret",
    "password",
    "credential",
    "signature",
    "securitytoken",
];

/// Whole names that do.
const SECRET_WORDS: &[&str] = &["key", "token", "secret", "sig", "code", "auth"];

/// The secrets of one cassette, in every form in which they may be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Scrubber {
    forms: Vec<String>,
}

impl Scrubber {
    /// Adds a secret.
    pub(super) fn add(&mut self, secret: &str) {
        for form in forms(secret) {
            if !self.forms.contains(&form) {
                self.forms.push(form);
            }
        }
        // The longest first, so that no part of one is left by a shorter one inside it.
        self.forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    }

    /// Adds what a request is authorised by.
    pub(super) fn add_request(&mut self, url: &Url, headers: &HeaderMap) {
        let mut found = Vec::new();
        for (name, value) in headers {
            if value.is_sensitive() || SECRET_HEADERS.contains(&name.as_str()) {
                let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
                let bare = text.split_once(' ').map(|(_, bare)| bare.trim().to_owned());
                found.push(bare.unwrap_or(text));
            }
        }
        for (name, value) in url.query_pairs() {
            if is_secret_name(&name) {
                found.push(value.into_owned());
            }
        }
        found.extend(url.password().map(str::to_owned));
        for secret in found.iter().filter(|secret| secret.len() >= MIN_FOUND) {
            self.add(secret);
        }
    }

    /// Whether any secret is in `text`, in any form.
    pub(super) fn finds(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }

    /// `text` without secrets.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), MASK);
            }
        }
        text
    }

    /// `value` without secrets in its texts, keys, and where a key says that there is one.
    pub(super) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => Value::Object(self.map(map)),
            other => other.clone(),
        }
    }

    fn map(&self, map: &Map<String, Value>) -> Map<String, Value> {
        map.iter()
            .map(|(key, value)| {
                let value = if value.is_string() && is_secret_key(key) {
                    Value::String(MASK.into())
                } else {
                    self.value(value)
                };
                (self.text(key), value)
            })
            .collect()
    }

    /// Chunks without secrets, those that lie across a boundary included.
    pub(super) fn chunks(&self, chunks: &[Bytes]) -> Vec<Bytes> {
        let whole = chunks.concat();
        let found = |form: &String| memmem::find(&whole, form.as_bytes()).is_some();
        let forms: Vec<&[u8]> = self
            .forms
            .iter()
            .filter(|form| found(form))
            .map(String::as_bytes)
            .collect();
        if forms.is_empty() {
            return chunks.to_vec();
        }
        let mut clean = Vec::with_capacity(chunks.len());
        let mut rest = whole.as_slice();
        let mut ends = chunks.iter().scan(0, |end, chunk| {
            *end += chunk.len();
            Some(*end)
        });
        let mut end = ends.next();
        let mut current = Vec::new();
        while let Some((first, tail)) = rest.split_first() {
            match forms.iter().find_map(|form| rest.strip_prefix(*form)) {
                Some(after) => {
                    current.extend_from_slice(MASK.as_bytes());
                    rest = after;
                }
                None => {
                    current.push(*first);
                    rest = tail;
                }
            }
            let position = whole.len() - rest.len();
            while end.is_some_and(|end| end <= position) {
                if !current.is_empty() {
                    clean.push(Bytes::from(std::mem::take(&mut current)));
                }
                end = ends.next();
            }
        }
        clean
    }
}

/// Whether a query parameter of that name holds a credential.
pub(super) fn is_secret_name(name: &str) -> bool {
    is_secret_key(name) || SECRET_WORDS.contains(&name.to_ascii_lowercase().as_str())
}

/// Whether a text under that JSON key is a credential.
fn is_secret_key(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    SECRET_NAMES.iter().any(|name| plain.contains(name))
}

/// The ways in which `secret` may be written: as it is, and escaped in JSON, also in JSON inside JSON.
fn forms(secret: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut current = vec![secret.to_owned()];
    for _ in 0..=NESTING {
        let escaped: Vec<String> = current.iter().flat_map(|form| escapes(form)).collect();
        all.append(&mut current);
        current = escaped;
        current.sort();
        current.dedup();
        if current.iter().all(|form| all.contains(form)) {
            break;
        }
    }
    all.sort();
    all.dedup();
    all
}

/// `text` as JSON strings hold it: with as few escapes as can be, with escaped slashes, in ASCII.
fn escapes(text: &str) -> [String; 3] {
    let quoted = Value::from(text).to_string();
    let plain = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let ascii = plain.chars().fold(String::new(), |mut ascii, letter| {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
        ascii
    });
    [plain.to_owned(), plain.replace('/', "\\/"), ascii]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubber(secret: &str) -> Scrubber {
        let mut scrubber = Scrubber::default();
        scrubber.add(secret);
        scrubber
    }

    #[test]
    fn a_secret_is_found_across_every_boundary_and_no_byte_beside_it_is_lost() {
        let text = "before sk-secret-1 after sk-secret-1";
        let scrubber = scrubber("sk-secret-1");
        for size in 1..=text.len() {
            let chunks: Vec<Bytes> = text
                .as_bytes()
                .chunks(size)
                .map(Bytes::copy_from_slice)
                .collect();
            let clean = scrubber.chunks(&chunks).concat();
            assert_eq!(
                String::from_utf8(clean).unwrap(),
                "before [scrubbed] after [scrubbed]",
                "{size}"
            );
        }
        let untouched = [Bytes::from("a"), Bytes::from("b")];
        assert_eq!(scrubber.chunks(&untouched), untouched);
    }

    #[test]
    fn a_secret_is_found_escaped_and_in_json_inside_json() {
        let secret = "pä/ss\"word\\1";
        let scrubber = scrubber(secret);
        let once = serde_json::json!({"a": secret}).to_string();
        let twice = serde_json::json!({"arguments": once}).to_string();
        let thrice = serde_json::json!({"chunk": twice}).to_string();
        for text in [secret.to_owned(), once, twice, thrice] {
            assert!(scrubber.finds(&text), "{text}");
            assert!(!scrubber.finds(&scrubber.text(&text)), "{text}");
        }
        assert!(scrubber.finds(r#"p\u00e4/ss\"word\\1"#));
        assert!(scrubber.finds(r#"pä\/ss\"word\\1"#));
    }

    #[test]
    fn keys_say_what_is_secret() {
        let body = serde_json::json!({
            "api_key": "short", "X-Api-Key": "short", "max_tokens": 5, "password": {"type": "string"},
            "nested": [{"client_secret": "short"}], "key": "not this",
        });
        let clean = Scrubber::default().value(&body);
        let expected = serde_json::json!({
            "api_key": MASK, "X-Api-Key": MASK, "max_tokens": 5, "password": {"type": "string"},
            "nested": [{"client_secret": MASK}], "key": "not this",
        });
        assert_eq!(clean, expected);
    }
}
