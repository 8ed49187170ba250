//! Content blocks: the shared vocabulary of messages, providers and tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};

/// One block of a [`Message`](crate::Message).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Visible text.
    Text(String),
    /// An image.
    Image(Attachment),
    /// A document such as a PDF.
    Document(Attachment),
    /// Reasoning of the model, visible or opaque.
    Reasoning(Reasoning),
    /// A tool call requested by the model.
    ToolUse(ToolUse),
    /// The answer to a tool call.
    ToolResult(ToolResult),
}

/// Bytes with their media type: an image or a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The original bytes.
    pub data: Bytes,
    /// MIME type such as `image/png`.
    pub media_type: String,
    /// File name or label; always present for documents.
    pub name: Option<String>,
}

/// Reasoning that may have to be sent back unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// Visible text, or empty.
    pub text: String,
    /// Signature over `text`, byte for byte as the provider sent it.
    pub signature: Option<String>,
    /// Opaque bytes that only the provider can read; excludes text and signature.
    pub redacted_content: Option<Bytes>,
    /// Provider-specific objects.
    pub details: Option<Vec<Value>>,
}

/// A tool call requested by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// Identifier that the result must repeat.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments chosen by the model.
    pub input: Map<String, Value>,
}

/// Whether a tool call succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    /// The tool returned a value.
    Success,
    /// The call failed; the content says how.
    Error,
}

impl ToolStatus {
    /// `"success"` or `"error"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ToolStatus::Success => "success",
            ToolStatus::Error => "error",
        }
    }
}

/// What the model reads as the result of a call: text, or blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolResultContent {
    /// Plain text.
    Text(String),
    /// Text and attachments.
    Blocks(Vec<Content>),
}

impl ToolResultContent {
    /// The text of the result; attachments are left out.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            ToolResultContent::Text(text) => text.clone(),
            ToolResultContent::Blocks(blocks) => visible_text(blocks),
        }
    }

    /// Reads a string or an array of blocks.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for anything else, and for an invalid block.
    pub fn from_value(value: &Value) -> Result<Self> {
        match value {
            Value::String(text) => Ok(ToolResultContent::Text(text.clone())),
            Value::Array(blocks) => blocks
                .iter()
                .map(Content::from_value)
                .collect::<Result<_>>()
                .map(ToolResultContent::Blocks),
            _ => Err(invalid(
                "tool_result",
                "content must be a string or an array of blocks",
            )),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            ToolResultContent::Text(text) => json!(text),
            ToolResultContent::Blocks(blocks) => blocks.iter().map(Content::to_value).collect(),
        }
    }
}

/// The answer to one [`ToolUse`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// Identifier of the call this answers.
    pub tool_use_id: String,
    /// What the model reads.
    pub content: ToolResultContent,
    /// Whether the call succeeded.
    pub status: ToolStatus,
}

pub(crate) fn visible_text(blocks: &[Content]) -> String {
    let mut text = String::new();
    for block in blocks {
        if let Content::Text(part) = block {
            text.push_str(part);
        }
    }
    text
}

impl ToolUse {
    /// The serialised block.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({"type": "tool_use", "id": self.id, "name": self.name, "input": self.input})
    }
}

impl ToolResult {
    /// The serialised block.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "type": "tool_result", "tool_use_id": self.tool_use_id,
            "content": self.content.to_value(), "status": self.status.as_str(),
        })
    }
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text(text.into())
    }

    /// An image block from bytes and a MIME type.
    pub fn image(data: impl Into<Bytes>, media_type: impl Into<String>) -> Self {
        Content::Image(Attachment {
            data: data.into(),
            media_type: media_type.into(),
            name: None,
        })
    }

    /// A document block from bytes, a MIME type and a file name.
    pub fn document(
        data: impl Into<Bytes>,
        media_type: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Content::Document(Attachment {
            data: data.into(),
            media_type: media_type.into(),
            name: Some(name.into()),
        })
    }

    /// The serialised block: a `type` and the block's fields; bytes as strict base64.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Content::Text(text) => json!({"type": "text", "text": text}),
            Content::Image(attachment) => attachment.to_value("image"),
            Content::Document(attachment) => attachment.to_value("document"),
            Content::Reasoning(reasoning) => reasoning.to_value(),
            Content::ToolUse(tool_use) => tool_use.to_value(),
            Content::ToolResult(result) => result.to_value(),
        }
    }

    /// Reads a serialised block; a bare string is a text block.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`], prefixed with the block type, for an unknown type, an unknown or
    /// missing key, bad base64, an empty tool id or name, or a wrong value.
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = match value {
            Value::String(text) => return Ok(Content::text(text.clone())),
            Value::Object(map) => map,
            other => {
                return Err(invalid(
                    "content",
                    format!("expected a block or a string, got {}", kind_of(other)),
                ));
            }
        };
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        let fields = Fields { kind, map };
        match kind {
            "text" => {
                fields.only(&["text"])?;
                Ok(Content::Text(fields.string("text")?))
            }
            "image" => Ok(Content::Image(fields.attachment(false)?)),
            "document" => Ok(Content::Document(fields.attachment(true)?)),
            "tool_use" => {
                fields.only(&["id", "name", "input"])?;
                let input = match map.get("input") {
                    Some(Value::Object(input)) => input.clone(),
                    _ => return Err(invalid(kind, "input must be an object")),
                };
                Ok(Content::ToolUse(ToolUse {
                    id: fields.present("id")?,
                    name: fields.present("name")?,
                    input,
                }))
            }
            "tool_result" => fields.tool_result().map(Content::ToolResult),
            "reasoning" => fields.reasoning().map(Content::Reasoning),
            "" => Err(invalid("content", "a block needs a type")),
            other => Err(invalid("content", format!("unknown block type {other:?}"))),
        }
    }
}

impl Attachment {
    fn to_value(&self, kind: &str) -> Value {
        let mut map = Map::new();
        map.insert("type".into(), json!(kind));
        map.insert("data".into(), json!(STANDARD.encode(&self.data)));
        map.insert("encoding".into(), json!("base64"));
        map.insert("media_type".into(), json!(self.media_type));
        if let Some(name) = &self.name {
            map.insert("name".into(), json!(name));
        }
        Value::Object(map)
    }
}

impl Reasoning {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("type".into(), json!("reasoning"));
        map.insert("text".into(), json!(self.text));
        if let Some(signature) = &self.signature {
            map.insert("signature".into(), json!(signature));
        }
        if let Some(bytes) = &self.redacted_content {
            map.insert("data".into(), json!(STANDARD.encode(bytes)));
            map.insert("encoding".into(), json!("base64"));
        }
        if let Some(details) = &self.details {
            map.insert("details".into(), json!(details));
        }
        Value::Object(map)
    }
}

/// Checked access to the fields of one serialised block.
struct Fields<'a> {
    kind: &'a str,
    map: &'a Map<String, Value>,
}

impl Fields<'_> {
    fn only(&self, allowed: &[&str]) -> Result<()> {
        for key in self.map.keys() {
            if key != "type" && !allowed.contains(&key.as_str()) {
                return Err(invalid(self.kind, format!("unknown key {key:?}")));
            }
        }
        Ok(())
    }

    fn string(&self, key: &str) -> Result<String> {
        match self.map.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(invalid(
                self.kind,
                format!("{key} must be a string, got {}", kind_of(other)),
            )),
            None => Err(invalid(self.kind, format!("{key} is missing"))),
        }
    }

    fn present(&self, key: &str) -> Result<String> {
        let text = self.string(key)?;
        if text.is_empty() {
            Err(invalid(self.kind, format!("{key} is empty")))
        } else {
            Ok(text)
        }
    }

    fn optional(&self, key: &str) -> Result<Option<String>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.string(key).map(Some),
        }
    }

    fn bytes(&self) -> Result<Bytes> {
        let data = self.string("data")?;
        match self.optional("encoding")?.as_deref() {
            None => Ok(Bytes::from(data.into_bytes())),
            Some("base64") => STANDARD
                .decode(data)
                .map(Bytes::from)
                .map_err(|_| invalid(self.kind, "data is not valid base64")),
            Some(other) => Err(invalid(self.kind, format!("unknown encoding {other:?}"))),
        }
    }

    fn attachment(&self, named: bool) -> Result<Attachment> {
        self.only(&["data", "encoding", "media_type", "name"])?;
        let name = if named {
            Some(self.string("name")?)
        } else {
            self.optional("name")?
        };
        Ok(Attachment {
            data: self.bytes()?,
            media_type: self.string("media_type")?,
            name,
        })
    }

    fn tool_result(&self) -> Result<ToolResult> {
        self.only(&["tool_use_id", "content", "status"])?;
        let content = self.map.get("content").unwrap_or(&Value::Null);
        let content = ToolResultContent::from_value(content)?;
        let status = match self.string("status")?.as_str() {
            "success" => ToolStatus::Success,
            "error" => ToolStatus::Error,
            other => {
                return Err(invalid(
                    self.kind,
                    format!("status must be \"success\" or \"error\", got {other:?}"),
                ));
            }
        };
        Ok(ToolResult {
            tool_use_id: self.present("tool_use_id")?,
            content,
            status,
        })
    }

    fn reasoning(&self) -> Result<Reasoning> {
        self.only(&["text", "signature", "data", "encoding", "details"])?;
        let details = match self.map.get("details") {
            None | Some(Value::Null) => None,
            Some(Value::Array(items)) if items.iter().all(Value::is_object) => Some(items.clone()),
            Some(_) => return Err(invalid(self.kind, "details must be an array of objects")),
        };
        let reasoning = Reasoning {
            text: self.optional("text")?.unwrap_or_default(),
            signature: self.optional("signature")?,
            redacted_content: if self.map.contains_key("data") {
                Some(self.bytes()?)
            } else {
                None
            },
            details,
        };
        if reasoning.redacted_content.is_some()
            && (!reasoning.text.is_empty() || reasoning.signature.is_some())
        {
            return Err(invalid(
                self.kind,
                "redacted data excludes text and signature",
            ));
        }
        Ok(reasoning)
    }
}

fn invalid(kind: &str, problem: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, format!("{kind}: {problem}"))
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
