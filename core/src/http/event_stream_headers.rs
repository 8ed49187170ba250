//! Headers of a frame of an AWS event stream.

/// The headers that say what a frame is; empty when they are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Headers<'a> {
    /// `:message-type`: `event`, `exception` or `error`.
    pub(super) kind: &'a str,
    pub(super) event_type: &'a str,
    pub(super) exception_type: &'a str,
    pub(super) error_code: &'a str,
    pub(super) error_message: &'a str,
}

/// Reads a block of headers: a name with its length in one byte, the type of the value, the value.
///
/// # Errors
/// What is wrong with a header, to be put after "a header that".
pub(super) fn read_headers(mut block: &[u8]) -> Result<Headers<'_>, String> {
    let mut headers = Headers::default();
    while let Some((length, rest)) = block.split_first() {
        let (name, rest) = split(rest, usize::from(*length)).ok_or("is cut in its name")?;
        let name = str::from_utf8(name).map_err(|_| "has a name that is not UTF-8")?;
        let (kind, rest) = rest.split_first().ok_or("has no value")?;
        let (value, rest) =
            value(*kind, rest).map_err(|problem| format!("{problem} ({name:?})"))?;
        let slot = match name {
            ":message-type" => &mut headers.kind,
            ":event-type" => &mut headers.event_type,
            ":exception-type" => &mut headers.exception_type,
            ":error-code" => &mut headers.error_code,
            ":error-message" => &mut headers.error_message,
            _ => {
                block = rest;
                continue;
            }
        };
        let text = value.ok_or_else(|| format!("should be a text ({name:?})"))?;
        *slot = str::from_utf8(text).map_err(|_| format!("is not UTF-8 ({name:?})"))?;
        block = rest;
    }
    // Some services leave out which kind it is when another header already says so.
    if headers.kind.is_empty() && !headers.exception_type.is_empty() {
        headers.kind = "exception";
    }
    Ok(headers)
}

type Parsed<'a> = (Option<&'a [u8]>, &'a [u8]);

/// The value of type `kind` at the front of `bytes`, if it is a text, and what follows it.
fn value(kind: u8, bytes: &[u8]) -> Result<Parsed<'_>, String> {
    let cut = || "is cut in its value".to_owned();
    let fixed = match kind {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        9 => 16,
        6 | 7 => {
            let (length, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (value, rest) = split(rest, length).ok_or_else(cut)?;
            return Ok(((kind == 7).then_some(value), rest));
        }
        unknown => return Err(format!("has a value of the unknown type {unknown}")),
    };
    let (_, rest) = split(bytes, fixed).ok_or_else(cut)?;
    Ok((None, rest))
}

fn split(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, kind: u8, value: &[u8]) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(name.len()).unwrap()];
        bytes.extend(name.as_bytes());
        bytes.push(kind);
        bytes.extend(value);
        bytes
    }

    fn text(name: &str, value: &str) -> Vec<u8> {
        let length = u16::try_from(value.len()).unwrap().to_be_bytes();
        header(name, 7, &[&length, value.as_bytes()].concat())
    }

    #[test]
    fn values_of_every_type_are_passed_over() {
        let block = [
            header("true", 0, b""),
            header("false", 1, b""),
            header("byte", 2, &[1]),
            header("short", 3, &[1; 2]),
            header("integer", 4, &[1; 4]),
            header("long", 5, &[1; 8]),
            header("bytes", 6, &[0, 3, 7, 7, 7]),
            header("time", 8, &[1; 8]),
            header("uuid", 9, &[1; 16]),
            text(":message-type", "event"),
            text("", ""),
            text(":event-type", "messageStart"),
        ]
        .concat();
        let headers = read_headers(&block).unwrap();
        assert_eq!(
            (headers.kind, headers.event_type),
            ("event", "messageStart")
        );
    }

    #[test]
    fn an_exception_need_not_say_that_it_is_one() {
        let block = text(":exception-type", "throttlingException");
        assert_eq!(read_headers(&block).unwrap().kind, "exception");
    }

    #[test]
    fn every_cut_and_every_oddity_is_an_error() {
        let block = text(":event-type", "messageStart");
        for end in 1..block.len() {
            let problem = read_headers(&block[..end]).unwrap_err();
            assert!(
                problem.contains("cut") || problem.contains("no value"),
                "{problem}"
            );
        }
        for (block, expected) in [
            (header("x", 10, b""), "unknown type 10"),
            (header(":event-type", 0, b""), "should be a text"),
            (header(":event-type", 7, &[0, 1, 0xff]), "not UTF-8"),
            (vec![1, 0xff, 0], "name that is not UTF-8"),
        ] {
            let problem = read_headers(&block).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
