//! The file of one conversation: JSON with a version, the owner's digest, and a digest of it all.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind, Result};
use crate::session::Snapshot;
use crate::session::memory::{conflict, wrong_actor};

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

/// A snapshot whose messages stay as they are written: adding to a conversation reads none of them.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    state: &'a RawValue,
    metadata: &'a RawValue,
}

/// The file's content.
pub(crate) fn encode(actor_id: Option<&str>, snapshot: &Snapshot) -> Result<Vec<u8>> {
    seal(actor_id, &raw(&writable(snapshot)?)?)
}

/// The file's content once `addition` is behind what `bytes` hold, after every check of `decode` but
/// those of the messages.
pub(super) fn extend(
    bytes: &[u8],
    actor_id: Option<&str>,
    addition: &Snapshot,
    expected_count: usize,
) -> Result<Vec<u8>> {
    let stored = checked(bytes, actor_id)?;
    let mut written: Written<'_> =
        serde_json::from_str(stored.get()).map_err(|_| not_as_written())?;
    if written.messages.len() != expected_count {
        return Err(conflict(expected_count, written.messages.len()));
    }
    let added = raw(&writable(addition)?)?;
    let added: Written<'_> = serde_json::from_str(added.get()).map_err(|_| not_as_written())?;
    written.messages.extend(added.messages);
    (written.state, written.metadata) = (added.state, added.metadata);
    seal(actor_id, &raw(&written)?)
}

/// The snapshot in a file, after every check.
pub(crate) fn decode(bytes: &[u8], actor_id: Option<&str>) -> Result<Snapshot> {
    let snapshot: Value =
        serde_json::from_str(checked(bytes, actor_id)?.get()).map_err(|_| not_as_written())?;
    Snapshot::from_value(&snapshot)
}

fn writable(snapshot: &Snapshot) -> Result<Value> {
    let snapshot = snapshot.to_value();
    if depth(&snapshot) > MAX_DEPTH {
        return Err(invalid(&format!(
            "its state is nested deeper than {MAX_DEPTH} levels"
        )));
    }
    Ok(snapshot)
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(value).map_err(|_| unwritable())
}

fn seal(actor_id: Option<&str>, snapshot: &RawValue) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&Document {
        version: VERSION,
        actor_digest: actor_digest(actor_id),
        snapshot,
        digest: None,
    })
    .map_err(|_| unwritable())?;
    let digest = hex(&bytes);
    bytes.pop();
    bytes.extend_from_slice(format!(",\"digest\":\"{digest}\"}}").as_bytes());
    Ok(bytes)
}

/// What the file holds, if it is just as it was written, and by this actor.
fn checked<'a>(bytes: &'a [u8], actor_id: Option<&str>) -> Result<&'a RawValue> {
    let mut document: Document<'a> = serde_json::from_slice(bytes).map_err(|_| not_as_written())?;
    if document.version != VERSION {
        return Err(invalid("its file has another version"));
    }
    let digest = document.digest.take();
    let content = serde_json::to_vec(&document).map_err(|_| not_as_written())?;
    if digest != Some(hex(&content)) {
        return Err(invalid(
            "its file was changed or damaged after it was written",
        ));
    }
    if document.actor_digest != actor_digest(actor_id) {
        return Err(wrong_actor());
    }
    Ok(document.snapshot)
}

fn not_as_written() -> Error {
    invalid("its file is not what was written")
}

fn unwritable() -> Error {
    invalid("it cannot be written as JSON")
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
    fn extending_is_writing_it_all() {
        let addition = Snapshot {
            messages: vec![Message::assistant("Bye \"you\"")],
            ..snapshot()
        };
        let bytes = encode(Some("user-7"), &snapshot()).unwrap();
        let extended = extend(&bytes, Some("user-7"), &addition, 2).unwrap();
        let whole = Snapshot {
            messages: [snapshot().messages, addition.messages.clone()].concat(),
            ..snapshot()
        };
        assert_eq!(extended, encode(Some("user-7"), &whole).unwrap());

        for (actor, count) in [(None, 2), (Some("user-7"), 1)] {
            assert!(extend(&bytes, actor, &addition, count).is_err());
        }
        let changed = String::from_utf8(bytes).unwrap().replace("Hell", "Hall");
        assert!(extend(changed.as_bytes(), Some("user-7"), &addition, 2).is_err());
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
