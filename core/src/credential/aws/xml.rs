//! A reader of the small XML documents that AWS STS answers.

use crate::credential::trail::unusable;
use crate::error::{Error, Result};

/// Elements within elements; deeper documents are refused.
const MAX_DEPTH: usize = 32;

/// An element, without its attributes and the prefix of its name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// The element below this one, by the names on the way.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |element, name| {
            element.children.iter().find(|child| child.name == *name)
        })
    }

    /// The text of the element below this one, if there is any.
    pub(super) fn text(&self, path: &[&str]) -> Option<&str> {
        let text = self.at(path)?.text.trim();
        (!text.is_empty()).then_some(text)
    }
}

/// Reads a document. Document types, which can define entities, are refused.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) for what is not well-formed.
pub(super) fn parse(text: &str) -> Result<Element> {
    let mut open = vec![Element::default()];
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some(at) = rest.find('<') {
        let (text, markup) = rest.split_at(at);
        append(&mut open, &unescape(text)?)?;
        rest = if let Some(after) = markup.strip_prefix("<?") {
            skip(after, "?>")?
        } else if let Some(after) = markup.strip_prefix("<!--") {
            skip(after, "-->")?
        } else if let Some(after) = markup.strip_prefix("<![CDATA[") {
            let (literal, after) = after.split_once("]]>").ok_or_else(malformed)?;
            append(&mut open, literal)?;
            after
        } else if let Some(after) = markup.strip_prefix("</") {
            let (name, after) = after.split_once('>').ok_or_else(malformed)?;
            close(&mut open, local(name.trim()))?;
            after
        } else {
            tag(&mut open, markup.get(1..).unwrap_or_default())?
        };
    }
    append(&mut open, rest)?;
    match (open.pop(), open.pop()) {
        (Some(mut document), None) if document.children.len() == 1 => {
            document.children.pop().ok_or_else(malformed)
        }
        _ => Err(malformed()),
    }
}

/// Takes an opening tag, whose `<` is gone; the rest behind it.
fn tag<'a>(open: &mut Vec<Element>, markup: &'a str) -> Result<&'a str> {
    let mut quote = None;
    let end = markup.find(|letter| match quote {
        Some(mark) => {
            if letter == mark {
                quote = None;
            }
            false
        }
        None => {
            if matches!(letter, '"' | '\'') {
                quote = Some(letter);
            }
            letter == '>'
        }
    });
    let (inside, after) = markup.split_at(end.ok_or_else(malformed)?);
    let (inside, closed) = match inside.strip_suffix('/') {
        Some(inside) => (inside, true),
        None => (inside, false),
    };
    let name = local(inside.split_whitespace().next().unwrap_or_default());
    let usual = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(usual) || open.len() > MAX_DEPTH {
        return Err(malformed());
    }
    open.push(Element {
        name: name.to_owned(),
        ..Element::default()
    });
    if closed {
        close(open, name)?;
    }
    Ok(after.get(1..).unwrap_or_default())
}

fn close(open: &mut Vec<Element>, name: &str) -> Result<()> {
    let closed = open.pop().filter(|element| element.name == name);
    let (Some(closed), Some(parent)) = (closed, open.last_mut()) else {
        return Err(malformed());
    };
    parent.children.push(closed);
    Ok(())
}

/// Adds text to the innermost open element. Around the whole document there may be only white space.
fn append(open: &mut [Element], text: &str) -> Result<()> {
    match open {
        [_] if text.trim().is_empty() => Ok(()),
        [_, .., element] => {
            element.text.push_str(text);
            Ok(())
        }
        _ => Err(malformed()),
    }
}

fn skip<'a>(text: &'a str, end: &str) -> Result<&'a str> {
    text.split_once(end)
        .map(|(_, after)| after)
        .ok_or_else(malformed)
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn unescape(text: &str) -> Result<String> {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, after) = part.split_once(';').ok_or_else(malformed)?;
        plain.push(character(entity).ok_or_else(malformed)?);
        plain.push_str(after);
    }
    Ok(plain)
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// The answer is not quoted, because it may hold keys.
fn malformed() -> Error {
    unusable("AWS STS answered XML that is not well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read() {
        let document = parse(
            "<?xml version=\"1.0\"?>\n<!-- <x> --><R xmlns=\"https://a.test/>\" b='\"'>\n <s:A>\
             <B>a&amp;b &lt;&#65;&#x42;</B><C/><D><![CDATA[<&>]]></D> </s:A>\n</R >\n",
        )
        .unwrap();
        assert_eq!(document.name, "R");
        assert_eq!(document.text(&["A", "B"]), Some("a&b <AB"));
        assert_eq!(document.text(&["A", "D"]), Some("<&>"));
        assert_eq!(document.text(&["A", "C"]), None);
        assert!(document.at(&["A", "C"]).is_some());
        assert_eq!(document.text(&["A", "E"]), None);
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        let deep = format!("{}{}", "<a>".repeat(40), "</a>".repeat(40));
        for text in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "</a>",
            "<a/><b/>",
            "<a/>text",
            "text<a/>",
            "<a>&unknown;</a>",
            "<a>&amp</a>",
            "<a>&#xD800;</a>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>",
            "<a b=\"></a>",
            "<>",
            "<a><![CDATA[x</a>",
            &deep,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
