//! YAML as plain values.

use std::path::Path;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Number, Value};

use crate::error::{Error, ErrorKind, Result};

/// Deeper documents are refused.
const MAX_DEPTH: usize = 100;

/// Reads the YAML document `text`; nothing is null. `name` is what errors call it.
///
/// Aliases and merge keys (`<<`) are resolved, within bounds. Dates stay text. Tags have no effect beyond
/// those of plain values.
///
/// # Errors
/// [`ErrorKind::Configuration`] with name, line and column for text that is not one YAML document of
/// plain values.
pub fn parse_yaml(text: &str, name: &str) -> Result<Value> {
    let invalid = |problem: String| {
        Error::new(
            ErrorKind::Configuration,
            format!("{name} is not valid YAML: {problem}"),
        )
    };
    let documents = Yaml::load_from_str(text).map_err(|problem| {
        let marker = problem.marker();
        let place = format!("line {}, column {}", marker.line(), marker.col() + 1);
        invalid(format!("{place}: {}", problem.info()))
    })?;
    match documents.as_slice() {
        [] => Ok(Value::Null),
        [document] => plain(document, 0).map_err(invalid),
        more => Err(invalid(format!(
            "it holds {} documents; keep one in a file",
            more.len()
        ))),
    }
}

/// Reads the YAML file at `path`.
///
/// # Errors
/// [`ErrorKind::Configuration`] when it cannot be read, and as [`parse_yaml`].
pub fn read_yaml(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(|problem| {
        Error::new(
            ErrorKind::Configuration,
            format!("{} cannot be read: {problem}", path.display()),
        )
    })?;
    parse_yaml(&text, &path.display().to_string())
}

fn plain(node: &Yaml<'_>, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
    }
    match node {
        Yaml::Value(scalar) => scalar_value(scalar),
        Yaml::Sequence(items) => items
            .iter()
            .map(|item| plain(item, depth + 1))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Yaml::Mapping(entries) => {
            let mut map = Map::new();
            let mut merged = Map::new();
            for (key, value) in entries {
                let value = plain(value, depth + 1)?;
                match key_text(key)? {
                    key if key == "<<" => merge(&mut merged, value)?,
                    key => {
                        map.insert(key, value);
                    }
                }
            }
            for (key, value) in merged {
                map.entry(key).or_insert(value);
            }
            Ok(Value::Object(map))
        }
        Yaml::Tagged(_, inner) => plain(inner, depth + 1),
        Yaml::Representation(text, ..) => Ok(Value::String(text.clone().into_owned())),
        Yaml::Alias(_) => Err("an alias names no anchor".into()),
        Yaml::BadValue => Err("a value does not fit its tag".into()),
    }
}

fn scalar_value(scalar: &Scalar<'_>) -> Result<Value, String> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(flag) => Value::Bool(*flag),
        Scalar::Integer(number) => Value::from(*number),
        Scalar::FloatingPoint(number) => {
            Number::from_f64(number.into_inner())
                .map(Value::Number)
                .ok_or_else(|| format!("{number} is no number that can be used"))?
        }
        Scalar::String(text) => Value::String(text.clone().into_owned()),
    })
}

fn key_text(key: &Yaml<'_>) -> Result<String, String> {
    let value = match key {
        Yaml::Sequence(_) | Yaml::Mapping(_) => Value::Array(Vec::new()),
        scalar => plain(scalar, 0)?,
    };
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Array(_) | Value::Object(_) => {
            Err("a key is a list or a mapping; use plain names".into())
        }
    }
}

/// Earlier merged mappings win over later ones, and a mapping's own keys over all of them.
fn merge(merged: &mut Map<String, Value>, value: Value) -> Result<(), String> {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                merged.entry(key).or_insert(value);
            }
            Ok(())
        }
        Value::Array(items) => items.into_iter().try_for_each(|item| merge(merged, item)),
        _ => Err("`<<` takes a mapping or a list of mappings".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Value {
        parse_yaml(text, "test.yml").unwrap()
    }

    fn problem(text: &str) -> String {
        let error = parse_yaml(text, "test.yml").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        error.message().to_owned()
    }

    #[test]
    fn reads_plain_values() {
        assert_eq!(
            parse("a: 1\nb: [x, 2.5, yes, true, ~]\nc: {d: \"01\"}\nwhen: 2026-01-02\n3: x\n"),
            json!({"a": 1, "b": ["x", 2.5, "yes", true, null], "c": {"d": "01"}, "when": "2026-01-02", "3": "x"})
        );
        assert_eq!(parse(""), Value::Null);
        assert_eq!(parse("# only a comment\n"), Value::Null);
    }

    #[test]
    fn resolves_aliases_and_merge_keys() {
        let text = "base: &base {a: 1, b: 2}\nrole:\n  <<: *base\n  b: 3\nsame: *base\n";
        assert_eq!(
            parse(text),
            json!({"base": {"a": 1, "b": 2}, "role": {"b": 3, "a": 1}, "same": {"a": 1, "b": 2}})
        );
    }

    #[test]
    fn says_where_it_is_wrong() {
        let message = problem("a: 1\nb: [1, 2\nc: 3\n");
        assert!(
            message.starts_with("test.yml is not valid YAML: line "),
            "{message}"
        );
        assert!(problem("a: 1\n---\nb: 2\n").contains("2 documents"));
        assert!(problem("a: 1\na: 2\n").contains("line 2"));
        assert!(problem("a: .inf\n").contains("number"));
        assert!(problem("? [a, b]\n: 1\n").contains("key"));
    }

    #[test]
    fn bounds_nesting_and_aliases() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert!(problem(&deep).contains("nested"));
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let alias = format!("*a{}, ", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{alias}]\n"));
        }
        assert!(problem(&bomb).contains("line"));
    }
}
