//! JSON values as Ruby objects, and back.

use magnus::encoding::EncodingCapable;
use magnus::r_hash::ForEach;
use magnus::rb_sys::FromRawValue;
use magnus::value::ReprValue;
use magnus::{Error, Float, Integer, RArray, RHash, RString, Ruby, Symbol, Value};
use serde_json::{Map, Number, Value as Json};

/// Deeper values are refused: almost always they contain themselves.
const MAX_DEPTH: usize = 100;

/// Hashes with String keys, Arrays, Strings, numbers, booleans and nil.
pub(crate) fn to_ruby(ruby: &Ruby, json: &Json) -> Result<Value, Error> {
    Ok(match json {
        Json::Null => ruby.qnil().as_value(),
        Json::Bool(flag) => ruby.into_value(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => ruby.integer_from_i64(number).as_value(),
            (None, Some(number)) => ruby.integer_from_u64(number).as_value(),
            (None, None) => ruby
                .float_from_f64(number.as_f64().unwrap_or_default())
                .as_value(),
        },
        Json::String(text) => ruby.str_new(text).as_value(),
        Json::Array(items) => {
            let array = ruby.ary_new_capa(items.len());
            for item in items {
                array.push(to_ruby(ruby, item)?)?;
            }
            array.as_value()
        }
        Json::Object(map) => {
            let hash = ruby.hash_new_capa(map.len());
            for (key, value) in map {
                hash.aset(hash_key(ruby, key), to_ruby(ruby, value)?)?;
            }
            hash.as_value()
        }
    })
}

/// The one frozen String for `key`, which a Hash takes as it is instead of copying and freezing it.
#[allow(unsafe_code)]
fn hash_key(_ruby: &Ruby, key: &str) -> Value {
    let length = std::ffi::c_long::try_from(key.len()).unwrap_or(std::ffi::c_long::MAX);
    // SAFETY: the pointer and the length describe `key`, which Ruby copies.
    unsafe {
        let encoding = rb_sys::rb_utf8_encoding();
        Value::from_raw(rb_sys::rb_enc_interned_str(
            key.as_ptr().cast(),
            length,
            encoding,
        ))
    }
}

/// A Hash whose own keys are Symbols, as event data has them; nested ones are Strings.
pub(crate) fn to_event_data(ruby: &Ruby, json: &Json) -> Result<RHash, Error> {
    let Json::Object(map) = json else {
        return Ok(ruby.hash_new());
    };
    let hash = ruby.hash_new_capa(map.len());
    for (key, value) in map {
        hash.aset(ruby.to_symbol(key), to_ruby(ruby, value)?)?;
    }
    Ok(hash)
}

/// The JSON for a Ruby object built of Hashes, Arrays, Strings, Symbols, numbers, booleans and nil.
///
/// Raises ArgumentError for text that is not UTF-8, numbers that JSON does not have, other keys
/// than Strings and Symbols, and TypeError for other objects.
pub(crate) fn from_ruby(ruby: &Ruby, value: Value) -> Result<Json, Error> {
    convert(ruby, value, 0)
}

/// As [`from_ruby`], for a Hash.
pub(crate) fn object_from_ruby(ruby: &Ruby, hash: RHash) -> Result<Map<String, Json>, Error> {
    object(ruby, hash, 0)
}

fn convert(ruby: &Ruby, value: Value, depth: usize) -> Result<Json, Error> {
    if depth > MAX_DEPTH {
        return Err(argument_error(
            ruby,
            format!("the value is nested deeper than {MAX_DEPTH} levels; does it contain itself?"),
        ));
    }
    if value.is_nil() {
        Ok(Json::Null)
    } else if let Some(string) = RString::from_value(value) {
        text(ruby, string).map(Json::String)
    } else if let Some(hash) = RHash::from_value(value) {
        object(ruby, hash, depth).map(Json::Object)
    } else if let Some(array) = RArray::from_value(value) {
        let mut items = Vec::with_capacity(array.len());
        for index in 0..array.len() {
            let item: Value = array.entry(index as isize)?;
            items.push(convert(ruby, item, depth + 1)?);
        }
        Ok(Json::Array(items))
    } else if value.is_kind_of(ruby.class_true_class()) {
        Ok(Json::Bool(true))
    } else if value.is_kind_of(ruby.class_false_class()) {
        Ok(Json::Bool(false))
    } else if let Some(integer) = Integer::from_value(value) {
        integer_json(ruby, integer)
    } else if let Some(float) = Float::from_value(value) {
        Number::from_f64(float.to_f64())
            .map(Json::Number)
            .ok_or_else(|| argument_error(ruby, format!("{} is not a JSON number", float.to_f64())))
    } else if let Some(symbol) = Symbol::from_value(value) {
        Ok(Json::String(symbol.name()?.into_owned()))
    } else {
        let class = value.class();
        Err(Error::new(
            ruby.exception_type_error(),
            format!(
                "a {class} cannot be sent as JSON; use Hash, Array, String, number, true, false or nil"
            ),
        ))
    }
}

fn object(ruby: &Ruby, hash: RHash, depth: usize) -> Result<Map<String, Json>, Error> {
    let mut map = Map::with_capacity(hash.len());
    hash.foreach(|key: Value, value: Value| {
        map.insert(key_text(ruby, key)?, convert(ruby, value, depth + 1)?);
        Ok(ForEach::Continue)
    })?;
    Ok(map)
}

fn key_text(ruby: &Ruby, key: Value) -> Result<String, Error> {
    if let Some(string) = RString::from_value(key) {
        text(ruby, string)
    } else if let Some(symbol) = Symbol::from_value(key) {
        Ok(symbol.name()?.into_owned())
    } else {
        Err(argument_error(
            ruby,
            format!(
                "a {} cannot be a JSON key; use Strings or Symbols",
                key.class()
            ),
        ))
    }
}

fn integer_json(ruby: &Ruby, integer: Integer) -> Result<Json, Error> {
    if let Ok(number) = integer.to_i64() {
        return Ok(number.into());
    }
    integer
        .to_u64()
        .map(Json::from)
        .map_err(|_| argument_error(ruby, "an Integer of more than 64 bits; send it as a String"))
}

/// The text of `string` as UTF-8. Bytes without an encoding count as UTF-8.
pub(crate) fn text(ruby: &Ruby, string: RString) -> Result<String, Error> {
    let compatible =
        string.is_utf8_compatible_encoding() || string.enc_get() == ruby.ascii8bit_encindex();
    let string = if compatible {
        string
    } else {
        string.conv_enc(ruby.utf8_encoding())?
    };
    // SAFETY: the bytes are copied before anything can run Ruby code and change them.
    #[allow(unsafe_code)]
    let bytes = unsafe { string.as_slice() }.to_vec();
    String::from_utf8(bytes).map_err(|problem| {
        argument_error(
            ruby,
            format!(
                "the String is not valid UTF-8 at byte {}; encode it, or send bytes as an attachment",
                problem.utf8_error().valid_up_to()
            ),
        )
    })
}

pub(crate) fn argument_error(ruby: &Ruby, message: impl Into<String>) -> Error {
    Error::new(ruby.exception_arg_error(), message.into())
}
