//! What fuzzers feed: every place of the engine that reads bytes it did not write.
//!
//! No part of the API: the feature `fuzzing` is for `tests/fuzz`. A target panics when something that must
//! hold for all bytes does not hold for these.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a target reports what it found"
)]

mod decoding;
mod documents;
mod formats;

use std::hash::{DefaultHasher, Hash, Hasher};

/// One reader of bytes.
#[derive(Clone, Copy)]
pub struct Target {
    name: &'static str,
    reader: Reader,
}

#[derive(Clone, Copy)]
enum Reader {
    /// A stream of frames.
    Stream(&'static formats::Format),
    /// A whole document.
    Document(documents::Read),
}

impl Target {
    /// Every target.
    #[must_use]
    pub fn all() -> Vec<Target> {
        let streams = formats::FORMATS.iter().map(|format| Target {
            name: format.name,
            reader: Reader::Stream(format),
        });
        let documents = documents::DOCUMENTS.iter().map(|(name, read)| Target {
            name,
            reader: Reader::Document(*read),
        });
        streams.chain(documents).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it reads a stream, which arrives in pieces.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.reader, Reader::Stream(_))
    }

    /// Reads `input`. Inputs with the same outcome, roughly, give the same number.
    ///
    /// # Panics
    /// When the outcome is not as it must be.
    #[must_use]
    pub fn check(&self, input: &[u8]) -> u64 {
        let outcome = match self.reader {
            Reader::Stream(format) => decoding::check(format, input),
            Reader::Document(read) => read(input),
        };
        hash(&outcome)
    }

    /// Reads `input` in two pieces, the first of `at` bytes, and in one; for streams.
    ///
    /// # Panics
    /// When the two outcomes differ.
    pub fn check_split(&self, input: &[u8], at: usize) {
        if let Reader::Stream(format) = self.reader {
            decoding::check_split(format, input, at);
        }
    }
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The text of a session file with this content, for a corpus.
#[must_use]
pub fn session_file(snapshot: &crate::Snapshot) -> String {
    let bytes = crate::session::encode(None, snapshot).unwrap();
    String::from_utf8(bytes).unwrap()
}
