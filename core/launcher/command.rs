//! Finds the command on `PATH` and becomes it.

use crate::arguments::Arguments;
use crate::report::Report;
use crate::system::{self, EACCES, ENOENT, ENOEXEC, ENOTDIR};

const USUAL_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";
const LONGEST_PATH: usize = 4096;

/// Becomes the command whose words begin at `index`.
pub fn run(arguments: &Arguments, index: usize, report: &Report) -> ! {
    let name = arguments.get(index);
    report.starting();
    let problem = if name.is_empty() {
        ENOENT
    } else if name.contains(&b'/') {
        execute(arguments, index, arguments.pointer(index))
    } else {
        search(arguments, index, name)
    };
    let (reason, code): (&[u8], i32) = match problem {
        ENOENT | ENOTDIR => (b"no such command", 127),
        EACCES => (b"permission denied", 126),
        _ => (b"cannot be executed", 126),
    };
    for part in [&b"little-ghost: "[..], name, b": ", reason, b"\n"] {
        system::write(2, part);
    }
    system::exit(code)
}

fn search(arguments: &Arguments, index: usize, name: &[u8]) -> isize {
    let path = arguments.variable(b"PATH=").unwrap_or(USUAL_PATH);
    let mut found = ENOENT;
    for folder in path.split(|byte| *byte == b':') {
        // An empty entry means the working directory, which a sandboxed program may have written.
        if folder.is_empty() || folder.len() + name.len() + 2 > LONGEST_PATH {
            continue;
        }
        let mut candidate = [0_u8; LONGEST_PATH];
        let parts = folder.iter().chain(b"/").chain(name);
        for (place, byte) in candidate.iter_mut().zip(parts) {
            *place = *byte;
        }
        match execute(arguments, index, candidate.as_ptr()) {
            ENOENT | ENOTDIR => {}
            EACCES => found = EACCES,
            other => return other,
        }
    }
    found
}

/// Returns only if it failed.
fn execute(arguments: &Arguments, index: usize, path: *const u8) -> isize {
    let problem = system::execute(path, arguments.from(index), arguments.environment());
    if problem == ENOEXEC {
        // A script without a first line is the shell's, as with execvp. The `--` before the command
        // makes room for the name of the shell.
        let shell = c"/bin/sh".as_ptr().cast();
        arguments.replace(index - 1, shell);
        arguments.replace(index, path);
        return system::execute(shell, arguments.from(index - 1), arguments.environment());
    }
    problem
}
