//! What tools do in a sandbox.

use serde_json::{Map, Value, json};

use super::shell;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::Sandbox;
use crate::tool::ToolDefinition;

/// What a tool does in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `read_file`
    ReadFile,
    /// `list_files`
    ListFiles,
    /// `write_file`
    WriteFile,
    /// `replace_in_file`
    ReplaceInFile,
    /// `shell`
    Shell,
}

const PATH: &str = "Path relative to the workspace, such as notes/today.md, or a named path such as \
                    workspace://skills/refunds.md. Absolute host paths are not accepted.";

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 5] = [
        Operation::ReadFile,
        Operation::ListFiles,
        Operation::WriteFile,
        Operation::ReplaceInFile,
        Operation::Shell,
    ];

    /// The name of the tool.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Operation::ReadFile => "read_file",
            Operation::ListFiles => "list_files",
            Operation::WriteFile => "write_file",
            Operation::ReplaceInFile => "replace_in_file",
            Operation::Shell => "shell",
        }
    }

    /// The operation whose tool has that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.name() == name)
    }

    /// What a model is told about it.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Operation::ReadFile => "Reads one UTF-8 text file and returns all of its content.",
            Operation::ListFiles => {
                "Lists one directory: one name on each line, sorted, with a slash behind directories. \
                 Directories inside of it are not entered."
            }
            Operation::WriteFile => {
                "Writes one UTF-8 text file, and replaces what it contained. Its directory has to exist."
            }
            Operation::ReplaceInFile => {
                "Replaces a text in one file. The text to replace has to be there exactly once, so give \
                 enough of what is around it."
            }
            Operation::Shell => {
                "Runs one program with its arguments, for at most 30 seconds, and returns its output and exit \
                 status as JSON. No shell reads the arguments: to use pipes or variables, run a shell, as in \
                 [\"sh\", \"-c\", \"ls | wc -l\"]."
            }
        }
    }

    /// The JSON Schema of its input.
    #[must_use]
    pub fn input_schema(self) -> Value {
        let path = json!({"type": "string", "description": PATH});
        match self {
            Operation::ReadFile => object(&["path"], json!({"path": path})),
            Operation::ListFiles => object(
                &[],
                json!({"path": {
                    "type": "string", "default": ".",
                    "description": format!("{PATH} Without it, the workspace itself is listed."),
                }}),
            ),
            Operation::WriteFile => object(
                &["path", "content"],
                json!({
                    "path": path,
                    "content": {"type": "string", "description": "The whole new content of the file."},
                }),
            ),
            Operation::ReplaceInFile => object(
                &["path", "old_text", "new_text"],
                json!({
                    "path": path,
                    "old_text": {
                        "type": "string",
                        "description": "The text to replace, exactly as it is in the file.",
                    },
                    "new_text": {
                        "type": "string",
                        "description": "What takes its place, literally.",
                    },
                }),
            ),
            Operation::Shell => object(
                &["command"],
                json!({"command": {
                    "type": "array", "items": {"type": "string"},
                    "description": "The program, and each of its arguments.",
                }}),
            ),
        }
    }

    /// Whether it changes files by itself.
    #[must_use]
    pub const fn is_mutation(self) -> bool {
        matches!(self, Operation::WriteFile | Operation::ReplaceInFile)
    }

    /// The definition of its tool.
    ///
    /// # Errors
    /// None for what is defined here.
    pub fn definition(self) -> Result<ToolDefinition> {
        ToolDefinition::cached(self.name(), self.description(), self.input_schema())
    }

    /// `{name, description, input_schema}`.
    #[must_use]
    pub fn to_value(self) -> Value {
        json!({
            "name": self.name(), "description": self.description(),
            "input_schema": self.input_schema(),
        })
    }

    /// Does it in `sandbox`.
    ///
    /// # Errors
    /// What the sandbox says; [`Tool`](ErrorKind::Tool) for what a model can put right.
    pub async fn call(self, sandbox: &dyn Sandbox, input: &Map<String, Value>) -> Result<Value> {
        let result = match self {
            Operation::ReadFile => sandbox.read(text(input, "path")?).await?,
            Operation::ListFiles => {
                let path = match input.get("path") {
                    None | Some(Value::Null) => ".",
                    Some(_) => text(input, "path")?,
                };
                sandbox.list(path).await?
            }
            Operation::WriteFile => {
                let content = text(input, "content")?.as_bytes();
                sandbox.write(text(input, "path")?, content).await?
            }
            Operation::ReplaceInFile => {
                let (old, new) = (text(input, "old_text")?, text(input, "new_text")?);
                sandbox.replace(text(input, "path")?, old, new).await?
            }
            Operation::Shell => shell::run(sandbox, input).await?,
        };
        Ok(Value::String(result))
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

fn text<'a>(input: &'a Map<String, Value>, key: &str) -> Result<&'a str> {
    input
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| Error::new(ErrorKind::Argument, format!("{key} must be a text")))
}
