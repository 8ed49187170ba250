//! Stream events as Python objects.
//!
//! A delta comes once for each token, so the objects for deltas are made here, with interned keys and
//! without the constructor of the dataclass. All other events are handed over as data and
//! completed in Python, where their value classes are.

use little_ghost::StreamEvent;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::classes::EVENT;
use crate::value;

/// What it takes to make a `StreamEvent` and to fill its slots.
struct Factory {
    class: Py<PyAny>,
    new: Py<PyAny>,
    set_type: Py<PyAny>,
    set_data: Py<PyAny>,
}

static FACTORY: PyOnceLock<Factory> = PyOnceLock::new();

impl Factory {
    fn get(py: Python<'_>) -> PyResult<&Factory> {
        FACTORY.get_or_try_init(py, || {
            let class = py.import("little_ghost.event")?.getattr("StreamEvent")?;
            let object = py.import("builtins")?.getattr("object")?;
            Ok(Factory {
                new: object.getattr("__new__")?.unbind(),
                set_type: class.getattr("type")?.getattr("__set__")?.unbind(),
                set_data: class.getattr("data")?.getattr("__set__")?.unbind(),
                class: class.unbind(),
            })
        })
    }

    fn make<'py>(
        &self,
        py: Python<'py>,
        kind: &Bound<'py, PyString>,
        data: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let event = self.new.bind(py).call1((self.class.bind(py),))?;
        self.set_type.bind(py).call1((&event, kind))?;
        self.set_data.bind(py).call1((&event, data))?;
        Ok(event)
    }
}

/// Builds a `StreamEvent`, or `(EVENT, type, data)` for Python to complete.
pub(crate) fn to_python<'py>(py: Python<'py>, event: &StreamEvent) -> PyResult<Bound<'py, PyAny>> {
    match event {
        StreamEvent::TextDelta { text } => delta(py, intern!(py, "text_delta"), text),
        StreamEvent::ReasoningDelta { text } => delta(py, intern!(py, "reasoning_delta"), text),
        StreamEvent::ToolCallDelta { index, arguments } => {
            let data = PyDict::new(py);
            data.set_item(intern!(py, "index"), index)?;
            data.set_item(intern!(py, "arguments"), arguments)?;
            Factory::get(py)?.make(py, intern!(py, "tool_call_delta"), &data)
        }
        other => {
            let data = value::to_python(py, &other.data())?;
            Ok(PyTuple::new(
                py,
                [
                    EVENT.into_pyobject(py)?.into_any(),
                    PyString::intern(py, other.kind()).into_any(),
                    data,
                ],
            )?
            .into_any())
        }
    }
}

fn delta<'py>(
    py: Python<'py>,
    kind: &Bound<'py, PyString>,
    text: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let data = PyDict::new(py);
    data.set_item(intern!(py, "text"), text)?;
    Factory::get(py)?.make(py, kind, &data)
}
