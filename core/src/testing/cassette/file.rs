//! Cassettes on disk.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::exchange::Exchange;
use super::scrub::Scrubber;
use crate::error::{Error, ErrorKind, Result};

/// The first line of every file; another number is another format.
const FORMAT: &str = "little-ghost cassette 1";

/// Reads the exchanges of a file.
pub(super) fn load(path: &Path) -> Result<Vec<Exchange>> {
    let text = fs::read_to_string(path).map_err(|problem| {
        if problem.kind() == io::ErrorKind::NotFound {
            unusable(
                path,
                "does not exist; record it first (mode record or once)",
            )
        } else {
            unusable(path, &format!("cannot be read: {problem}"))
        }
    })?;
    parse(path, &text)
}

/// Reads the exchanges of a file from its text.
fn parse(path: &Path, text: &str) -> Result<Vec<Exchange>> {
    let value: Value = serde_json::from_str(text)
        .map_err(|problem| unusable(path, &format!("is not JSON: {problem}")))?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(unusable(
            path,
            &format!("is no cassette of this version: its format must be {FORMAT:?}"),
        ));
    }
    let empty = Vec::new();
    let exchanges = value.get("exchanges").and_then(Value::as_array);
    let read = |(index, value)| {
        Exchange::from_value(value).map_err(|problem| {
            unusable(
                path,
                &format!("is damaged in exchange {}: {problem}", index + 1),
            )
        })
    };
    exchanges
        .unwrap_or(&empty)
        .iter()
        .enumerate()
        .map(read)
        .collect()
}

/// Writes exchanges without secrets; readers see the old file or the whole new one.
pub(super) fn store(path: &Path, exchanges: &[Exchange], scrubber: &Scrubber) -> Result<()> {
    let text = render(exchanges, scrubber);
    if scrubber.finds(&text) {
        return Err(unusable(
            path,
            "is not written: it would still contain a secret in a form that cannot be scrubbed",
        ));
    }
    write(path, &text).map_err(|problem| unusable(path, &format!("cannot be written: {problem}")))
}

fn render(exchanges: &[Exchange], scrubber: &Scrubber) -> String {
    let exchanges: Vec<Value> = exchanges
        .iter()
        .map(|exchange| exchange.to_value(scrubber))
        .collect();
    format!("{:#}\n", json!({"format": FORMAT, "exchanges": exchanges}))
}

/// What is written for the exchanges of a file with this text.
#[cfg(feature = "fuzzing")]
pub(crate) fn rewrite(text: &str) -> Result<String> {
    let exchanges = parse(Path::new("fuzzed.json"), text)?;
    Ok(render(&exchanges, &Scrubber::default()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let written = fs::write(&name, text).and_then(|()| fs::rename(&name, path));
    if written.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&name);
    }
    written
}

fn unusable(path: &Path, problem: &str) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("the cassette {} {problem}", path.display()),
    )
}
