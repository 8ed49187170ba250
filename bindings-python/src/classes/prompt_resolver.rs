//! `PromptResolver`: renders the prompt templates of an application.

use std::path::PathBuf;

use little_ghost::lookup::{PathSet, Root};
use little_ghost::{PromptResolver as Resolver, TrustedPath};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// Finds templates by name and renders them.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct PromptResolver {
    inner: Resolver,
}

#[pymethods]
impl PromptResolver {
    /// From pairs of a path and a boundary or None.
    #[new]
    fn new(roots: Vec<(PathBuf, Option<PathBuf>)>, max_depth: usize) -> PyResult<Self> {
        guard(|| {
            let paths: PathSet = roots
                .into_iter()
                .map(|(path, boundary)| match boundary {
                    Some(boundary) => Root::new(path).within(boundary),
                    None => Root::new(path),
                })
                .collect();
            let inner = Resolver::with_max_depth(paths, max_depth);
            Ok(Self { inner })
        })
    }

    /// The real path of the file for `name`, or None.
    fn find(&self, name: &str, invocation_paths: Vec<PathBuf>) -> PyResult<Option<PathBuf>> {
        guard(|| {
            let paths = trusted(&invocation_paths)?;
            self.inner.find(name, &paths).or_raise()
        })
    }

    /// The text of the template `name`.
    fn render(
        &self,
        py: Python<'_>,
        name: &str,
        locals: &Bound<'_, PyDict>,
        invocation_paths: Vec<PathBuf>,
    ) -> PyResult<String> {
        guard(|| {
            let locals = Value::Object(value::map_from_python(locals)?);
            let paths = trusted(&invocation_paths)?;
            py.detach(|| self.inner.render_with(name, &locals, &paths))
                .or_raise()
        })
    }
}

fn trusted(paths: &[PathBuf]) -> PyResult<Vec<TrustedPath>> {
    paths
        .iter()
        .map(TrustedPath::new)
        .collect::<Result<_, _>>()
        .or_raise()
}
