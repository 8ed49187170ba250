//! Names of templates: relative, with forward slashes, and never a way out of a root.

use crate::error::{Error, ErrorKind, Result};

/// Refuses a name that could lead out of a root.
///
/// # Errors
/// [`ErrorKind::InvalidPromptTemplate`] for a name that is empty, absolute, or has `..`, an empty part
/// or a NUL character in it.
pub fn check_template_name(name: &str) -> Result<()> {
    let problem = if name.trim().is_empty() {
        "is empty"
    } else if name.contains('\0') {
        "contains a NUL character"
    } else if name.starts_with('/') || name.starts_with('\\') || name.get(1..3) == Some(":\\") {
        "is absolute"
    } else if name.split(['/', '\\']).any(|part| part == "..") {
        "contains `..`"
    } else if name.split('/').any(|part| part.is_empty() || part == ".") {
        "has an empty part"
    } else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::InvalidPromptTemplate,
        format!(
            "the template name {name:?} {problem}; use a relative name such as \"support/system\""
        ),
    ))
}

/// The name of the file for the partial `name`, as the template `parent` asks for it.
///
/// The last part gets an underscore in front. A name without `/` is looked for beside the parent, any other
/// one from the roots: `"voice"` in `"support/system"` is `"support/_voice"`, and `"shared/voice"` is
/// `"shared/_voice"`.
///
/// # Errors
/// As [`check_template_name`].
pub fn partial_name(name: &str, parent: &str) -> Result<String> {
    check_template_name(name)?;
    Ok(match (name.rsplit_once('/'), parent.rsplit_once('/')) {
        (Some((folder, base)), _) => format!("{folder}/_{base}"),
        (None, Some((folder, _))) => format!("{folder}/_{name}"),
        (None, None) => format!("_{name}"),
    })
}

/// Refuses names that templates cannot use.
#[cfg(feature = "prompts")]
pub(crate) fn check_local_name(name: &str) -> Result<()> {
    let mut characters = name.chars();
    let usable = characters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase() || first == '_')
        && characters.all(|rest| rest.is_ascii_alphanumeric() || rest == '_');
    if !usable {
        return Err(Error::new(
            ErrorKind::Argument,
            format!(
                "{name:?} cannot name a prompt local; use lower-case letters, digits and underscores"
            ),
        ));
    }
    Ok(())
}
