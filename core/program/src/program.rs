//! One program: its engine, its limits, its life.

use std::cell::Cell;
use std::io;
use std::process;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Function, Object, Promise, Runtime, Value,
    promise::PromiseState,
};
use rustix::time::{ClockId, clock_gettime};

use crate::frame;

/// What a program may use of the language: everything that reaches neither memory nor machine.
type Language = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

const PRELUDE: &str = include_str!("prelude.js");
const STACK_BYTES: usize = 1024 * 1024;
const LABEL: &str = "program.js";

/// Set by the process that starts this one: bytes of memory, and milliseconds of computing.
const MEMORY: &str = "LITTLE_GHOST_MEMORY_BYTES";
const COMPUTING: &str = "LITTLE_GHOST_CPU_MILLISECONDS";

/// Runs the program of the first frame to its end. Fails only when the frames do.
pub fn run() -> io::Result<()> {
    let Some(request) = frame::read()? else {
        return Ok(());
    };
    let runtime = Runtime::new().map_err(io::Error::other)?;
    runtime.set_max_stack_size(STACK_BYTES);
    if let Some(bytes) = limit(MEMORY) {
        runtime.set_memory_limit(bytes as usize);
    }
    let exhausted = Rc::new(Cell::new(false));
    if let Some(milliseconds) = limit(COMPUTING) {
        let most = Duration::from_millis(milliseconds);
        let exhausted = Rc::clone(&exhausted);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            let over = computed() > most;
            exhausted.set(exhausted.get() || over);
            over
        })));
    }
    let context = Context::custom::<Language>(&runtime).map_err(io::Error::other)?;
    let ended =
        context.with(|ctx| Program::begin(&ctx, &request).and_then(|program| program.play(&ctx)));
    match ended {
        Ok(()) => Ok(()),
        Err(Stop::Input(problem)) => Err(problem),
        Err(Stop::Failed(error)) => {
            let error = if exhausted.get() {
                "the program used up its computing time (cpu_seconds)"
            } else {
                &error
            };
            frame::write(&failure(error))
        }
    }
}

fn limit(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What this process computed so far.
fn computed() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Why a program does not go on.
enum Stop {
    /// The frames are broken, or end.
    Input(io::Error),
    /// The program failed.
    Failed(String),
}

struct Program<'js> {
    /// What the prelude made.
    host: Object<'js>,
}

impl<'js> Program<'js> {
    fn begin(ctx: &Ctx<'js>, request: &str) -> Result<Self, Stop> {
        let begun = || {
            let prelude: Function = ctx.eval(PRELUDE)?;
            let send = Function::new(ctx.clone(), |payload: String| {
                if frame::write(&payload).is_err() {
                    process::exit(i32::from(crate::BROKEN));
                }
            })?;
            let leave = Function::new(ctx.clone(), || -> () { process::exit(0) })?;
            prelude.call((request, send, leave))
        };
        let host: rquickjs::Result<Object> = begun();
        match host.catch(ctx) {
            Ok(host) => Ok(Self { host }),
            Err(error) => Err(Stop::Failed(described(error, None))),
        }
    }

    fn play(&self, ctx: &Ctx<'js>) -> Result<(), Stop> {
        let outcome = self.completion(ctx)?;
        let value: Value = outcome
            .get("value")
            .map_err(|error| self.failed(ctx, error))?;
        let value: Promise = self
            .call("value", (value,))
            .map_err(|error| self.failed(ctx, error))?;
        let value: Value = self.await_(ctx, &value)?;
        // As everywhere in JavaScript, a program is over when what it began is over.
        while self.outstanding(ctx)? > 0 {
            self.settle_next(ctx)?;
        }
        self.call("end", (value,))
            .map_err(|error| self.failed(ctx, error))
    }

    /// The outcome of the source. A source that only makes sense inside of a function, because it returns, is one.
    fn completion(&self, ctx: &Ctx<'js>) -> Result<Object<'js>, Stop> {
        let source: String = self
            .host
            .get("source")
            .map_err(|error| self.failed(ctx, error))?;
        let options = || {
            let mut options = EvalOptions::default();
            options.strict = false;
            options.promise = true;
            options.filename = Some(LABEL.to_owned());
            options
        };
        let begun: rquickjs::Result<Promise> = ctx.eval_with_options(source.as_str(), options());
        let promise = match begun.catch(ctx) {
            Ok(promise) => promise,
            Err(error) if is_syntax_error(&error) => {
                let body = format!("await (async () => {{{source}\n}})()");
                let begun: rquickjs::Result<Promise> = ctx.eval_with_options(body, options());
                match begun.catch(ctx) {
                    Ok(promise) => promise,
                    Err(_) => return Err(Stop::Failed(described(error, Some(&self.host)))),
                }
            }
            Err(error) => return Err(Stop::Failed(described(error, Some(&self.host)))),
        };
        self.await_(ctx, &promise)
    }

    /// Runs what can run, and waits for results, until `promise` is settled.
    fn await_<T: rquickjs::FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        promise: &Promise<'js>,
    ) -> Result<T, Stop> {
        loop {
            while ctx.execute_pending_job() {}
            if promise.state() != PromiseState::Pending {
                let settled = promise.result().unwrap_or(Err(rquickjs::Error::Unknown));
                return settled.map_err(|error| self.failed(ctx, error));
            }
            if self.outstanding(ctx)? == 0 {
                let stuck = "the program waits for a promise that nothing will settle";
                return Err(Stop::Failed(stuck.into()));
            }
            self.settle_next(ctx)?;
        }
    }

    fn settle_next(&self, ctx: &Ctx<'js>) -> Result<(), Stop> {
        match frame::read().map_err(Stop::Input)? {
            Some(frame) => self
                .call("settle", (frame,))
                .map_err(|error| self.failed(ctx, error))?,
            None => return Err(Stop::Input(io::ErrorKind::UnexpectedEof.into())),
        }
        while ctx.execute_pending_job() {}
        Ok(())
    }

    fn outstanding(&self, ctx: &Ctx<'js>) -> Result<u32, Stop> {
        self.call("outstanding", ())
            .map_err(|error| self.failed(ctx, error))
    }

    fn call<A: rquickjs::function::IntoArgs<'js>, R: rquickjs::FromJs<'js>>(
        &self,
        name: &str,
        arguments: A,
    ) -> rquickjs::Result<R> {
        let function: Function = self.host.get(name)?;
        function.call(arguments)
    }

    fn failed(&self, ctx: &Ctx<'js>, error: rquickjs::Error) -> Stop {
        Stop::Failed(described(
            CaughtError::from_error(ctx, error),
            Some(&self.host),
        ))
    }
}

fn is_syntax_error(error: &CaughtError) -> bool {
    match error {
        CaughtError::Exception(exception) => {
            let name: Option<String> = exception.get("name").ok();
            name.as_deref() == Some("SyntaxError")
        }
        _ => false,
    }
}

/// What failed, as the model reads it.
fn described<'js>(error: CaughtError<'js>, host: Option<&Object<'js>>) -> String {
    let value = match error {
        CaughtError::Exception(exception) => exception.into_inner().into_value(),
        CaughtError::Value(value) => value,
        CaughtError::Error(error) => return error.to_string(),
    };
    let said = host.and_then(|host| {
        let describe: Function = host.get("describe").ok()?;
        describe.call((value,)).ok()
    });
    said.unwrap_or_else(|| "the program failed, and what it threw cannot be shown".into())
}

/// The last frame of a program that failed, made without the engine, which may be out of memory.
fn failure(error: &str) -> String {
    let mut json = String::from(r#"{"type":"error","error":""#);
    for character in error.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if control < ' ' => json.push_str(&format!("\\u{:04x}", control as u32)),
            other => json.push(other),
        }
    }
    json.push_str("\"}");
    json
}
