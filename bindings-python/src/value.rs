//! JSON values as Python objects and back, without a detour over text.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Nesting that is taken from Python; a cycle ends here too.
const MAX_DEPTH: usize = 128;

/// Builds the Python object for `value`: dict, list, str, int, float, bool or None.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => number_to_python(py, number)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(map) => map_to_python(py, map)?.into_any(),
    })
}

/// Builds a dict.
pub(crate) fn map_to_python<'py>(
    py: Python<'py>,
    map: &Map<String, Value>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in map {
        dict.set_item(PyString::new(py, key), to_python(py, value)?)?;
    }
    Ok(dict)
}

fn number_to_python<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    if let Some(signed) = number.as_i64() {
        return Ok(signed.into_pyobject(py)?.into_any());
    }
    if let Some(unsigned) = number.as_u64() {
        return Ok(unsigned.into_pyobject(py)?.into_any());
    }
    Ok(PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any())
}

/// Reads a Python object made of dict, list, tuple, str, int, float, bool and None.
///
/// Raises `TypeError` for any other type and for keys that are no strings, and `ValueError` for
/// NaN, infinity, an integer beyond 64 bits, a lone surrogate or nesting that does not end. The message
/// says where.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    read(object, 0).map_err(|problem| problem.into_error(object.py()))
}

/// A refusal, with the path to it collected from the inside out.
struct Problem {
    path: Vec<String>,
    kind: ProblemKind,
}

enum ProblemKind {
    Type(String),
    Value(String),
    Raised(PyErr),
}

impl Problem {
    fn value(message: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            kind: ProblemKind::Value(message.into()),
        }
    }

    fn of_type(message: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            kind: ProblemKind::Type(message.into()),
        }
    }

    fn inside(mut self, step: String) -> Self {
        self.path.push(step);
        self
    }

    fn into_error(self, py: Python<'_>) -> PyErr {
        let mut path = String::from("$");
        // A cycle would make a path of hundreds of steps.
        for step in self.path.iter().rev().take(8) {
            path.push_str(step);
        }
        match self.kind {
            ProblemKind::Type(message) => PyTypeError::new_err(format!("{path} {message}")),
            ProblemKind::Value(message) => PyValueError::new_err(format!("{path} {message}")),
            ProblemKind::Raised(error) if error.is_instance_of::<PyValueError>(py) => {
                PyValueError::new_err(format!("{path} is not valid: {}", error.value(py)))
            }
            ProblemKind::Raised(error) => error,
        }
    }
}

impl From<PyErr> for Problem {
    fn from(error: PyErr) -> Self {
        Self {
            path: Vec::new(),
            kind: ProblemKind::Raised(error),
        }
    }
}

fn read(object: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Problem> {
    if depth > MAX_DEPTH {
        return Err(Problem::value(format!(
            "is nested more than {MAX_DEPTH} levels deep"
        )));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // Before int: a bool is one.
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(integer) = object.cast::<PyInt>() {
        return read_integer(integer);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        let float = float.value();
        return Number::from_f64(float)
            .map(Value::Number)
            .ok_or_else(|| Problem::value(format!("is {float}, which JSON cannot express")));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return read_dict(dict, depth);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return read_items(list.iter(), depth);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return read_items(tuple.iter(), depth);
    }
    Err(Problem::of_type(format!(
        "is of type {}, which JSON cannot express",
        object.get_type().name()?
    )))
}

fn read_integer(integer: &Bound<'_, PyInt>) -> Result<Value, Problem> {
    if let Ok(signed) = integer.extract::<i64>() {
        return Ok(Value::from(signed));
    }
    integer
        .extract::<u64>()
        .map(Value::from)
        .map_err(|_| Problem::value("is an integer of more than 64 bits; pass it as a string"))
}

fn read_dict(dict: &Bound<'_, PyDict>, depth: usize) -> Result<Value, Problem> {
    let mut map = Map::with_capacity(dict.len());
    // `iter` panics when another thread changes the dict meanwhile; a copy of the items does not.
    for pair in dict.items().iter() {
        let (key, value) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let Ok(key) = key.cast::<PyString>() else {
            return Err(Problem::of_type(format!(
                "has a key of type {}; keys must be strings",
                key.get_type().name()?
            )));
        };
        let key = key.to_cow()?.into_owned();
        match read(&value, depth + 1) {
            Ok(value) => map.insert(key, value),
            Err(problem) => return Err(problem.inside(format!(".{key}"))),
        };
    }
    Ok(Value::Object(map))
}

fn read_items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> Result<Value, Problem> {
    let mut array = Vec::new();
    for (index, item) in items.enumerate() {
        match read(&item, depth + 1) {
            Ok(value) => array.push(value),
            Err(problem) => return Err(problem.inside(format!("[{index}]"))),
        }
    }
    Ok(Value::Array(array))
}

/// Reads a dict, as [`from_python`] does.
pub(crate) fn map_from_python(object: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    match from_python(object.as_any())? {
        Value::Object(map) => Ok(map),
        _ => Err(PyTypeError::new_err("a dict is needed")),
    }
}
