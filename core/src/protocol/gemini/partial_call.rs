//! Calls whose arguments arrive in pieces, each with the place where it belongs.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::http::shorten;

/// A call in the making.
#[derive(Debug)]
pub(super) struct PartialCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) signature: Option<String>,
    /// Position among the calls of the answer.
    pub(super) index: u32,
    arguments: Value,
    /// The place of a string of which more follows.
    growing: Option<String>,
}

/// One step to a place.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl PartialCall {
    pub(super) fn new(id: String, name: &str, signature: Option<String>, index: u32) -> Self {
        Self {
            id,
            name: name.to_owned(),
            signature,
            index,
            arguments: Value::Object(Map::new()),
            growing: None,
        }
    }

    /// Takes what a part of the answer says of the call.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`] for a piece that belongs nowhere.
    pub(super) fn push(&mut self, call: &Map<String, Value>) -> Result<()> {
        if let Some(Value::Object(whole)) = call.get("args")
            && let Value::Object(arguments) = &mut self.arguments
        {
            arguments.extend(whole.clone());
        }
        let pieces = call.get("partialArgs").and_then(Value::as_array);
        pieces
            .into_iter()
            .flatten()
            .try_for_each(|piece| self.piece(piece))
    }

    fn piece(&mut self, piece: &Value) -> Result<()> {
        let text = |name: &str| piece.get(name).and_then(Value::as_str);
        let path = text("jsonPath").unwrap_or_default();
        let misplaced = || {
            Error::new(
                ErrorKind::MalformedToolCall,
                format!(
                    "an argument of tool {:?} has no place in the others: {:?}",
                    shorten(&self.name, 64),
                    shorten(path, 100)
                ),
            )
        };
        let value = ["stringValue", "numberValue", "boolValue"]
            .iter()
            .find_map(|name| piece.get(name).filter(|value| !value.is_null()));
        let value = match value {
            Some(value) => value.clone(),
            None if piece.get("nullValue").is_some() => Value::Null,
            // The end of a string may have nothing to add.
            None => Value::String(String::new()),
        };
        let steps = steps(path).ok_or_else(misplaced)?;
        let place = descend(&mut self.arguments, &steps);
        let Some(place) = place else {
            return Err(misplaced());
        };
        match (place, value) {
            (Value::String(known), Value::String(more))
                if self.growing.as_deref() == Some(path) =>
            {
                known.push_str(&more);
            }
            (place, value) => *place = value,
        }
        let more = piece.get("willContinue").and_then(Value::as_bool) == Some(true);
        self.growing = more.then(|| path.to_owned());
        Ok(())
    }

    /// The arguments.
    pub(super) fn take_input(&mut self) -> Map<String, Value> {
        match self.arguments.take() {
            Value::Object(input) => input,
            _ => Map::new(),
        }
    }
}

/// The steps of a path such as `$.days[0]['the name']`; `None` for anything else.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step = if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, behind) = after.split_at(end);
            rest = behind;
            Step::Key(key)
        } else {
            let after = rest.strip_prefix('[')?;
            if let Some(quote) = after
                .chars()
                .next()
                .filter(|letter| "'\"".contains(*letter))
            {
                let (key, behind) = after.get(1..)?.split_once(quote)?;
                rest = behind.strip_prefix(']')?;
                Step::Key(key)
            } else {
                let (index, behind) = after.split_once(']')?;
                rest = behind;
                Step::Index(index.parse().ok()?)
            }
        };
        steps.push(step);
    }
    (!steps.is_empty()).then_some(steps)
}

/// The place at the end of the steps, made where there is none. Lists grow by one item at a time, so
/// that no index can ask for more memory than was sent.
fn descend<'a>(value: &'a mut Value, steps: &[Step<'_>]) -> Option<&'a mut Value> {
    let mut place = value;
    for step in steps {
        place = match step {
            Step::Key(key) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(*key).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                if items.len() == *index {
                    items.push(Value::Null);
                }
                items.get_mut(*index)?
            }
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(pieces: Value) -> Result<Value> {
        let mut call = PartialCall::new("c".into(), "f", None, 0);
        for piece in pieces.as_array().unwrap() {
            let part = json!({"partialArgs": [piece], "willContinue": true});
            call.push(part.as_object().unwrap())?;
        }
        Ok(Value::Object(call.take_input()))
    }

    #[test]
    fn pieces_go_where_they_belong() {
        let pieces = json!([
            {"jsonPath": "$.city", "stringValue": "Zü", "willContinue": true},
            {"jsonPath": "$.city", "stringValue": "rich", "willContinue": true},
            {"jsonPath": "$.city"},
            {"jsonPath": "$.days[0].n", "numberValue": 3},
            {"jsonPath": "$.days[1]", "boolValue": false},
            {"jsonPath": "$['a.b'][\"c\"]", "nullValue": "NULL_VALUE"},
            {"jsonPath": "$.note", "stringValue": "old"},
            {"jsonPath": "$.note", "stringValue": "new"},
        ]);
        assert_eq!(
            input(pieces).unwrap(),
            json!({"city": "Zürich", "days": [{"n": 3}, false], "a.b": {"c": null}, "note": "new"})
        );
    }

    #[test]
    fn pieces_without_a_place_are_refused() {
        for path in ["", "city", "$", "$[x]", "$['a", "$.a[9]", "$[0]", "$.é["] {
            let error = input(json!([{"jsonPath": path, "stringValue": "x"}])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::MalformedToolCall, "{path}");
        }
        let clash = json!([{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a.b",
            "numberValue": 1}]);
        assert!(input(clash).is_err());
    }
}
