//! Renders the prompt templates of an application.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cache::Cache;
use super::file::find_template;
use super::rendering::Rendering;
use super::trusted_path::TrustedPath;
use super::{DEFAULT_MAX_DEPTH, JINJA_SUFFIXES, name};
use crate::error::{Error, ErrorKind, Result};
use crate::lookup::{PathSet, Root};

/// Finds Jinja2 templates by name and renders them.
///
/// `support/system` is the file `support/system.j2` or `support/system.jinja` in the first folder that has
/// one. A template sees the locals it was given and nothing else, and renders other files by
/// `{{ partial("shared/voice", product=product) }}`: the file `shared/_voice.j2`, which in turn sees only what
/// it is passed. Nothing is escaped; a local that was not passed is an error.
///
/// ```
/// use little_ghost::{PromptResolver, json};
///
/// # fn example(folder: &std::path::Path) -> little_ghost::Result<()> {
/// let prompts = PromptResolver::new(folder);
/// let text = prompts.render("support/system", &json!({"product": "Acme"}))?;
/// # Ok(())
/// # }
/// ```
///
/// Cheap to clone; clones share their compiled templates. A changed file is read again.
#[derive(Clone, Debug)]
pub struct PromptResolver {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) paths: PathSet,
    pub(super) max_depth: usize,
    pub(super) cache: Cache,
}

impl PromptResolver {
    /// A resolver that searches `paths`, earlier ones first. Whoever can write there writes
    /// instructions for the models.
    #[must_use]
    pub fn new(paths: impl Into<PathSet>) -> Self {
        Self::with_max_depth(paths, DEFAULT_MAX_DEPTH)
    }

    /// As [`PromptResolver::new`], with at most `max_depth` templates open inside each other.
    #[must_use]
    pub fn with_max_depth(paths: impl Into<PathSet>, max_depth: usize) -> Self {
        Self {
            inner: Arc::new(Inner {
                paths: paths.into(),
                max_depth,
                cache: Cache::new(),
            }),
        }
    }

    /// The folders in search order.
    #[must_use]
    pub fn paths(&self) -> &PathSet {
        &self.inner.paths
    }

    /// The real path of the file for `name`; `None` when there is none.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidPromptTemplate`] for an unsafe name, or a folder beyond its boundary.
    pub fn find(&self, name: &str, invocation_paths: &[TrustedPath]) -> Result<Option<PathBuf>> {
        let roots = self.roots(invocation_paths);
        match find_template(name, &roots, JINJA_SUFFIXES) {
            Ok(file) => Ok(Some(file.path)),
            Err(error) if error.kind() == ErrorKind::MissingPromptTemplate => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn roots(&self, invocation_paths: &[TrustedPath]) -> Vec<Root> {
        let first = invocation_paths.iter().map(|path| Root::new(path.path()));
        first.chain(self.inner.paths.iter().cloned()).collect()
    }

    /// Renders the template `name` with `locals`, an object.
    ///
    /// # Errors
    /// [`ErrorKind::MissingPromptTemplate`] without such a file; [`ErrorKind::MissingPromptLocal`] for a
    /// local that was not given; [`ErrorKind::InvalidPromptTemplate`] for an unsafe name, a cycle, too deep
    /// nesting or a template that is wrong; [`ErrorKind::Argument`] for unusable locals.
    pub fn render(&self, name: &str, locals: &Value) -> Result<String> {
        self.render_with(name, locals, &[])
    }

    /// As [`PromptResolver::render`], with folders for this one call that come first.
    ///
    /// # Errors
    /// As [`PromptResolver::render`].
    pub fn render_with(
        &self,
        name: &str,
        locals: &Value,
        invocation_paths: &[TrustedPath],
    ) -> Result<String> {
        let none = Map::new();
        let locals = match locals {
            Value::Object(locals) => locals,
            Value::Null => &none,
            _ => {
                return Err(Error::new(
                    ErrorKind::Argument,
                    "prompt locals must be an object of values by name",
                ));
            }
        };
        for local in locals.keys() {
            name::check_local_name(local)?;
        }
        let roots = self.roots(invocation_paths);
        let locals = locals
            .iter()
            .map(|(name, value)| {
                (
                    name.clone(),
                    minijinja::Value::from(minijinja::value::Serde(value)),
                )
            })
            .collect();
        Rendering::new(Arc::clone(&self.inner), roots).template(name, locals)
    }
}
