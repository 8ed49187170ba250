//! Finding the file of a template.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::name::check_template_name;
use crate::error::{Error, ErrorKind, Result};
use crate::lookup::Root;

/// A template file, as it was when it was found. Two equal ones hold the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFile {
    /// The real path.
    pub path: PathBuf,
    /// When it was written last; `None` where the file system does not say.
    pub modified: Option<SystemTime>,
    /// Its size in bytes.
    pub size: u64,
}

/// Finds the file of the template `name` in `roots`, of which earlier ones win.
///
/// In each root `name` with each of `suffixes` (without dot) is looked for, then `name` itself; a name that
/// already ends in one of the suffixes only as it is. A file whose real path is outside its root is
/// passed over.
///
/// # Errors
/// [`ErrorKind::InvalidPromptTemplate`] for an unsafe name and for a root beyond its boundary;
/// [`ErrorKind::MissingPromptTemplate`], naming the places, when no root has the file.
pub fn find_template<'a>(
    name: &str,
    roots: impl IntoIterator<Item = &'a Root>,
    suffixes: &[&str],
) -> Result<TemplateFile> {
    check_template_name(name)?;
    let candidates = candidates(name, suffixes);
    let mut searched = Vec::new();
    let mut escaped = None;
    for root in roots {
        searched.push(root.path().display().to_string());
        let Some(real_root) = root.real_path() else {
            continue;
        };
        if root.is_beyond_boundary(&real_root) {
            return Err(Error::new(
                ErrorKind::InvalidPromptTemplate,
                format!(
                    "the prompt folder {} leads out of {} through a symbolic link; \
                     keep templates inside, or configure the real folder",
                    root.path().display(),
                    root.boundary().unwrap_or(Path::new("")).display()
                ),
            ));
        }
        for candidate in &candidates {
            let path = real_root.join(candidate);
            let Ok(real) = path.canonicalize() else {
                continue;
            };
            if !real.starts_with(&real_root) {
                escaped = Some(path);
                continue;
            }
            if let Ok(facts) = real.metadata()
                && facts.is_file()
            {
                return Ok(TemplateFile {
                    path: real,
                    modified: facts.modified().ok(),
                    size: facts.len(),
                });
            }
        }
    }
    Err(missing(name, &candidates, &searched, escaped.as_deref()))
}

fn candidates(name: &str, suffixes: &[&str]) -> Vec<String> {
    let has_suffix = suffixes.iter().any(|suffix| {
        name.strip_suffix(suffix)
            .is_some_and(|stem| stem.ends_with('.'))
    });
    let mut candidates = Vec::with_capacity(suffixes.len() + 1);
    if !has_suffix {
        candidates.extend(suffixes.iter().map(|suffix| format!("{name}.{suffix}")));
    }
    candidates.push(name.to_owned());
    candidates
}

fn missing(
    name: &str,
    candidates: &[String],
    searched: &[String],
    escaped: Option<&Path>,
) -> Error {
    let places = if searched.is_empty() {
        "no prompt folder is configured".to_owned()
    } else {
        format!("searched {}", searched.join(", "))
    };
    let link = escaped.map_or_else(String::new, |path| {
        format!(
            "; {} was passed over, because it leads out of its prompt folder",
            path.display()
        )
    });
    let file = candidates.first().map_or(name, String::as_str);
    Error::new(
        ErrorKind::MissingPromptTemplate,
        format!("there is no prompt template {name:?}: {places} for {file}{link}"),
    )
}
