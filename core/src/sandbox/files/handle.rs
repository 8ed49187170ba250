//! An open regular file that has one name.

use std::fs::File;
use std::io::{Read, Seek, Write};

use rustix::fs::{Mode, OFlags, ftruncate};

use super::failure::{failed, io, system};
use super::target::Target;
use crate::error::Result;

/// An open regular file that has one name.
pub(super) struct Handle<'a> {
    path: &'a str,
    file: File,
}

impl<'a> Handle<'a> {
    /// Opens it.
    pub(super) fn open(target: &Target<'a>, flags: OFlags) -> Result<Self> {
        let mode = if flags.contains(OFlags::CREATE) {
            Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH
        } else {
            Mode::empty()
        };
        let opened = target.open_file(flags, mode)?;
        opened.require_sole_name(target.path)?;
        Ok(Self {
            path: target.path,
            file: opened.file.into(),
        })
    }

    /// All of it, when that is at most `limit` bytes of UTF-8.
    pub(super) fn text(&mut self, limit: u64) -> Result<String> {
        let mut bytes = Vec::new();
        (&mut self.file)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|problem| io(self.path, &problem))?;
        if bytes.len() as u64 > limit {
            return Err(failed(
                self.path,
                &format!("is larger than the limit of {limit} bytes"),
            ));
        }
        String::from_utf8(bytes).map_err(|_| failed(self.path, "is not valid UTF-8 text"))
    }

    /// Puts `content` in the place of all of it.
    pub(super) fn put(&mut self, content: &[u8]) -> Result<()> {
        ftruncate(&self.file, 0).map_err(|problem| system(self.path, problem))?;
        self.file
            .rewind()
            .and_then(|()| self.file.write_all(content))
            .map_err(|problem| io(self.path, &problem))
    }
}
