//! Where the file of a prompt is: the rules are the engine's, whatever the template language.

use std::path::PathBuf;

use little_ghost::lookup::Root;
use little_ghost::prompt;
use magnus::{Error, RModule, Ruby, function, prelude::*};

use crate::guard::guard;

pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("prompt_lookup", function!(lookup, 3))?;
    native.define_singleton_method("prompt_partial_name", function!(partial_name, 2))
}

/// The real path of the template `name` in `roots`, pairs of a path and a boundary or nil.
fn lookup(
    ruby: &Ruby,
    name: String,
    roots: Vec<(PathBuf, Option<PathBuf>)>,
    suffixes: Vec<String>,
) -> Result<PathBuf, Error> {
    guard(ruby, || {
        let roots: Vec<Root> = roots
            .into_iter()
            .map(|(path, boundary)| match boundary {
                Some(boundary) => Root::new(path).within(boundary),
                None => Root::new(path),
            })
            .collect();
        let suffixes: Vec<&str> = suffixes.iter().map(String::as_str).collect();
        Ok(prompt::find_template(&name, &roots, &suffixes)?.path)
    })
}

/// The name of the file for a partial, as the template `parent` asks for it.
fn partial_name(ruby: &Ruby, name: String, parent: String) -> Result<String, Error> {
    guard(ruby, || Ok(prompt::partial_name(&name, &parent)?))
}
