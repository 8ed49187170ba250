//! Functions around the text of tools, secrets and configuration files.

use std::path::PathBuf;

use little_ghost::config::ConfigurationFiles;
use little_ghost::support::Redactor;
use little_ghost::truncate_middle_with_token_budget;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// The size in bytes of so many tokens, roughly.
#[pyfunction]
pub(crate) fn approx_bytes_for_tokens(tokens: usize) -> usize {
    little_ghost::approx_bytes_for_tokens(tokens)
}

/// The tokens in so many bytes, roughly.
#[pyfunction]
pub(crate) fn approx_tokens_from_byte_count(bytes: usize) -> usize {
    little_ghost::approx_tokens_from_byte_count(bytes)
}

/// `(text, tokens of the original or None)`.
#[pyfunction]
pub(crate) fn truncate_middle(text: &str, max_tokens: usize) -> PyResult<(String, Option<usize>)> {
    guard(|| {
        let (cut, original) = truncate_middle_with_token_budget(text, max_tokens);
        Ok((cut.into_owned(), original))
    })
}

/// Whether a key names a credential.
#[pyfunction]
pub(crate) fn is_sensitive_key(key: &str) -> PyResult<bool> {
    guard(|| Ok(Redactor::is_sensitive_key(key)))
}

/// `{providers, models, default_model}`, as far as the files of the application at `root` set them.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts owned values")]
pub(crate) fn read_configuration_files(
    py: Python<'_>,
    root: PathBuf,
    providers_path: Option<PathBuf>,
    models_path: Option<PathBuf>,
) -> PyResult<Bound<'_, PyAny>> {
    guard(|| {
        let files = py
            .detach(|| {
                ConfigurationFiles::read(&root, providers_path.as_deref(), models_path.as_deref())
            })
            .or_raise()?;
        value::to_python(py, &files.to_value())
    })
}
