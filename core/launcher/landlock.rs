//! The second wall: Landlock, which counts what the engine says.

use crate::arguments::numbers;
use crate::report::Report;
use crate::system::{self, EINVAL, ENOENT, ENOTDIR, Landlock};

/// The rights that mean something for what is not a folder.
const FILE_RIGHTS: u64 = 0b1100_0000_0000_0111;

pub fn create(step: &[u8], report: &Report) -> i32 {
    let mut fields = numbers(step, 16);
    let attributes = Landlock {
        files: fields.next(),
        network: fields.next(),
        scopes: fields.next(),
    };
    let ruleset = system::landlock_create(&attributes);
    if ruleset < 0 {
        report.failed(b"a Landlock ruleset", ruleset);
    }
    ruleset as i32
}

pub fn grant_path(ruleset: i32, step: &[u8], report: &Report) {
    let mut fields = numbers(step, 16);
    let access = fields.next();
    let place = system::open_path(fields.rest().as_ptr());
    if place == -ENOENT || place == -ENOTDIR {
        return;
    }
    if place < 0 {
        report.failed(b"opening a granted path", place);
    }
    let mut result = system::landlock_path(ruleset, access, place as i32);
    if result == -EINVAL {
        result = system::landlock_path(ruleset, access & FILE_RIGHTS, place as i32);
    }
    if result < 0 {
        report.failed(b"a Landlock path rule", result);
    }
    system::close(place as i32);
}

pub fn grant_port(ruleset: i32, step: &[u8], report: &Report) {
    let mut fields = numbers(step, 16);
    let access = fields.next();
    let result = system::landlock_port(ruleset, access, numbers(fields.rest(), 10).next());
    if result < 0 {
        report.failed(b"a Landlock port rule", result);
    }
}

pub fn enforce(ruleset: i32, report: &Report) {
    let result = system::landlock_enforce(ruleset);
    if result < 0 {
        report.failed(b"enforcing Landlock", result);
    }
    system::close(ruleset);
}
