//! What the template engine reports, as errors of this crate that say where and what.

use std::error::Error as StdError;
use std::path::Path;

use minijinja::ErrorKind as Problem;

use crate::error::{Error, ErrorKind};

/// The error for a failure in the template at `path`. A failure of a partial inside it stays
/// what it was.
pub(super) fn of_template(problem: &minijinja::Error, path: &Path) -> Error {
    if let Some(error) = inner(problem) {
        return error;
    }
    let place = match problem.line() {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    };
    let detail = problem.detail().unwrap_or_default();
    match problem.kind() {
        Problem::UndefinedError | Problem::UnknownFunction => Error::new(
            ErrorKind::MissingPromptLocal,
            format!(
                "{place}: {}; pass it as a prompt local, and to a partial explicitly",
                missing(problem, detail)
            ),
        ),
        kind => {
            let hint = if detail.contains("unknown statement") {
                "; other files are rendered by {{ partial(\"folder/name\", local=value) }}"
            } else {
                ""
            };
            let what = if detail.is_empty() {
                kind.to_string()
            } else {
                format!("{kind}: {detail}")
            };
            Error::new(
                ErrorKind::InvalidPromptTemplate,
                format!("{place}: {what}{hint}"),
            )
        }
    }
}

/// Carries `error` through the template engine; [`of_template`] gets it back.
pub(super) fn wrap(error: Error) -> minijinja::Error {
    minijinja::Error::new(Problem::InvalidOperation, error.message().to_owned()).with_source(error)
}

fn inner(problem: &minijinja::Error) -> Option<Error> {
    let mut source = problem.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<Error>() {
            return Some(error.clone());
        }
        source = cause.source();
    }
    None
}

/// Names what is missing, by the expression in the template where the engine does not.
fn missing(problem: &minijinja::Error, detail: &str) -> String {
    if !detail.is_empty() {
        return detail.to_owned();
    }
    let expression = problem
        .range()
        .and_then(|range| problem.template_source()?.get(range));
    match expression {
        Some(expression) => format!("{} is not known", expression.trim()),
        None => "a value is not known".to_owned(),
    }
}
