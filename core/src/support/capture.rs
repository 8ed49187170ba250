//! Which content of requests may get into telemetry, and in which form.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::redactor::Redactor;
use crate::error::{Error, ErrorKind, Result};

/// The least bound, so that a note about the truncation fits.
const MIN_BYTES: usize = 64;

/// What a piece of diagnostic content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// What went into an operation.
    Input,
    /// What came out of it.
    Output,
    /// What it failed with.
    Exception,
    /// The tools that a model was offered.
    ToolDefinitions,
}

impl DiagnosticKind {
    /// Every kind.
    pub const ALL: [DiagnosticKind; 4] = [
        DiagnosticKind::Input,
        DiagnosticKind::Output,
        DiagnosticKind::Exception,
        DiagnosticKind::ToolDefinitions,
    ];

    /// `"input"`, `"output"`, `"exception"` or `"tool_definitions"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DiagnosticKind::Input => "input",
            DiagnosticKind::Output => "output",
            DiagnosticKind::Exception => "exception",
            DiagnosticKind::ToolDefinitions => "tool_definitions",
        }
    }

    /// The attribute that carries it, such as `"diagnostic_input"`.
    #[must_use]
    pub const fn attribute(self) -> &'static str {
        match self {
            DiagnosticKind::Input => "diagnostic_input",
            DiagnosticKind::Output => "diagnostic_output",
            DiagnosticKind::Exception => "diagnostic_exception",
            DiagnosticKind::ToolDefinitions => "diagnostic_tool_definitions",
        }
    }
}

/// Changes an already redacted value once more.
pub type Scrubber = dyn Fn(DiagnosticKind, Value) -> Value + Send + Sync;

/// Lets the content of requests into telemetry: redacted, scrubbed, and bounded.
///
/// Nothing is captured until an application makes an enabled policy and installs it on the
/// [`Runtime`](crate::Runtime).
///
/// ```
/// use little_ghost::support::ContentCapture;
///
/// let policy = ContentCapture::enabled()
///     .with_max_bytes(16_384)?
///     .with_redactions(["the-value-of-a-token"]);
/// # Ok::<_, little_ghost::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ContentCapture {
    enabled: bool,
    max_bytes: Option<usize>,
    redactor: Redactor,
    scrubber: Option<Arc<Scrubber>>,
}

impl ContentCapture {
    /// A policy that never captures anything. This is the default.
    #[must_use]
    pub fn disabled() -> Self {
        Self::default()
    }

    /// A policy that captures everything, redacted.
    #[must_use]
    pub fn enabled() -> Self {
        Self {
            enabled: true,
            ..Self::default()
        }
    }

    /// Bounds each captured attribute. Without it there is no bound.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] below 64 bytes.
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Result<Self> {
        if max_bytes < MIN_BYTES {
            return Err(Error::new(
                ErrorKind::Argument,
                format!("max_bytes must be at least {MIN_BYTES}, got {max_bytes}"),
            ));
        }
        self.max_bytes = Some(max_bytes);
        Ok(self)
    }

    /// Takes these literals out, besides what looks like a secret; see [`Redactor::new`].
    #[must_use]
    pub fn with_redactions<T: Into<String>>(
        mut self,
        redactions: impl IntoIterator<Item = T>,
    ) -> Self {
        self.redactor = Redactor::new(redactions);
        self
    }

    /// Has `scrubber` change each redacted value. Its answer is redacted again.
    #[must_use]
    pub fn with_scrubber(
        mut self,
        scrubber: impl Fn(DiagnosticKind, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.scrubber = Some(Arc::new(scrubber));
        self
    }

    /// Whether anything is captured.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// `value` without secrets and without the bytes of attachments, of which type and size stay.
    #[must_use]
    pub fn redact(&self, value: &Value) -> Value {
        without_attachments(self.redactor.redact(value))
    }

    /// The attribute's text for `value`, JSON within the bound; `None` when nothing is captured.
    #[must_use]
    pub fn capture(&self, kind: DiagnosticKind, value: &Value) -> Option<String> {
        if !self.enabled {
            return None;
        }
        let mut value = self.redact(value);
        if let Some(scrubber) = &self.scrubber {
            value = self.redact(&scrubber(kind, value));
        }
        Some(self.bounded(kind, &value))
    }

    fn bounded(&self, kind: DiagnosticKind, value: &Value) -> String {
        let text = value.to_string();
        match self.max_bytes {
            Some(max_bytes) if text.len() > max_bytes => truncated(kind, &text, max_bytes),
            _ => text,
        }
    }
}

impl fmt::Debug for ContentCapture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ContentCapture")
            .field("enabled", &self.enabled)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// A note that something was cut, with as much of its beginning as fits.
fn truncated(kind: DiagnosticKind, text: &str, max_bytes: usize) -> String {
    if kind == DiagnosticKind::ToolDefinitions {
        return json!({"truncated": true}).to_string();
    }
    let mut end = max_bytes.min(text.len());
    loop {
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let preview = text.get(..end).unwrap_or_default();
        let note = json!({"truncated": true, "preview": preview}).to_string();
        // Quoting makes the preview longer than what was taken, so take less until it fits.
        match note.len().checked_sub(max_bytes) {
            None | Some(0) => return note,
            Some(_) if end == 0 => return json!({"truncated": true}).to_string(),
            Some(excess) => end = end.saturating_sub(excess.div_ceil(2).max(1)),
        }
    }
}

fn without_attachments(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(without_attachments).collect(),
        Value::Object(map) if is_attachment(&map) => Value::Object(described(map)),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, without_attachments(value)))
            .collect(),
        other => other,
    }
}

fn is_attachment(map: &Map<String, Value>) -> bool {
    matches!(
        map.get("type").and_then(Value::as_str),
        Some("image" | "document")
    ) && map.get("data").is_some_and(Value::is_string)
}

fn described(map: Map<String, Value>) -> Map<String, Value> {
    let mut described = Map::new();
    for key in ["type", "media_type"] {
        if let Some(value) = map.get(key) {
            described.insert(key.into(), value.clone());
        }
    }
    let data = map.get("data").and_then(Value::as_str).unwrap_or_default();
    let bytes = if map.get("encoding").and_then(Value::as_str) == Some("base64") {
        data.trim_end_matches('=').len() * 3 / 4
    } else {
        data.len()
    };
    described.insert("bytes".into(), bytes.into());
    described
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_nothing_unless_enabled() {
        let value = json!("hello");
        assert_eq!(
            ContentCapture::disabled().capture(DiagnosticKind::Input, &value),
            None
        );
        let captured = ContentCapture::enabled().capture(DiagnosticKind::Input, &value);
        assert_eq!(captured.as_deref(), Some("\"hello\""));
    }

    #[test]
    fn redacts_before_and_after_the_scrubber() {
        let policy = ContentCapture::enabled()
            .with_redactions(["literal-secret"])
            .with_scrubber(|kind, value| {
                assert_eq!(kind, DiagnosticKind::Output);
                assert_eq!(value["note"], "[REDACTED] here");
                json!({"note": "literal-secret again", "kept": value["kept"]})
            });
        let captured = policy.capture(
            DiagnosticKind::Output,
            &json!({"note": "literal-secret here", "kept": 1}),
        );
        assert_eq!(
            captured.as_deref(),
            Some(r#"{"note":"[REDACTED] again","kept":1}"#)
        );
    }

    #[test]
    fn long_values_become_a_preview_within_the_bound() {
        for text in ["x".repeat(500), "\"\n".repeat(300), "é漢".repeat(200)] {
            let policy = ContentCapture::enabled().with_max_bytes(100).unwrap();
            let captured = policy
                .capture(DiagnosticKind::Input, &json!({"text": text}))
                .unwrap();
            assert!(captured.len() <= 100, "{captured}");
            let note: Value = serde_json::from_str(&captured).unwrap();
            assert_eq!(note["truncated"], true);
            let preview = note["preview"].as_str().unwrap();
            assert!(
                preview.starts_with("{\"text\":") && preview.len() > 20,
                "{captured}"
            );
        }
        let policy = ContentCapture::enabled().with_max_bytes(64).unwrap();
        let tools = json!([{"name": "x".repeat(100)}]);
        let captured = policy.capture(DiagnosticKind::ToolDefinitions, &tools);
        assert_eq!(captured.as_deref(), Some(r#"{"truncated":true}"#));
        assert_eq!(
            ContentCapture::enabled()
                .with_max_bytes(63)
                .unwrap_err()
                .kind(),
            ErrorKind::Argument
        );
    }

    #[test]
    fn attachments_are_described_and_not_copied() {
        let value = json!([{"type": "image", "data": "QUJDRA==", "encoding": "base64", "media_type": "image/png"}]);
        let captured = ContentCapture::enabled().capture(DiagnosticKind::Input, &value);
        assert_eq!(
            captured.as_deref(),
            Some(r#"[{"type":"image","media_type":"image/png","bytes":4}]"#)
        );
    }
}
