//! The first process inside, with which everything ends.

use crate::arguments::numbers;
use crate::report::Report;
use crate::system::{self, Poll, READABLE};

/// Goes on in a child, and leaves this process behind to attend to it. Both end at once if the host has ended already:
/// whatever ends `bwrap` by then, nobody else would notice.
pub fn start(step: &[u8], report: &Report) {
    let host = numbers(step, 10).next() as i32;
    if system::is_readable(host) {
        system::exit(125);
    }
    let children = system::watch_children();
    if children < 0 {
        report.failed(b"watching the program", children);
    }
    match system::fork() {
        0 => {
            system::unblock_signals();
            system::close(children as i32);
            system::close(host);
        }
        child if child < 0 => report.failed(b"starting the program", child),
        child => attend(host, children as i32, child),
    }
}

/// Ends as the program does, or with the host. Orphans are reaped meanwhile.
fn attend(host: i32, children: i32, program: isize) -> ! {
    system::end_with_parent();
    system::keep_only([host, children]);
    let entry = |descriptor| Poll {
        descriptor,
        events: READABLE,
        found: 0,
    };
    loop {
        let mut entries = [entry(0), entry(1)];
        if system::poll(&mut entries) < 0 {
            continue;
        }
        if entries[0].found != 0 {
            system::exit(125);
        }
        let mut news = [0_u8; 128];
        while system::read(1, &mut news) > 0 {}
        while let Some((child, status)) = system::next_ended() {
            if child == program {
                system::exit(code(status));
            }
        }
    }
}

/// As shells say it: a signal counts from 128 on.
fn code(status: i32) -> i32 {
    match status & 0x7f {
        0 => (status >> 8) & 0xff,
        signal => 128 + signal,
    }
}
