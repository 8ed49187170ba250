//! Documents that models, users and other processes write.

use serde_json::{Value, json};

use crate::agent::written_result;
use crate::session::{Snapshot, decode, encode};
use crate::testing::rewrite;

/// Reads a document and returns what tells outcomes apart.
pub(super) type Read = fn(&[u8]) -> String;

/// Every reader of documents, by name.
pub(super) const DOCUMENTS: &[(&str, Read)] = &[
    ("structured_result", structured_result),
    ("session_file", session_file),
    ("session_snapshot", session_snapshot),
    ("cassette_file", cassette_file),
    ("configuration", configuration),
];

/// The text of a model that should be a result.
fn structured_result(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else {
        return String::new();
    };
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["name", "count", "kind", "tags", "next"],
        "properties": {
            "name": {"type": "string", "maxLength": 20},
            "count": {"type": "integer", "minimum": 0},
            "kind": {"enum": ["a", "b", null]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "next": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": false, "properties": {}, "required": []}]},
        },
    });
    match written_result(&schema, text).unwrap() {
        Ok(value) => {
            let value = Value::Object(value);
            assert!(
                jsonschema::is_valid(&schema, &value),
                "{value} is taken for a result"
            );
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
            "valid".into()
        }
        Err(problem) => {
            assert!(!problem.is_empty());
            problem.chars().take(30).collect()
        }
    }
}

/// A file of the session store.
fn session_file(input: &[u8]) -> String {
    match decode(input, None) {
        Ok(snapshot) => {
            let written = encode(None, &snapshot).unwrap();
            assert_eq!(decode(&written, None).unwrap(), snapshot);
            "read".into()
        }
        Err(error) => error.message().chars().take(60).collect(),
    }
}

/// What a store of the application returns.
fn session_snapshot(input: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return String::new();
    };
    match Snapshot::from_value(&value) {
        Ok(snapshot) => {
            assert_eq!(
                Snapshot::from_value(&snapshot.to_value()).unwrap(),
                snapshot
            );
            // What is too deep is refused before it is written, never afterwards.
            match encode(None, &snapshot) {
                Ok(written) => {
                    assert_eq!(decode(&written, None).unwrap(), snapshot);
                    format!("kept {}", snapshot.messages.len().min(9))
                }
                Err(error) => error.message().to_owned(),
            }
        }
        Err(error) => error.message().chars().take(80).collect(),
    }
}

/// A file of recorded exchanges.
fn cassette_file(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else {
        return String::new();
    };
    match rewrite(text) {
        Ok(written) => {
            let again = rewrite(&written);
            assert_eq!(again.unwrap(), written, "changes when it is written anew");
            "played".into()
        }
        Err(error) => error.message().chars().take(80).collect(),
    }
}

/// A configuration file.
fn configuration(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else {
        return String::new();
    };
    match crate::config::parse_yaml(text, "fuzzed.yml") {
        Ok(value) => crate::message::kind_of(&value).to_owned(),
        Err(error) => error.message().chars().take(40).collect(),
    }
}
