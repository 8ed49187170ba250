//! `LittleGhost::Native::Handle`: one run, as the pump drives it.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::host::{HostFailure, HostRun, HostStart, SessionOptions};
use little_ghost::{ErrorKind, Interjection, Invocation, RunResult};
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, function, method, prelude::*};
use parking_lot::RwLock;
use serde_json::{Value as Json, json};

use crate::answer::{self, Asking, failure};
use crate::catalog::Job;
use crate::engine::Engine;
use crate::event::Batch;
use crate::guard::guard;
use crate::module;
use crate::session::SessionStore;
use crate::ticket::Ticket;
use crate::token::Token;
use crate::value;

/// The handle can let go of its run before it is collected, because a run owns a descriptor.
#[magnus::wrap(class = "LittleGhost::Native::Handle", free_immediately, size)]
struct Handle {
    run: RwLock<Option<Arc<HostRun>>>,
}

/// `LittleGhost::Native::Outcome`: a result that outlives its run's handle.
#[magnus::wrap(class = "LittleGhost::Native::Outcome", free_immediately, size)]
struct Outcome(Arc<RunResult>);

impl Outcome {
    fn to_h(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.to_value())?))
    }
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Handle", ruby.class_object())?;
    class.define_singleton_method("new", function!(Handle::new, 3))?;
    class.define_method("start", method!(Handle::start, 1))?;
    class.define_method("use_session", method!(Handle::use_session, 4))?;
    class.define_method(
        "keep_subagents_with",
        method!(Handle::keep_subagents_with, 4),
    )?;
    class.define_method("delegate", method!(Handle::delegate, 3))?;
    class.define_method("emit", method!(Handle::emit, 2))?;
    class.define_method("invoke", method!(Handle::invoke, 2))?;
    class.define_method("settle", method!(Handle::settle, 3))?;
    class.define_method("emit_bytes", method!(Handle::emit_bytes, 2))?;
    class.define_method("interject", method!(Handle::interject, 1))?;
    class.define_method("model_response", method!(Handle::model_response, 0))?;
    class.define_method("fd", method!(Handle::fd, 0))?;
    class.define_method("drain", method!(Handle::drain, 1))?;
    class.define_method("complete", method!(answer::complete::<Handle>, 2))?;
    class.define_method(
        "complete_without_state",
        method!(Handle::complete_without_state, 2),
    )?;
    class.define_method("complete_json", method!(Handle::complete_json, 2))?;
    class.define_method("fail", method!(answer::fail::<Handle>, 5))?;
    class.define_method("fail_http", method!(Handle::fail_http, 7))?;
    class.define_method("register", method!(Handle::register, 1))?;
    class.define_method("register_part", method!(Handle::register_part, 1))?;
    class.define_method(
        "call_tool_of_program",
        method!(Handle::call_tool_of_program, 4),
    )?;
    class.define_method("cancel", method!(Handle::cancel, 0))?;
    class.define_method("interrupt", method!(Handle::interrupt, 0))?;
    class.define_method("interrupt_with", method!(Handle::interrupt_with, 4))?;
    class.define_method("close", method!(Handle::close, 0))?;
    class.define_method("report", method!(Handle::report, 0))?;
    class.define_method("result", method!(Handle::result, 0))?;
    class.define_method("operation_id", method!(Handle::operation_id, 0))?;
    class.define_method("token", method!(Handle::token, 0))?;
    class.define_method("work_token", method!(Handle::work_token, 0))?;
    class.define_method("release", method!(Handle::release, 0))?;
    let outcome = native.define_class("Outcome", ruby.class_object())?;
    outcome.define_method("to_h", method!(Outcome::to_h, 0))
}

impl Asking for Handle {
    fn answer(&self, id: u64, answer: Result<Json, HostFailure>) {
        if let Ok(run) = self.run() {
            run.complete(id, answer);
        }
    }
}

/// Without a store, the host's own is asked.
fn session_options(
    ruby: &Ruby,
    id: String,
    actor_id: Option<String>,
    metadata: RHash,
    store: Option<&SessionStore>,
) -> Result<SessionOptions, Error> {
    Ok(SessionOptions {
        id,
        actor_id,
        metadata: value::object_from_ruby(ruby, metadata)?,
        store: store.map(|store| store.0.shared()),
    })
}

impl Handle {
    fn new(ruby: &Ruby, engine: &Engine, invocation: RHash, token: &Token) -> Result<Self, Error> {
        guard(ruby, || {
            let invocation = Invocation::from_value(&module::object(ruby, invocation)?)?;
            let run = HostRun::new(Arc::clone(&engine.0), invocation, &token.0)?;
            Ok(Self {
                run: RwLock::new(Some(Arc::new(run))),
            })
        })
    }

    /// The run, without holding the lock while it works.
    fn run(&self) -> Result<Arc<HostRun>, little_ghost::Error> {
        self.run
            .read()
            .clone()
            .ok_or_else(|| little_ghost::Error::new(ErrorKind::Error, "the run is over"))
    }

    fn start(ruby: &Ruby, rb_self: &Self, start: RHash) -> Result<(), Error> {
        guard(ruby, || {
            let start = HostStart::from_value(&module::object(ruby, start)?)?;
            Ok(rb_self.run()?.start(&start)?)
        })
    }

    /// See [`session_options`].
    fn use_session(
        ruby: &Ruby,
        rb_self: &Self,
        id: String,
        actor_id: Option<String>,
        metadata: RHash,
        store: Option<&SessionStore>,
    ) -> Result<(), Error> {
        guard(ruby, || {
            let options = session_options(ruby, id, actor_id, metadata, store)?;
            Ok(rb_self.run()?.use_session(options)?)
        })
    }

    /// As `use_session`, for the subagents of a manager that the run serves.
    fn keep_subagents_with(
        ruby: &Ruby,
        rb_self: &Self,
        id: String,
        actor_id: Option<String>,
        metadata: RHash,
        store: Option<&SessionStore>,
    ) -> Result<(), Error> {
        guard(ruby, || {
            let options = session_options(ruby, id, actor_id, metadata, store)?;
            Ok(rb_self.run()?.keep_subagents_with(options)?)
        })
    }

    /// A job that has the manager that the run serves do what its tool `name` does, or `close`.
    fn delegate(
        ruby: &Ruby,
        rb_self: &Self,
        name: String,
        input: RHash,
        parent_operation_id: Option<String>,
    ) -> Result<Job, Error> {
        guard(ruby, || {
            let input = value::object_from_ruby(ruby, input)?;
            let run = rb_self.run()?;
            Ok(Job(run.delegate(&name, input, parent_operation_id)?))
        })
    }

    /// Hands over events of a model call: Hashes of type and data.
    fn emit(ruby: &Ruby, rb_self: &Self, id: u64, events: RArray) -> Result<(), Error> {
        guard(ruby, || {
            let Json::Array(events) = value::from_ruby(ruby, events.as_value())? else {
                return Ok(());
            };
            Ok(rb_self.run()?.emit(id, &events)?)
        })
    }

    /// Hands over bytes of a transport call; whether more are wanted.
    fn emit_bytes(ruby: &Ruby, rb_self: &Self, id: u64, bytes: RString) -> Result<bool, Error> {
        guard(ruby, || {
            // SAFETY: copied at once, while nothing of Ruby can run.
            #[allow(unsafe_code)]
            let bytes = unsafe { bytes.as_slice() }.to_vec();
            Ok(rb_self.run().is_ok_and(|run| run.emit_bytes(id, bytes)))
        })
    }

    /// Prepares an invocation for the body of a workflow, and returns its ticket.
    fn invoke(ruby: &Ruby, rb_self: &Self, scope: u64, call: RHash) -> Result<u64, Error> {
        guard(ruby, || {
            let call = module::object(ruby, call)?;
            Ok(rb_self.run()?.invoke(scope, &call)?)
        })
    }

    /// Makes the calls of these tickets; a `settled` call with the returned number brings what came of them.
    fn settle(
        ruby: &Ruby,
        rb_self: &Self,
        scope: u64,
        tickets: Vec<u64>,
        max_concurrency: usize,
    ) -> Result<u64, Error> {
        guard(ruby, || {
            Ok(rb_self.run()?.settle(scope, &tickets, max_concurrency)?)
        })
    }

    /// Says something to the agent at work; the Ticket gets the answer.
    fn interject(ruby: &Ruby, rb_self: &Self, interjection: RHash) -> Result<Ticket, Error> {
        guard(ruby, || {
            let interjection = Interjection::from_value(&module::object(ruby, interjection)?)?;
            Ok(Ticket::new(rb_self.run()?.interject(interjection)?))
        })
    }

    /// The response of a single model request, or nil.
    fn model_response(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || {
            let response = rb_self.run()?.report().model_response;
            let value = response.map(|response| response.to_value());
            Ok(value::to_ruby(ruby, &value.unwrap_or_default())?)
        })
    }

    fn fd(ruby: &Ruby, rb_self: &Self) -> Result<RawFd, Error> {
        guard(ruby, || Ok(rb_self.run()?.fd()))
    }

    /// Everything that is there; see [`Batch::item`]. Events are left out when nobody wants them.
    fn drain(ruby: &Ruby, rb_self: &Self, events: bool) -> Result<RArray, Error> {
        guard(ruby, || {
            let items = rb_self.run()?.drain()?;
            Ok(Batch::list(ruby, items, events)?)
        })
    }

    /// As `complete`, of a tool that left the run's state as the engine knows it.
    fn complete_without_state(
        ruby: &Ruby,
        rb_self: &Self,
        id: u64,
        answer: Value,
    ) -> Result<(), Error> {
        guard(ruby, || {
            let answer = value::from_ruby(ruby, answer)?;
            if let Ok(run) = rb_self.run() {
                run.complete_without_state(id, answer);
            }
            Ok(())
        })
    }

    fn complete_json(ruby: &Ruby, rb_self: &Self, id: u64, text: String) -> Result<(), Error> {
        guard(ruby, || {
            let answer: Json = serde_json::from_str(&text).map_err(|problem| {
                value::argument_error(ruby, format!("the value is not JSON: {problem}"))
            })?;
            rb_self.answer(id, Ok(answer));
            Ok(())
        })
    }

    /// As `fail`, with the status and the body that the exception reports.
    #[allow(clippy::too_many_arguments)]
    fn fail_http(
        ruby: &Ruby,
        rb_self: &Self,
        id: u64,
        kind: String,
        class: String,
        message: String,
        exception: u64,
        status: Option<u16>,
        body: Option<String>,
    ) -> Result<(), Error> {
        guard(ruby, || {
            let failure = HostFailure {
                status,
                body,
                ..failure(&kind, class, message, exception)
            };
            rb_self.answer(id, Err(failure));
            Ok(())
        })
    }

    /// A job whose answer is `{id, value, error}`; see `docs/bridge.md`.
    fn call_tool_of_program(
        ruby: &Ruby,
        rb_self: &Self,
        broker: u64,
        name: String,
        arguments: Value,
        id: String,
    ) -> Result<Job, Error> {
        guard(ruby, || {
            let arguments = value::from_ruby(ruby, arguments)?;
            let run = rb_self.run()?;
            Ok(Job(run.call_tool_of_program(broker, name, arguments, id)?))
        })
    }

    fn register(ruby: &Ruby, rb_self: &Self, resource: u64) -> Result<(), Error> {
        guard(ruby, || Ok(rb_self.run()?.register(resource)?))
    }

    fn register_part(ruby: &Ruby, rb_self: &Self, scope: u64) -> Result<(), Error> {
        guard(ruby, || Ok(rb_self.run()?.register_part(scope)?))
    }

    fn cancel(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || {
            if let Ok(run) = rb_self.run() {
                run.cancel();
            }
            Ok(())
        })
    }

    fn interrupt(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || {
            rb_self.run()?.interrupt(None);
            Ok(())
        })
    }

    fn interrupt_with(
        ruby: &Ruby,
        rb_self: &Self,
        kind: String,
        class: String,
        message: String,
        exception: u64,
    ) -> Result<(), Error> {
        guard(ruby, || {
            rb_self
                .run()?
                .interrupt(Some(failure(&kind, class, message, exception)));
            Ok(())
        })
    }

    fn close(ruby: &Ruby, rb_self: &Self) -> Result<bool, Error> {
        guard(ruby, || Ok(rb_self.run()?.close()?))
    }

    /// `{outcome, response, usage, cost, error, raise}`, with nil where nothing is known.
    fn report(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || {
            let report = rb_self.run()?.report();
            let report = json!({
                "outcome": report.outcome,
                "response": report.response,
                "usage": report.usage.to_value(),
                "cost": report.cost.map(|cost| cost.to_string()),
                "error": report.error.map(|error| error.to_value()),
                "raise": report.raise.map(|error| error.to_value()),
            });
            Ok(value::to_ruby(ruby, &report)?)
        })
    }

    /// The final result, to be converted when somebody asks for it; or nil.
    fn result(ruby: &Ruby, rb_self: &Self) -> Result<Option<Outcome>, Error> {
        guard(ruby, || Ok(rb_self.run()?.report().result.map(Outcome)))
    }

    fn operation_id(ruby: &Ruby, rb_self: &Self) -> Result<String, Error> {
        guard(ruby, || Ok(rb_self.run()?.operation_id().to_owned()))
    }

    fn token(ruby: &Ruby, rb_self: &Self) -> Result<Token, Error> {
        guard(ruby, || Ok(Token(rb_self.run()?.token())))
    }

    fn work_token(ruby: &Ruby, rb_self: &Self) -> Result<Token, Error> {
        guard(ruby, || Ok(Token(rb_self.run()?.work_token())))
    }

    fn release(&self) {
        drop(self.run.write().take());
    }
}
