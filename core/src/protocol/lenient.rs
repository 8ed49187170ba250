//! JSON fields that providers fill with surprises.
//!
//! These types accept what really arrives in place of the documented one: null, a number, a list
//! of parts. They borrow from the frame where they can, because every text delta goes through them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A string; empty for null and for anything that has no text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    /// The text unless it is empty.
    pub(super) fn present(&self) -> Option<&str> {
        Some(&*self.0).filter(|text| !text.is_empty())
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    // Some services stream content as a list of parts.
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut joined = String::new();
        while let Some(part) = parts.next_element::<Text<'de>>()? {
            joined.push_str(&part.0);
        }
        Ok(Text(Cow::Owned(joined)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Text::default();
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == "text" {
                found = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Tool arguments: JSON text, or an object that a service forgot to encode as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments<'a>(pub(super) Cow<'a, str>);

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = Arguments<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON text or an object")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Arguments(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Arguments(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Arguments(Cow::Owned(text)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Arguments::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Arguments(Cow::Owned(object.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgumentsVisitor)
    }
}

/// A position; `None` when it is missing, null or no count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Position(pub(super) Option<u32>);

struct PositionVisitor;

impl<'de> Visitor<'de> for PositionVisitor {
    type Value = Position;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a position")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Position(u32::try_from(number).ok()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Position(u32::try_from(number).ok()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Position(number.to_string().parse().ok()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Position(text.parse().ok()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Position(None))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Position(None))
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PositionVisitor)
    }
}

/// A list; empty for null.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        List(Vec::new())
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(List::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(List(list))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}
