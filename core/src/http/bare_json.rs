//! JSON objects that a service writes in the middle of an event stream, without making events of them.

/// Collects the lines of one object, which may be spread over several.
#[derive(Debug, Default)]
pub(super) struct BareJson {
    bytes: Vec<u8>,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl BareJson {
    /// Whether `line` belongs to an object: it begins one, or one has begun. No field of an event
    /// begins so.
    pub(super) fn takes(&self, line: &[u8]) -> bool {
        !self.bytes.is_empty() || line.first() == Some(&b'{')
    }

    /// Takes a line; true when it completes the object.
    pub(super) fn push(&mut self, line: &[u8]) -> bool {
        for byte in line {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' if !self.in_string => self.depth += 1,
                b'}' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.depth == 0
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, which are forgotten.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(self).bytes
    }
}
