//! `LittleGhost::Native::Workspace`, `Sandbox` and `ChildProcess`: handles whose operations are jobs.

use little_ghost::host::{self, ProcessHandle, SandboxHandle, WorkspaceHandle};
use std::sync::Arc;

use magnus::rb_sys::FromRawValue;
use magnus::{Error, RArray, RHash, RModule, Ruby, Value, function, method, prelude::*};
use parking_lot::Mutex;

use crate::catalog::Job;
use crate::guard::guard;
use crate::value;

#[magnus::wrap(class = "LittleGhost::Native::Workspace", free_immediately, size)]
pub(crate) struct Workspace(pub(crate) WorkspaceHandle);

#[magnus::wrap(class = "LittleGhost::Native::Sandbox", free_immediately, size)]
struct Sandbox(SandboxHandle);

#[magnus::wrap(class = "LittleGhost::Native::ChildProcess", free_immediately, size)]
struct Process(ProcessHandle);

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let workspace = native.define_class("Workspace", ruby.class_object())?;
    workspace.define_singleton_method("new", function!(Workspace::new, 1))?;
    workspace.define_singleton_method("adopt", function!(Workspace::adopt, 1))?;
    workspace.define_method("id", method!(Workspace::id, 0))?;
    workspace.define_method("info", method!(Workspace::info, 0))?;
    workspace.define_method("resolve", method!(Workspace::resolve, 1))?;
    workspace.define_method("reference", method!(Workspace::reference, 1))?;
    workspace.define_method("validate", method!(Workspace::validate, 0))?;
    workspace.define_method("begin_opening", method!(Workspace::begin_opening, 0))?;
    workspace.define_method("record", method!(Workspace::record, 0))?;
    workspace.define_method("give_up", method!(Workspace::give_up, 0))?;
    workspace.define_method("cut_off", method!(Workspace::cut_off, 0))?;
    workspace.define_method("begin_closing", method!(Workspace::begin_closing, 0))?;
    let sandbox = native.define_class("Sandbox", ruby.class_object())?;
    sandbox.define_singleton_method("build", function!(Sandbox::build, 3))?;
    sandbox.define_singleton_method("probe", function!(probe, 2))?;
    sandbox.define_singleton_method("tools", function!(tools, 0))?;
    sandbox.define_singleton_method("normalize", function!(normalize, 2))?;
    sandbox.define_singleton_method("feature", function!(feature, 1))?;
    sandbox.define_singleton_method("intersect", function!(intersect, 2))?;
    sandbox.define_method("id", method!(Sandbox::id, 0))?;
    sandbox.define_method("info", method!(Sandbox::info, 0))?;
    sandbox.define_method("scope", method!(Sandbox::scope, 1))?;
    sandbox.define_method("allows?", method!(Sandbox::allows, 2))?;
    sandbox.define_method("perform", method!(Sandbox::perform, 1))?;
    sandbox.define_method("wrapper", method!(Sandbox::wrapper, 1))?;
    sandbox.define_method("process", method!(Sandbox::process, 1))?;
    let process = native.define_class("ChildProcess", ruby.class_object())?;
    let starting = native.define_class("Starting", ruby.class_object())?;
    starting.define_method("process", method!(Starting::process, 0))?;
    process.define_singleton_method("start", function!(Process::start, 1))?;
    process.define_singleton_method("status", function!(status, 3))?;
    process.define_method("pid", method!(Process::pid, 0))?;
    process.define_method("perform", method!(Process::perform, 1))
}

impl Workspace {
    /// Of `{root, paths}`.
    fn new(ruby: &Ruby, described: RHash) -> Result<Self, Error> {
        guard(ruby, || {
            let described = value::object_from_ruby(ruby, described)?;
            Ok(Self(WorkspaceHandle::from_map(&described)?))
        })
    }

    /// One that the engine said is `id`.
    fn adopt(ruby: &Ruby, id: u64) -> Result<Self, Error> {
        guard(ruby, || Ok(Self(WorkspaceHandle::adopt(id)?)))
    }

    fn id(&self) -> u64 {
        self.0.id()
    }

    fn info(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.info())?))
    }

    fn resolve(ruby: &Ruby, rb_self: &Self, reference: String) -> Result<String, Error> {
        guard(ruby, || Ok(rb_self.0.resolve(&reference)?))
    }

    fn reference(ruby: &Ruby, rb_self: &Self, physical: String) -> Result<String, Error> {
        guard(ruby, || Ok(rb_self.0.reference(&physical)?))
    }

    fn validate(ruby: &Ruby, rb_self: &Self) -> Result<(), Error> {
        guard(ruby, || Ok(rb_self.0.validate()?))
    }

    fn begin_opening(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.begin_opening()?)))
    }

    fn record(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.record()?)))
    }

    fn give_up(&self) {
        self.0.give_up();
    }

    fn cut_off(&self) {
        self.0.cut_off();
    }

    fn begin_closing(ruby: &Ruby, rb_self: &Self) -> Result<Job, Error> {
        guard(ruby, || Ok(Job(rb_self.0.begin_closing()?)))
    }
}

impl Sandbox {
    fn build(
        ruby: &Ruby,
        provider: String,
        workspace: &Workspace,
        options: RHash,
    ) -> Result<Self, Error> {
        guard(ruby, || {
            let options = value::object_from_ruby(ruby, options)?;
            Ok(Self(SandboxHandle::build(
                &provider,
                &workspace.0,
                &options,
            )?))
        })
    }

    fn id(&self) -> u64 {
        self.0.id()
    }

    fn info(ruby: &Ruby, rb_self: &Self) -> Result<Value, Error> {
        guard(ruby, || Ok(value::to_ruby(ruby, &rb_self.0.info())?))
    }

    fn scope(ruby: &Ruby, rb_self: &Self, options: RHash) -> Result<Self, Error> {
        guard(ruby, || {
            let options = value::object_from_ruby(ruby, options)?;
            Ok(Self(rb_self.0.scope(&options)?))
        })
    }

    fn allows(
        ruby: &Ruby,
        rb_self: &Self,
        operation: String,
        path: Option<String>,
    ) -> Result<bool, Error> {
        guard(ruby, || Ok(rb_self.0.allows(&operation, path.as_deref())))
    }

    fn perform(ruby: &Ruby, rb_self: &Self, operation: RHash) -> Result<Job, Error> {
        guard(ruby, || {
            let operation = value::object_from_ruby(ruby, operation)?;
            Ok(Job(rb_self.0.perform(&operation)?))
        })
    }

    /// The command that contains a program.
    fn wrapper(ruby: &Ruby, rb_self: &Self, program: RHash) -> Result<Vec<String>, Error> {
        guard(ruby, || {
            let program = value::object_from_ruby(ruby, program)?;
            Ok(rb_self.0.wrapper(&program)?)
        })
    }

    fn process(ruby: &Ruby, rb_self: &Self, id: u64) -> Result<Option<Process>, Error> {
        guard(ruby, || Ok(rb_self.0.process(id).map(Process)))
    }
}

/// A process that a job starts.
#[magnus::wrap(class = "LittleGhost::Native::Starting", free_immediately, size)]
struct Starting(Arc<Mutex<Option<ProcessHandle>>>);

impl Starting {
    /// The process once the job has answered.
    fn process(&self) -> Option<Process> {
        self.0.lock().take().map(Process)
    }
}

impl Process {
    /// Starts one without a sandbox: the job and what will have the process.
    fn start(ruby: &Ruby, options: RHash) -> Result<RArray, Error> {
        guard(ruby, || {
            let options = value::object_from_ruby(ruby, options)?;
            let (job, slot) = host::start_process(&options)?;
            let pair = ruby.ary_new_capa(2);
            pair.push(Job(job))?;
            pair.push(Starting(slot))?;
            Ok(pair)
        })
    }

    fn pid(&self) -> u32 {
        self.0.pid()
    }

    fn perform(ruby: &Ruby, rb_self: &Self, operation: RHash) -> Result<Job, Error> {
        guard(ruby, || {
            let operation = value::object_from_ruby(ruby, operation)?;
            Ok(Job(rb_self.0.perform(&operation)?))
        })
    }
}

/// A job that comes to `{available, reason, capabilities}`.
fn probe(ruby: &Ruby, provider: String, options: RHash) -> Result<Job, Error> {
    guard(ruby, || {
        let options = value::object_from_ruby(ruby, options)?;
        Ok(Job(host::probe_sandbox(&provider, &options)?))
    })
}

/// `[{name, description, input_schema}, ...]`
fn tools(ruby: &Ruby) -> Result<Value, Error> {
    guard(ruby, || Ok(value::to_ruby(ruby, &host::sandbox_tools())?))
}

/// The value in its one form.
fn normalize(ruby: &Ruby, kind: String, given: Value) -> Result<Value, Error> {
    guard(ruby, || {
        let given = value::from_ruby(ruby, given)?;
        let normal = host::normalize_sandbox_value(&kind, &given)?;
        Ok(value::to_ruby(ruby, &normal)?)
    })
}

/// The full name of a feature, or nil.
fn feature(name: String) -> Option<&'static str> {
    host::sandbox_feature(&name)
}

fn intersect(ruby: &Ruby, one: Value, other: Value) -> Result<Value, Error> {
    guard(ruby, || {
        let (one, other) = (value::from_ruby(ruby, one)?, value::from_ruby(ruby, other)?);
        let both = host::intersect_capabilities(&one, &other)?;
        Ok(value::to_ruby(ruby, &both)?)
    })
}

/// The `Process::Status` of an end: a code, or else a signal.
fn status(ruby: &Ruby, pid: i32, code: Option<i32>, signal: Option<i32>) -> Result<Value, Error> {
    guard(ruby, || {
        let word = code.map_or(signal.unwrap_or_default(), |code| (code & 0xff) << 8);
        // SAFETY: both functions only set and read `$?` of the current thread, which holds the GVL.
        #[allow(unsafe_code)]
        let status = unsafe {
            rb_sys::rb_last_status_set(word, pid);
            Value::from_raw(rb_sys::rb_last_status_get())
        };
        Ok(status)
    })
}
