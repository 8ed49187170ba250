//! The file of one conversation: JSON with a version, the owner's digest, and a digest of it all.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind, Result};
use crate::session::Snapshot;
use crate::session::memory::wrong_actor;

const VERSION: u64 = 1;

/// Deeper JSON could not be read again.
const MAX_DEPTH: usize = 120;

/// The file name, without its ending, for the conversation `id`.
pub(super) fn name(id: &str) -> String {
    let mut text = b"little_ghost/filesystem_session/v1\0".to_vec();
    text.extend_from_slice(id.as_bytes());
    hex(&text)
}

/// The name, without its ending, of the lock that runs of a conversation hold. Work for another actor
/// does not wait; it fails on its own.
pub(super) fn run_name(id: &str, actor_id: Option<&str>) -> String {
    let mut text = b"little_ghost/filesystem_session/run/v1\0".to_vec();
    text.extend_from_slice(actor_digest(actor_id).as_bytes());
    text.extend_from_slice(id.as_bytes());
    hex(&text)
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    version: u64,
    actor_digest: String,
    #[serde(borrow)]
    snapshot: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// The file's content.
pub(super) fn encode(actor_id: Option<&str>, snapshot: &Snapshot) -> Result<Vec<u8>> {
    let unwritable = |_| invalid("it cannot be written as JSON");
    let snapshot = snapshot.to_value();
    if depth(&snapshot) > MAX_DEPTH {
        return Err(invalid(&format!(
            "its state is nested deeper than {MAX_DEPTH} levels"
        )));
    }
    let snapshot = serde_json::value::to_raw_value(&snapshot).map_err(unwritable)?;
    let mut document = Document {
        version: VERSION,
        actor_digest: actor_digest(actor_id),
        snapshot: &snapshot,
        digest: None,
    };
    let content = serde_json::to_vec(&document).map_err(unwritable)?;
    document.digest = Some(hex(&content));
    serde_json::to_vec(&document).map_err(unwritable)
}

/// The snapshot in a file, after every check.
pub(super) fn decode(bytes: &[u8], actor_id: Option<&str>) -> Result<Snapshot> {
    let mut document: Document<'_> =
        serde_json::from_slice(bytes).map_err(|_| invalid("its file is not what was written"))?;
    if document.version != VERSION {
        return Err(invalid("its file has another version"));
    }
    let digest = document.digest.take();
    let content =
        serde_json::to_vec(&document).map_err(|_| invalid("its file is not what was written"))?;
    if digest != Some(hex(&content)) {
        return Err(invalid(
            "its file was changed or damaged after it was written",
        ));
    }
    if document.actor_digest != actor_digest(actor_id) {
        return Err(wrong_actor());
    }
    let snapshot: Value = serde_json::from_str(document.snapshot.get())
        .map_err(|_| invalid("its file is not what was written"))?;
    Snapshot::from_value(&snapshot)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn actor_digest(actor_id: Option<&str>) -> String {
    hex(serde_json::json!([actor_id.is_none(), actor_id])
        .to_string()
        .as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest(&SHA256, bytes).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(super) fn invalid(problem: &str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("the stored session is unusable: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::{Content, Message, Role};

    fn snapshot() -> Snapshot {
        Snapshot {
            messages: vec![
                Message::user("Hellö"),
                Message::new(
                    Role::User,
                    vec![Content::image(vec![0_u8, 255], "image/png")],
                ),
            ],
            state: json!({"n": 1.5, "deep": {"list": [1, null]}})
                .as_object()
                .cloned()
                .unwrap(),
            metadata: json!({}).as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn has_the_documented_shape() {
        let bytes = encode(Some("user-7"), &snapshot()).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let keys: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["version", "actor_digest", "snapshot", "digest"]);
        assert_eq!(value["actor_digest"], hex(br#"[false,"user-7"]"#));
        let content = format!("{}}}", text.rsplit_once(",\"digest\"").unwrap().0);
        assert_eq!(value["digest"], hex(content.as_bytes()));
        assert_eq!(decode(&bytes, Some("user-7")).unwrap(), snapshot());
        assert_eq!(actor_digest(None), hex(b"[true,null]"));
    }

    #[test]
    fn refuses_whatever_was_changed() {
        let text = String::from_utf8(encode(None, &snapshot()).unwrap()).unwrap();
        for changed in [
            text.replace("Hellö", "Hallo"),
            text.replace("\"version\":1", "\"version\":2"),
            text.replace("\"n\":1.5", "\"n\":1.50"),
            text.replace("\"digest\"", "\"digests\""),
            text[..text.len() / 2].to_owned(),
            String::new(),
            "[]".into(),
        ] {
            let error = decode(changed.as_bytes(), None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol, "{changed}");
        }
        let error = decode(text.as_bytes(), Some("user-7")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Error);
    }
}
