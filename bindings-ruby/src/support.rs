//! `LittleGhost::Native::Redactor`, `Native::ContentCapture`, and functions of the same kind.

use little_ghost::support::{ContentCapture as Policy, DiagnosticKind, Redactor as Secrets};
use little_ghost::{
    approx_bytes_for_tokens, approx_tokens_from_byte_count, truncate_middle_with_token_budget,
};
use magnus::{Error, RModule, RString, Ruby, Value, function, method, prelude::*};

use crate::guard::guard;
use crate::value;

#[magnus::wrap(class = "LittleGhost::Native::Redactor", free_immediately, size)]
struct Redactor(Secrets);

#[magnus::wrap(class = "LittleGhost::Native::ContentCapture", free_immediately, size)]
struct ContentCapture(Policy);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    native.define_singleton_method("approx_bytes_for_tokens", function!(bytes_for_tokens, 1))?;
    native.define_singleton_method("approx_tokens_from_byte_count", function!(tokens_from, 1))?;
    native.define_singleton_method("truncate_middle", function!(truncate_middle, 2))?;
    native.define_singleton_method("sensitive_key?", function!(is_sensitive_key, 1))?;
    let class = native.define_class("Redactor", ruby.class_object())?;
    class.define_singleton_method("new", function!(Redactor::new, 1))?;
    class.define_method("scrub", method!(Redactor::scrub, 1))?;
    let class = native.define_class("ContentCapture", ruby.class_object())?;
    class.define_singleton_method("new", function!(ContentCapture::new, 2))?;
    class.define_method("redact", method!(ContentCapture::redact, 1))?;
    class.define_method("capture", method!(ContentCapture::capture, 2))
}

fn bytes_for_tokens(tokens: usize) -> usize {
    approx_bytes_for_tokens(tokens)
}

fn tokens_from(bytes: usize) -> usize {
    approx_tokens_from_byte_count(bytes)
}

/// `[text, tokens of the original or nil]`.
fn truncate_middle(
    ruby: &Ruby,
    text: RString,
    tokens: usize,
) -> Result<(String, Option<usize>), Error> {
    guard(ruby, || {
        let text = value::text(ruby, text)?;
        let (cut, original) = truncate_middle_with_token_budget(&text, tokens);
        Ok((cut.into_owned(), original))
    })
}

fn is_sensitive_key(ruby: &Ruby, key: String) -> Result<bool, Error> {
    guard(ruby, || Ok(Secrets::is_sensitive_key(&key)))
}

impl Redactor {
    fn new(ruby: &Ruby, literals: Vec<String>) -> Result<Self, Error> {
        guard(ruby, || Ok(Self(Secrets::new(literals))))
    }

    fn scrub(ruby: &Ruby, rb_self: &Self, text: RString) -> Result<String, Error> {
        guard(ruby, || {
            Ok(rb_self.0.scrub(&value::text(ruby, text)?).into_owned())
        })
    }
}

impl ContentCapture {
    fn new(ruby: &Ruby, max_bytes: Option<usize>, redactions: Vec<String>) -> Result<Self, Error> {
        guard(ruby, || {
            let mut policy = Policy::enabled().with_redactions(redactions);
            if let Some(max_bytes) = max_bytes {
                policy = policy.with_max_bytes(max_bytes)?;
            }
            Ok(Self(policy))
        })
    }

    fn redact(ruby: &Ruby, rb_self: &Self, value: Value) -> Result<Value, Error> {
        guard(ruby, || {
            let redacted = rb_self.0.redact(&value::from_ruby(ruby, value)?);
            Ok(value::to_ruby(ruby, &redacted)?)
        })
    }

    /// The text for a value of `kind`, or nil for a kind that there is not.
    fn capture(
        ruby: &Ruby,
        rb_self: &Self,
        kind: String,
        value: Value,
    ) -> Result<Option<String>, Error> {
        guard(ruby, || {
            let kind = DiagnosticKind::ALL
                .into_iter()
                .find(|candidate| candidate.as_str() == kind);
            let Some(kind) = kind else { return Ok(None) };
            Ok(rb_self.0.capture(kind, &value::from_ruby(ruby, value)?))
        })
    }
}
