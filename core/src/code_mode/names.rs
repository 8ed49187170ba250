//! How the languages of programs write the names of tools.

/// The name of a tool in `language`, if that is built in.
pub(crate) fn normalize(language: &str, name: &str) -> Option<String> {
    match language {
        "ruby" => Some(method_name(name)),
        "python" => Some(python_name(name)),
        "javascript" => Some(javascript_name(name)),
        _ => None,
    }
}

/// A Ruby or Python method: `[A-Za-z0-9_]`, not beginning with a digit.
pub(super) fn method_name(name: &str) -> String {
    let normalized: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    match normalized.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("tool_{normalized}"),
        _ => normalized,
    }
}

/// A Python method that is no keyword of the language.
pub(super) fn python_name(name: &str) -> String {
    let name = method_name(name);
    if PYTHON_KEYWORDS.contains(&name.as_str()) {
        format!("{name}_")
    } else {
        name
    }
}

/// A JavaScript property that can be written behind a dot, and that makes nothing a promise.
pub(super) fn javascript_name(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$';
    let mut normalized: String = name
        .chars()
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect();
    let first = normalized.chars().next();
    if first.is_some_and(|first| first.is_ascii_digit()) || normalized == "then" {
        normalized.insert(0, '_');
    }
    normalized
}

const PYTHON_KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_written_in_their_language() {
        assert_eq!(method_name("look-up.it"), "look_up_it");
        assert_eq!(method_name("2fa"), "tool_2fa");
        assert_eq!(python_name("class"), "class_");
        assert_eq!(python_name("look-up"), "look_up");
        assert_eq!(javascript_name("2fa-$"), "_2fa_$");
        assert_eq!(javascript_name("then"), "_then");
    }
}
