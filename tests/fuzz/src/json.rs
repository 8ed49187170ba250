//! Changes to JSON values.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Changes one place of `value`; `donors` lend parts.
pub(crate) fn mutate(value: &mut Value, donors: &[Value], rng: &mut Rng) {
    let places = count(value);
    let place = rng.usize(..places);
    if let Some(spot) = nth(value, &mut { place }) {
        change(spot, donors, rng);
    }
}

/// The number of values in `value`, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        _ => return None,
    };
    children.into_iter().find_map(|child| nth(child, left))
}

fn change(spot: &mut Value, donors: &[Value], rng: &mut Rng) {
    match rng.u8(..10) {
        0..=2 => structure(spot, rng),
        3..=4 => {
            if let Some(donor) = rng.choice(donors) {
                let mut donor = donor.clone();
                let place = rng.usize(..count(&donor));
                if let Some(part) = nth(&mut donor, &mut { place }) {
                    *spot = part.take();
                }
            }
        }
        5 => text(spot, rng),
        _ => *spot = odd(rng),
    }
}

/// Takes away, repeats or moves parts of an object or array.
fn structure(spot: &mut Value, rng: &mut Rng) {
    match spot {
        Value::Object(map) if !map.is_empty() => {
            let index = rng.usize(..map.len());
            let key = map.keys().nth(index).unwrap().clone();
            match rng.u8(..4) {
                0..=1 => {
                    map.shift_remove(&key);
                }
                2 => {
                    let value = map.shift_remove(&key).unwrap();
                    map.insert(odd_name(rng), value);
                }
                _ => {
                    let value = map[&key].clone();
                    map.insert(odd_name(rng), value);
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = rng.usize(..items.len());
            match rng.u8(..3) {
                0 => {
                    items.remove(index);
                }
                1 => items.insert(index, items[index].clone()),
                _ => rng.shuffle(items),
            }
        }
        other => *other = json!([other.take()]),
    }
}

/// Cuts, repeats or spoils a text.
fn text(spot: &mut Value, rng: &mut Rng) {
    match spot {
        Value::String(text) => {
            let letters: Vec<char> = text.chars().collect();
            let at = rng.usize(..=letters.len());
            let (head, tail) = letters.split_at(at);
            let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
            *text = match rng.u8(..5) {
                0 => head,
                1 => tail,
                2 => format!("{head}{tail}{tail}"),
                3 => format!("{head}{}{tail}", rng.choice(ODD_TEXTS).unwrap()),
                _ => text.repeat(rng.usize(..40)),
            };
        }
        Value::Number(number) => {
            let negative = -number.as_f64().unwrap_or_default();
            *spot = json!(negative);
        }
        other => *other = odd(rng),
    }
}

const ODD_TEXTS: &[&str] = &[
    "",
    " ",
    "\0",
    "\u{2028}",
    "\u{feff}",
    "\r\n",
    "\"",
    "\\",
    "{",
    "}",
    "[DONE]",
    "null",
    "{}",
    "\u{10ffff}",
    "a\u{301}",
    "🦀",
    "end_turn",
    "tool_use",
    "max_tokens",
    "error",
    "STOP",
    "call_1",
    "0",
    "-1",
    "1e999",
    "data: ",
    ",",
];

fn odd(rng: &mut Rng) -> Value {
    match rng.u8(..12) {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 => json!([]),
        3 => json!({}),
        4 => json!(rng.i32(-2..3)),
        5 => json!(u64::MAX),
        6 => json!(i64::MIN),
        7 => json!(1.5e300),
        8 => json!(0.1),
        9 => deep(rng.usize(..200)),
        10 => Value::Object(Map::from_iter([(odd_name(rng), json!(1))])),
        _ => json!(rng.choice(ODD_TEXTS).unwrap()),
    }
}

fn deep(levels: usize) -> Value {
    let wrap = |value, level: usize| match level % 2 {
        0 => json!([value]),
        _ => json!({"a": value}),
    };
    (0..levels).fold(Value::Null, wrap)
}

fn odd_name(rng: &mut Rng) -> String {
    let names = [
        "",
        "type",
        "index",
        "id",
        "name",
        "text",
        "content",
        "delta",
        "usage",
        "error",
        "message",
        "arguments",
        "input",
        "data",
        "status",
        "role",
    ];
    (*rng.choice(names.iter()).unwrap()).to_owned()
}
