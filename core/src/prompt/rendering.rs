//! One rendering: a template, and the partials inside it.

use std::path::PathBuf;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Kwargs, ValueKind};

use super::JINJA_SUFFIXES;
use super::cache::TEMPLATE;
use super::failure;
use super::file::find_template;
use super::name::{check_local_name, partial_name};
use super::resolver::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::lookup::Root;

/// The function by which a template renders another file.
const PARTIAL: &str = "partial";

/// Names and values that one template sees.
pub(super) type Locals = Vec<(String, Value)>;

/// Where a rendering stands: which templates are open around the next one.
#[derive(Clone)]
pub(super) struct Rendering {
    resolver: Arc<Inner>,
    roots: Arc<[Root]>,
    open: Vec<PathBuf>,
}

impl Rendering {
    pub(super) fn new(resolver: Arc<Inner>, roots: Vec<Root>) -> Self {
        Self {
            resolver,
            roots: roots.into(),
            open: Vec::new(),
        }
    }

    /// Renders the file called `name`, which sees `locals` only.
    pub(super) fn template(mut self, name: &str, locals: Locals) -> Result<String> {
        if self.open.len() >= self.resolver.max_depth {
            return Err(invalid(format!(
                "more than {} templates are open inside each other at {name:?}",
                self.resolver.max_depth
            )));
        }
        let file = find_template(name, self.roots.iter(), JINJA_SUFFIXES)?;
        if self.open.contains(&file.path) {
            return Err(invalid(format!(
                "the template {} renders itself through its partials",
                file.path.display()
            )));
        }
        self.open.push(file.path.clone());
        let compiled = self.resolver.cache.fetch(file)?;
        let parent = name.to_owned();
        let partial =
            Value::from_function(move |name: &str, locals: Option<Value>, keywords: Kwargs| {
                self.clone()
                    .partial(name, &parent, locals, &keywords)
                    .map_err(failure::wrap)
            });
        if locals.iter().any(|(local, _)| local == PARTIAL) {
            return Err(Error::new(
                ErrorKind::Argument,
                "`partial` cannot name a prompt local: templates render other files by it",
            ));
        }
        let context = locals.into_iter().chain([(PARTIAL.to_owned(), partial)]);
        let rendered = compiled
            .environment
            .get_template(TEMPLATE)
            .and_then(|template| template.render(Value::from_pairs(context)));
        rendered.map_err(|problem| failure::of_template(&problem, &compiled.file.path))
    }

    fn partial(
        self,
        name: &str,
        parent: &str,
        locals: Option<Value>,
        keywords: &Kwargs,
    ) -> Result<String> {
        let mut given = Locals::new();
        if let Some(locals) = locals {
            extend(&mut given, name, &locals)?;
        }
        for key in keywords.args() {
            let value: Value = keywords
                .get(key)
                .map_err(|problem| invalid(format!("partial {name:?}: {problem}")))?;
            if key == "locals" {
                extend(&mut given, name, &value)?;
            } else {
                given.push((key.to_owned(), value));
            }
        }
        self.template(&partial_name(name, parent)?, given)
    }
}

/// Adds the entries of the map `locals`.
fn extend(given: &mut Locals, name: &str, locals: &Value) -> Result<()> {
    if locals.kind() != ValueKind::Map {
        return Err(invalid(format!(
            "partial {name:?} takes its locals as a map or as keywords, got {}",
            locals.kind()
        )));
    }
    let keys = locals
        .try_iter()
        .map_err(|problem| invalid(problem.to_string()))?;
    for key in keys {
        let value = locals
            .get_item(&key)
            .map_err(|problem| invalid(problem.to_string()))?;
        let key = key.as_str().unwrap_or_default().to_owned();
        check_local_name(&key)?;
        given.push((key, value));
    }
    Ok(())
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidPromptTemplate, message)
}
