//! How large a compiled schema is.

use serde_json::Value;

use super::rules::Limits;

#[derive(Default)]
struct Size {
    properties: usize,
    depth: usize,
    values: usize,
    text: usize,
}

/// Whether a compiled schema is larger than its service takes.
pub(super) fn exceeds(schema: &Value, limits: &Limits) -> bool {
    let mut size = Size::default();
    size.add(schema, 0);
    size.properties > limits.properties
        || size.depth > limits.depth
        || size.values > limits.values
        || size.text > limits.text
}

impl Size {
    fn add(&mut self, schema: &Value, depth: usize) {
        self.depth = self.depth.max(depth);
        match schema {
            Value::Object(map) => {
                for (keyword, value) in map {
                    match (keyword.as_str(), value) {
                        ("properties", Value::Object(properties)) => {
                            self.properties = self.properties.saturating_add(properties.len());
                            self.named(properties, depth.saturating_add(1));
                        }
                        ("$defs", Value::Object(definitions)) => self.named(definitions, 0),
                        ("enum", Value::Array(values)) => {
                            self.values = self.values.saturating_add(values.len());
                            for value in values {
                                self.read(value);
                            }
                        }
                        ("const", value) => self.read(value),
                        ("items", items) => self.add(items, depth.saturating_add(1)),
                        (_, value) => self.add(value, depth),
                    }
                }
            }
            Value::Array(schemas) => {
                for schema in schemas {
                    self.add(schema, depth);
                }
            }
            _ => {}
        }
    }

    fn named(&mut self, schemas: &serde_json::Map<String, Value>, depth: usize) {
        for (name, schema) in schemas {
            self.text = self.text.saturating_add(name.len());
            self.add(schema, depth);
        }
    }

    fn read(&mut self, value: &Value) {
        let length = value.as_str().map_or(0, str::len);
        self.text = self.text.saturating_add(length);
    }
}
