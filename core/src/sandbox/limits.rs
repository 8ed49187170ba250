//! How much file operations and processes may bring.

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};

/// How much file operations and the output of processes may bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file that is read. Default 1,000,000.
    pub read_bytes: u64,
    /// Bytes of one file that is written. Default 1,000,000.
    pub write_bytes: u64,
    /// Entries of one directory that is listed. Default 10,000.
    pub list_entries: u64,
    /// Bytes of each stream of a command's output. Default 1,000,000.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_bytes: 1_000_000,
            write_bytes: 1_000_000,
            list_entries: 10_000,
            output_bytes: 1_000_000,
        }
    }
}

impl Limits {
    /// Reads `{read_bytes, write_bytes, list_entries, output_bytes}`; all optional.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown key or a number below one.
    pub fn from_map(map: &Map<String, Value>) -> Result<Self> {
        let mut limits = Self::default();
        for (key, value) in map {
            let limit = match key.as_str() {
                "read_bytes" => &mut limits.read_bytes,
                "write_bytes" => &mut limits.write_bytes,
                "list_entries" => &mut limits.list_entries,
                "output_bytes" => &mut limits.output_bytes,
                other => {
                    return Err(invalid(format!(
                        "unknown limit {other:?}; use read_bytes, write_bytes, list_entries or output_bytes"
                    )));
                }
            };
            *limit = value
                .as_u64()
                .filter(|number| *number >= 1)
                .ok_or_else(|| {
                    invalid(format!(
                        "{key} must be a whole number of at least 1, got {value}"
                    ))
                })?;
        }
        Ok(limits)
    }

    /// The limits when each is at least one.
    ///
    /// # Errors
    /// As [`Limits::from_map`].
    pub fn check(self) -> Result<Self> {
        let least = self.read_bytes.min(self.write_bytes);
        if least.min(self.list_entries).min(self.output_bytes) < 1 {
            return Err(invalid("every limit must be at least 1".into()));
        }
        Ok(self)
    }

    /// All four, by name.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "read_bytes": self.read_bytes, "write_bytes": self.write_bytes,
            "list_entries": self.list_entries, "output_bytes": self.output_bytes,
        })
    }
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("sandbox limits: {problem}"))
}
