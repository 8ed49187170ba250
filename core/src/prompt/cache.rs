//! Compiled templates, kept for as long as their files stay as they are.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use parking_lot::Mutex;

use super::failure;
use super::file::TemplateFile;
use crate::error::{Error, ErrorKind, Result};

/// The name that every template has inside its own environment.
pub(super) const TEMPLATE: &str = "template";

/// A compiled template and the file that it was made from.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) file: TemplateFile,
    pub(super) environment: Environment<'static>,
}

#[derive(Debug)]
pub(super) struct Cache {
    base: Environment<'static>,
    templates: Mutex<HashMap<PathBuf, Arc<Compiled>>>,
}

impl Cache {
    pub(super) fn new() -> Self {
        let mut base = Environment::new();
        base.set_undefined_behavior(UndefinedBehavior::Strict);
        base.set_auto_escape_callback(|_| AutoEscape::None);
        base.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        base.set_debug(true);
        Self {
            base,
            templates: Mutex::default(),
        }
    }

    /// The compiled template of `file`, compiled now if the file is new or has changed.
    pub(super) fn fetch(&self, file: TemplateFile) -> Result<Arc<Compiled>> {
        let known = self.templates.lock().get(&file.path).cloned();
        if let Some(compiled) = known
            && compiled.file == file
        {
            return Ok(compiled);
        }
        let compiled = Arc::new(self.compile(file)?);
        self.templates
            .lock()
            .insert(compiled.file.path.clone(), Arc::clone(&compiled));
        Ok(compiled)
    }

    fn compile(&self, file: TemplateFile) -> Result<Compiled> {
        let text = std::fs::read_to_string(&file.path).map_err(|problem| {
            Error::new(
                ErrorKind::InvalidPromptTemplate,
                format!(
                    "the prompt template {} cannot be read: {problem}",
                    file.path.display()
                ),
            )
        })?;
        let mut environment = self.base.clone();
        environment
            .add_template_owned(TEMPLATE, text)
            .map_err(|problem| failure::of_template(&problem, &file.path))?;
        Ok(Compiled { file, environment })
    }
}
