//! Prompts as views: instructions in files of their own, found by name.
//!
//! How a file is found, and which names are safe, is the same for every template language; see
//! [`find_template`]. [`PromptResolver`] renders Jinja2 templates.

mod file;
mod locals;
mod name;
mod trusted_path;

#[cfg(feature = "prompts")]
mod cache;
#[cfg(feature = "prompts")]
mod failure;
#[cfg(feature = "prompts")]
mod rendering;
#[cfg(feature = "prompts")]
mod resolver;
#[cfg(test)]
#[cfg(feature = "prompts")]
mod tests;

pub use file::{TemplateFile, find_template};
pub(crate) use locals::PromptLocals;
#[cfg(feature = "prompts")]
use name::check_local_name;
pub use name::{check_template_name, partial_name};
#[cfg(feature = "prompts")]
pub use resolver::PromptResolver;
pub use trusted_path::TrustedPath;

/// Templates that may be open inside each other, unless a resolver says otherwise.
pub const DEFAULT_MAX_DEPTH: usize = 20;

/// File suffixes of templates in Jinja2 syntax, the preferred one first.
pub const JINJA_SUFFIXES: &[&str] = &["j2", "jinja"];
