//! Expected JSON against actual JSON, with masks for what no script can fix.

use serde_json::Value;

/// Whether `actual` is what `expected` describes.
pub(crate) fn matches(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(wanted), _) if wanted.len() == 1 && masks(wanted).is_some() => {
            masks(wanted).is_some_and(|(name, argument)| applies(name, argument, actual))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.len() == found.len()
                && wanted
                    .iter()
                    .all(|(key, value)| found.get(key).is_some_and(|other| matches(value, other)))
        }
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len()
                && wanted
                    .iter()
                    .zip(found)
                    .all(|(value, other)| matches(value, other))
        }
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        (expected, actual) => expected == actual,
    }
}

fn masks(object: &serde_json::Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, argument) = object.iter().next()?;
    matches!(name.as_str(), "$any" | "$between" | "$contains" | "$object")
        .then_some((name.as_str(), argument))
}

fn applies(name: &str, argument: &Value, actual: &Value) -> bool {
    match (name, argument) {
        ("$any", Value::String(kind)) => match kind.as_str() {
            "string" => actual.as_str().is_some_and(|text| !text.is_empty()),
            "number" => actual.is_number(),
            other => panic!("unknown kind {other:?} for $any"),
        },
        ("$between", Value::Array(bounds)) => {
            let bound = |index: usize| bounds[index].as_f64().unwrap();
            actual
                .as_f64()
                .is_some_and(|number| number >= bound(0) && number <= bound(1))
        }
        ("$contains", Value::String(text)) => actual
            .as_str()
            .is_some_and(|whole| whole.contains(text.as_str())),
        // An object of which only some keys matter.
        ("$object", Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| actual.get(key).is_some_and(|other| matches(value, other))),
        (name, argument) => panic!("{name} does not take {argument}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn masks_accept_what_they_say_and_nothing_else() {
        for (expected, actual, fits) in [
            (json!({"a": [1, "x"]}), json!({"a": [1, "x"]}), true),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
            (json!([1, 2]), json!([1]), false),
            (json!(1), json!(1.0), true),
            (json!(1), json!(true), false),
            (json!({"$any": "string"}), json!("x"), true),
            (json!({"$any": "string"}), json!(""), false),
            (json!({"$between": [0.5, 1]}), json!(0.75), true),
            (json!({"$between": [0.5, 1]}), json!(1.5), false),
            (json!({"$contains": "or"}), json!("word"), true),
            (json!({"$object": {"a": 1}}), json!({"a": 1, "b": 2}), true),
            (json!({"$object": {"a": 1}}), json!({"b": 2}), false),
            (json!({"$ref": "x"}), json!({"$ref": "x"}), true),
        ] {
            assert_eq!(matches(&expected, &actual), fits, "{expected} {actual}");
        }
    }
}
