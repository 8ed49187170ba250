//! A cassette, as it is written in its file.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One request to a provider, the bytes on the wire, and what must come of them.
#[derive(Debug)]
pub struct Case {
    /// `adapter/file`, without the extension.
    pub name: String,
    /// The folder, which is the name of an adapter.
    pub adapter: String,
    pub(super) path: PathBuf,
    pub(super) tape: Tape,
}

/// Unknown fields are refused, so that a misspelt expectation cannot pass unnoticed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tape {
    /// Why it matters, in one sentence.
    #[serde(rename = "about")]
    _about: String,
    pub(super) connection: Map<String, Value>,
    pub(super) model: String,
    pub(super) details: Option<Map<String, Value>>,
    pub(super) request: Request,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) messages: Value,
    pub(super) tools: Option<Value>,
    pub(super) settings: Option<Value>,
    pub(super) output_schema: Option<Value>,
    pub(super) tool_choice: Option<Value>,
    pub(super) deadline_in: Option<f64>,
}

/// A request that must arrive, and the answer in the words of the scripted server.
#[derive(Debug, Deserialize)]
pub(super) struct Exchange {
    pub(super) expect: Arrival,
    /// The scripted server refuses what it does not know.
    #[serde(flatten)]
    pub(super) answer: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arrival {
    pub(super) path: String,
    #[serde(default)]
    pub(super) query: Map<String, Value>,
    /// These, among others; null for one that must not be there.
    #[serde(default)]
    pub(super) headers: Map<String, Value>,
    pub(super) body: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) events: Vec<(String, Value)>,
    pub(super) response: Option<Response>,
    pub(super) error: Option<Failure>,
    pub(super) dropped: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Response {
    pub(super) message: Value,
    pub(super) stop_reason: String,
    pub(super) usage: Value,
    pub(super) metadata: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
    pub(super) kind: String,
    pub(super) status: Option<u16>,
    pub(super) code: Option<String>,
    pub(super) contains: Vec<String>,
    #[serde(default)]
    pub(super) omits: Vec<String>,
    /// `"never"`, `"backoff"` or seconds.
    pub(super) retry: Option<Value>,
    /// Tokens of the attempts, where the failure keeps them.
    pub(super) usage: Option<Value>,
}

impl Case {
    fn read(path: PathBuf, folder: &Path) -> Case {
        let text = std::fs::read_to_string(&path).unwrap();
        let tape: Tape = serde_json::from_str(&text)
            .unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let adapter = folder.file_name().unwrap().to_str().unwrap();
        let name = format!("{adapter}/{}", path.file_stem().unwrap().to_str().unwrap());
        let said = tape.connection.get("adapter").and_then(Value::as_str);
        assert_eq!(said, Some(adapter), "{name} is of another adapter");
        let ends = [tape.expect.response.is_some(), tape.expect.error.is_some()];
        assert!(
            ends[0] != ends[1],
            "{name} must expect either a response or an error"
        );
        Case::new(name, path, tape)
    }

    /// A case that only asks, for tests that look at the outcome themselves.
    pub fn asking(connection: &Value, model: &str, request: &Value) -> Case {
        let tape = json!({
            "about": "", "connection": connection, "model": model, "request": request,
            "exchanges": [], "expect": {"events": []},
        });
        let tape = serde_json::from_value(tape).unwrap();
        Case::new(connection["adapter"].to_string(), PathBuf::new(), tape)
    }

    fn new(name: String, path: PathBuf, tape: Tape) -> Case {
        let adapter = tape.connection["adapter"].as_str().unwrap().to_owned();
        Case {
            name,
            adapter,
            path,
            tape,
        }
    }
}

/// Every case, in order of adapter and file.
pub fn load() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cassettes");
    let folders = entries(&root).into_iter().filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| {
        let files = entries(&folder).into_iter().filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.ends_with(".json") && !name.ends_with(super::seen::SUFFIX)
        });
        files
            .map(|path| Case::read(path, &folder))
            .collect::<Vec<_>>()
    });
    files.collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
