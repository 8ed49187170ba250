//! JSON as a person would lay it out: what fits in a line is one.

use serde_json::Value;

const WIDTH: usize = 110;

/// `value` as text, with a final line break.
pub(super) fn text(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// Writes `value` at a depth of `indent` levels, behind `before` characters of its line.
fn write(value: &Value, indent: usize, before: usize, text: &mut String) {
    let line = line(value);
    let fits = 2 * indent + before + line.chars().count() < WIDTH;
    match value {
        Value::Object(map) if !fits && !map.is_empty() => {
            let items = map
                .iter()
                .map(|(key, value)| (format!("{}: ", string(key)), value));
            block(['{', '}'], items, indent, text);
        }
        Value::Array(items) if !fits && !items.is_empty() => {
            let items = items.iter().map(|item| (String::new(), item));
            block(['[', ']'], items, indent, text);
        }
        _ => text.push_str(&line),
    }
}

fn block<'a>(
    [open, close]: [char; 2],
    items: impl ExactSizeIterator<Item = (String, &'a Value)>,
    indent: usize,
    text: &mut String,
) {
    text.push(open);
    let last = items.len() - 1;
    for (position, (name, value)) in items.enumerate() {
        text.push('\n');
        text.push_str(&"  ".repeat(indent + 1));
        text.push_str(&name);
        write(value, indent + 1, name.chars().count(), text);
        if position < last {
            text.push(',');
        }
    }
    text.push('\n');
    text.push_str(&"  ".repeat(indent));
    text.push(close);
}

fn line(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let items = map.iter();
            let items = items.map(|(key, value)| format!("{}: {}", string(key), line(value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(line).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn what_is_too_long_is_broken_and_nothing_changes() {
        let value = json!({"a": [1, "x"], "b": {"c": "y".repeat(100), "d": []}, "e": {}});
        let text = super::text(&value);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["{", "  \"a\": [1, \"x\"],", "  \"b\": {"]);
        assert_eq!(lines.len(), 8, "{text}");
    }
}
