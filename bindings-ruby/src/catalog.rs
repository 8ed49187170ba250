//! `LittleGhost::Native::Catalog` and the jobs that fetch what goes into it.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::ErrorKind;
use little_ghost::catalog::{Catalog, MergeStrategy, ModelRecord};
use little_ghost::host::HostJob;
use magnus::{Error, RArray, RHash, RModule, Ruby, Value, function, method, prelude::*};
use serde_json::Value as Json;

use crate::guard::{Failure, guard};
use crate::token::Token;
use crate::value;

/// Facts about models.
#[magnus::wrap(class = "LittleGhost::Native::Catalog", free_immediately, size)]
pub(crate) struct NativeCatalog(pub(crate) Arc<Catalog>);

/// Work of the engine with one answer; wait for its descriptor, then take the answer.
#[magnus::wrap(class = "LittleGhost::Native::Job", free_immediately, size)]
pub(crate) struct Job(pub(crate) HostJob);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Catalog", ruby.class_object())?;
    class.define_singleton_method("new", function!(NativeCatalog::new, 1))?;
    class.define_singleton_method(
        "bundled_snapshot",
        function!(NativeCatalog::bundled_snapshot, 0),
    )?;
    class.define_method("details", method!(NativeCatalog::details, 2))?;
    class.define_method("apply", method!(NativeCatalog::apply, 3))?;
    let job = native.define_class("Job", ruby.class_object())?;
    job.define_singleton_method("models_dev", function!(Job::models_dev, 3))?;
    job.define_singleton_method("own_models", function!(Job::own_models, 4))?;
    job.define_method("fd", method!(Job::fd, 0))?;
    job.define_method("take", method!(Job::take, 0))?;
    job.define_method("outcome", method!(Job::outcome, 0))?;
    job.define_method("within", method!(Job::within, 2))?;
    job.define_method("give_up", method!(Job::give_up, 0))
}

impl NativeCatalog {
    /// Over the text of a snapshot, or nil for the one that is compiled in.
    fn new(ruby: &Ruby, snapshot: Option<String>) -> Result<Self, Error> {
        guard(ruby, || {
            Ok(Self(Arc::new(match snapshot {
                Some(text) => Catalog::from_snapshot(&text)?,
                None => Catalog::new(),
            })))
        })
    }

    fn bundled_snapshot() -> &'static str {
        Catalog::bundled_snapshot()
    }

    /// `{target, provenance, observed_at, ...attributes}`.
    fn details(
        ruby: &Ruby,
        rb_self: &Self,
        target: String,
        adapter: Option<String>,
    ) -> Result<Value, Error> {
        guard(ruby, || {
            let details = rb_self.0.details(&target, adapter.as_deref());
            Ok(value::to_ruby(ruby, &details.to_value())?)
        })
    }

    /// Takes `{target => {attributes}}` of a source over, with `{attribute => "union"}`; the targets.
    fn apply(
        ruby: &Ruby,
        rb_self: &Self,
        source: String,
        records: Value,
        strategies: RHash,
    ) -> Result<Vec<String>, Error> {
        guard(ruby, || {
            let records = ModelRecord::list_from_value(&source, &value::from_ruby(ruby, records)?)?;
            let strategies = merge_strategies(&value::object_from_ruby(ruby, strategies)?)?;
            Ok(rb_self.0.apply(&source, records, &strategies)?)
        })
    }
}

fn merge_strategies(
    map: &serde_json::Map<String, Json>,
) -> Result<Vec<(String, MergeStrategy)>, little_ghost::Error> {
    map.iter()
        .map(|(attribute, name)| {
            let name = name.as_str().unwrap_or_default();
            Ok((
                attribute.clone(),
                MergeStrategy::from_name(attribute, name)?,
            ))
        })
        .collect()
}

impl Job {
    /// With `{connection => adapter}`, the address of a mirror or nil, and a target or nil.
    fn models_dev(
        ruby: &Ruby,
        adapters: RHash,
        base_url: Option<String>,
        target: Option<String>,
    ) -> Result<Self, Error> {
        guard(ruby, || {
            let adapters = value::object_from_ruby(ruby, adapters)?;
            let connections = adapters
                .into_iter()
                .map(|(name, adapter)| (name, adapter.as_str().unwrap_or_default().to_owned()));
            let job = HostJob::models_dev(connections.collect(), base_url.as_deref(), target)?;
            Ok(Self(job))
        })
    }

    fn own_models(
        ruby: &Ruby,
        adapter: String,
        connection: String,
        options: RHash,
        target: Option<String>,
    ) -> Result<Self, Error> {
        guard(ruby, || {
            let options = value::object_from_ruby(ruby, options)?;
            Ok(Self(HostJob::own_models(
                &adapter,
                &connection,
                &options,
                target,
            )?))
        })
    }

    fn fd(&self) -> RawFd {
        self.0.fd()
    }

    /// `[answer, nil]` or `[nil, error]`, once; nil when it is not there.
    fn outcome(ruby: &Ruby, rb_self: &Self) -> Result<Option<RArray>, Error> {
        guard(ruby, || {
            let array = ruby.ary_new_capa(2);
            match rb_self.0.take() {
                None => return Ok(None),
                Some(Ok(answer)) => {
                    array.push(value::to_ruby(ruby, &answer)?)?;
                    array.push(ruby.qnil())?;
                }
                Some(Err(error)) => {
                    array.push(ruby.qnil())?;
                    array.push(value::to_ruby(ruby, &error.to_value())?)?;
                }
            }
            Ok(Some(array))
        })
    }

    /// Ends the work when the token is cancelled, or at that time in Unix seconds.
    fn within(
        ruby: &Ruby,
        rb_self: &Self,
        token: Option<&Token>,
        deadline_at: Option<f64>,
    ) -> Result<(), Error> {
        guard(ruby, || {
            let token = token.map(|token| token.0.clone()).unwrap_or_default();
            Ok(rb_self.0.within(token, deadline_at)?)
        })
    }

    fn give_up(&self) {
        self.0.give_up();
    }

    fn take(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || match rb_self.0.take() {
            Some(answer) => Ok(value::to_ruby(ruby, &answer?)?),
            None => Err(Failure::Engine(little_ghost::Error::new(
                ErrorKind::Error,
                "there is no answer yet, or it was taken",
            ))),
        })
    }
}
