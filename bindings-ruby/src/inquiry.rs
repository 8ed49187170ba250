//! `LittleGhost::Native::Inquiry`: a refresh of facts whose requests Ruby sends.

use little_ghost::host::HostInquiry;
use magnus::{Error, RHash, RModule, RString, Ruby, Value, function, method, prelude::*};

use crate::catalog::Job;
use crate::guard::guard;
use crate::value;

#[magnus::wrap(class = "LittleGhost::Native::Inquiry", free_immediately, size)]
struct Inquiry(HostInquiry);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Inquiry", ruby.class_object())?;
    class.define_singleton_method("bedrock_models", function!(Inquiry::bedrock_models, 3))?;
    class.define_method("question", method!(Inquiry::question, 0))?;
    class.define_method("answer", method!(Inquiry::answer, 2))?;
    class.define_method("records", method!(Inquiry::records, 0))
}

impl Inquiry {
    fn bedrock_models(
        ruby: &Ruby,
        connection: String,
        options: RHash,
        target: Option<String>,
    ) -> Result<Self, Error> {
        guard(ruby, || {
            let options = value::object_from_ruby(ruby, options)?;
            let target = target.as_deref();
            Ok(Self(HostInquiry::bedrock_models(
                &connection,
                &options,
                target,
            )?))
        })
    }

    /// A job whose answer is the next request, or nil.
    fn question(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.question()?)))
    }

    fn answer(ruby: &Ruby, rb_self: &Self, status: u16, body: RString) -> Result<(), Error> {
        guard(ruby, || {
            // SAFETY: the bytes are copied before anything can run Ruby code and change them.
            #[allow(unsafe_code)]
            let body = unsafe { body.as_slice() }.to_vec();
            Ok(rb_self.0.answer(status, &body)?)
        })
    }

    fn records(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.records())?))
    }
}
