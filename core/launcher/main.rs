//! The last step before a program inside a sandbox: limits, Landlock, the relay to a gateway, then
//! `execve`.
//!
//! It runs after the namespaces stand, because Landlock forbids the mounts that they are made of. It
//! has no libc and no heap, so that it starts in no time and needs nothing of the file system that it
//! finds itself in. `build.rs` compiles it; the engine hands its bytes to each sandbox.
//!
//! Arguments, in this order: the number of the report's descriptor; steps; `--`; the command. The
//! report gets `s` right before the command starts, or `f` and what went wrong. It is closed on exec.
//!
//! | step | does |
//! | --- | --- |
//! | `H<descriptor>` | goes on in a child, and ends everything once the process behind this descriptor has ended |
//! | `l<resource>:<soft>:<hard>` | sets a resource limit |
//! | `g<port>:<socket>` | relays 127.0.0.1:port to a Unix socket, in a process of its own |
//! | `I<device>:<inode>:<path>` | fails unless that is what is at the path |
//! | `L<files>:<network>:<scopes>` | makes a Landlock ruleset that handles these bits |
//! | `P<access>:<path>` | grants access below a path; a path that is absent needs no grant |
//! | `N<access>:<port>` | grants access to a TCP port |
//! | `R` | enforces the ruleset |
//!
//! Exit codes: 127 when there is no such command, 126 when it cannot be run, 125 when a step failed.

#![no_std]
#![no_main]

mod arguments;
mod command;
mod first;
mod landlock;
mod memory;
mod relay;
mod report;
mod system;

use arguments::Arguments;
use report::Report;

/// What the kernel left on the stack: the count, the arguments, a null, the environment.
///
/// # Safety
/// `stack` is the stack pointer that the kernel started the process with.
#[unsafe(no_mangle)]
unsafe extern "C" fn launch(stack: *mut *const u8) -> ! {
    // SAFETY: the caller's promise.
    let arguments = unsafe { Arguments::from_stack(stack) };
    let report = Report::new(arguments.number(1));
    system::close_on_exec_from(3);
    let mut ruleset = -1;
    let mut index = 2;
    loop {
        let step = arguments.get(index);
        index += 1;
        match step {
            [b'-', b'-'] => break,
            [b'l', rest @ ..] => limit(rest, &report),
            [b'g', rest @ ..] => relay::start(rest, &report),
            [b'H', rest @ ..] => first::start(rest, &report),
            [b'I', rest @ ..] => identity(rest, &report),
            [b'L', rest @ ..] => ruleset = landlock::create(rest, &report),
            [b'P', rest @ ..] => landlock::grant_path(ruleset, rest, &report),
            [b'N', rest @ ..] => landlock::grant_port(ruleset, rest, &report),
            [b'R'] => landlock::enforce(ruleset, &report),
            _ => report.failed(b"an unknown step", 0),
        }
    }
    command::run(&arguments, index, &report)
}

fn limit(step: &[u8], report: &Report) {
    let mut fields = arguments::numbers(step, 10);
    let (resource, soft, hard) = (fields.next(), fields.next(), fields.next());
    let result = system::set_limit(resource as u32, soft, hard);
    if result < 0 {
        report.failed(b"a resource limit", result);
    }
}

/// The engine looked at the path before it was mounted; by then another directory may have been there.
fn identity(step: &[u8], report: &Report) {
    let mut fields = arguments::numbers(step, 10);
    let expected = [fields.next(), fields.next()];
    if system::identity(fields.rest().as_ptr()) != Ok(expected) {
        report.failed(b"a granted directory was replaced; looking at it", 0);
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    system::exit(125)
}
