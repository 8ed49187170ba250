//! Code mode: `LittleGhost::Native::ProgramSession`, and functions about catalogs and frames.

use std::os::fd::RawFd;

use little_ghost::code_mode::protocol;
use little_ghost::host::{self, HostFailure, HostProgramSession};
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, function, method, prelude::*};
use serde_json::Value as Json;

use crate::answer::{self, Asking};
use crate::catalog::Job;
use crate::event::Batch;
use crate::guard::guard;
use crate::value;

/// A session of a built-in engine that Ruby uses by itself.
#[magnus::wrap(class = "LittleGhost::Native::ProgramSession", free_immediately, size)]
struct ProgramSession(HostProgramSession);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("ProgramSession", ruby.class_object())?;
    class.define_singleton_method("open", function!(ProgramSession::open, 4))?;
    class.define_method("operate", method!(ProgramSession::operate, 2))?;
    class.define_method("fd", method!(ProgramSession::fd, 0))?;
    class.define_method("drain", method!(ProgramSession::drain, 0))?;
    class.define_method("complete", method!(answer::complete::<ProgramSession>, 2))?;
    class.define_method("fail", method!(answer::fail::<ProgramSession>, 5))?;
    native.define_singleton_method("code_mode_catalog", function!(catalog, 3))?;
    native.define_singleton_method("code_mode_instructions", function!(instructions, 2))?;
    native.define_singleton_method("code_mode_limits", function!(limits, 1))?;
    native.define_singleton_method("code_mode_check", function!(check, 1))?;
    native.define_singleton_method("code_mode_dump", function!(dump, 1))?;
    native.define_singleton_method("code_mode_extract", function!(extract, 1))?;
    native.const_set("MAX_FRAME_BYTES", protocol::MAX_FRAME_BYTES)
}

impl ProgramSession {
    /// Of the engine `engine`, a name or `{name:, interpreter:}`, for the tools of `catalog`.
    fn open(
        ruby: &Ruby,
        engine: Value,
        catalog: Value,
        sandbox: Value,
        limits: RHash,
    ) -> Result<Self, Error> {
        guard(ruby, || {
            let engine = value::from_ruby(ruby, engine)?;
            let catalog = list(value::from_ruby(ruby, catalog)?);
            let sandbox = value::from_ruby(ruby, sandbox)?;
            let limits = value::object_from_ruby(ruby, limits)?;
            Ok(Self(HostProgramSession::open(
                &engine, catalog, sandbox, limits,
            )?))
        })
    }

    /// A job: "execute", "wait", "stop" or "close" with its input.
    fn operate(ruby: &Ruby, rb_self: &Self, operation: String, input: RHash) -> Result<Job, Error> {
        guard(ruby, || {
            let input = Json::Object(value::object_from_ruby(ruby, input)?);
            Ok(Job(rb_self.0.operate(&operation, input)?))
        })
    }

    fn fd(&self) -> RawFd {
        self.0.fd()
    }

    /// Calls that wait, as a run has them.
    fn drain(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        guard(ruby, || Ok(Batch::list(ruby, rb_self.0.drain(), false)?))
    }
}

impl Asking for ProgramSession {
    fn answer(&self, id: u64, answer: Result<Json, HostFailure>) {
        self.0.complete(id, answer);
    }
}

fn list(value: Json) -> Vec<Json> {
    match value {
        Json::Array(list) => list,
        _ => Vec::new(),
    }
}

/// The definitions of a catalog whose tools have these names.
fn catalog(
    ruby: &Ruby,
    specifications: Value,
    names: Vec<String>,
    reserved: Vec<String>,
) -> Result<Value, Error> {
    guard(ruby, || {
        let specifications = list(value::from_ruby(ruby, specifications)?);
        let catalog = host::code_mode_catalog(specifications, names, &reserved)?;
        Ok(value::to_ruby(ruby, &catalog)?)
    })
}

/// `{instructions, names}` of a built-in engine.
fn instructions(ruby: &Ruby, engine: Value, catalog: Value) -> Result<Value, Error> {
    guard(ruby, || {
        let engine = value::from_ruby(ruby, engine)?;
        let catalog = list(value::from_ruby(ruby, catalog)?);
        let written = host::code_mode_instructions(&engine, &catalog)?;
        Ok(value::to_ruby(ruby, &written)?)
    })
}

/// The limits of a built-in engine, with their defaults.
fn limits(ruby: &Ruby, language: String) -> Result<Value, Error> {
    guard(ruby, || {
        let limits = Json::Object(host::code_mode_limits(&language)?);
        Ok(value::to_ruby(ruby, &limits)?)
    })
}

/// Raises for what is wrong with a declaration.
fn check(ruby: &Ruby, declaration: Value) -> Result<(), Error> {
    guard(ruby, || {
        host::code_mode_check(&value::from_ruby(ruby, declaration)?)?;
        Ok(())
    })
}

/// One frame.
fn dump(ruby: &Ruby, value: Value) -> Result<RString, Error> {
    guard(ruby, || {
        let frame = protocol::dump(&value::from_ruby(ruby, value)?)?;
        Ok(ruby.str_from_slice(&frame))
    })
}

/// `[value, bytes]` of the first frame, or nil while bytes are missing.
fn extract(ruby: &Ruby, buffer: RString) -> Result<Option<RArray>, Error> {
    guard(ruby, || {
        // SAFETY: no Ruby code can run while the bytes are read.
        #[allow(unsafe_code)]
        let found = protocol::extract(unsafe { buffer.as_slice() })?;
        let Some((frame, length)) = found else {
            return Ok(None);
        };
        let pair = ruby.ary_new_capa(2);
        pair.push(value::to_ruby(ruby, &frame)?)?;
        pair.push(length)?;
        Ok(Some(pair))
    })
}
