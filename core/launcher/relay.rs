//! Carries connections from a TCP port of the sandbox to the Unix socket of a gateway.

use core::ptr::addr_of_mut;

use crate::arguments::numbers;
use crate::report::Report;
use crate::system::{self, EAGAIN, EINTR, Poll, READABLE, WRITABLE};

const AF_UNIX: usize = 1;
const AF_INET: usize = 2;
const LINKS: usize = 128;
const BUFFER: usize = 16 * 1024;
const LONGEST_SOCKET: usize = 107;

/// Bytes on their way in one direction.
struct Lane {
    bytes: [u8; BUFFER],
    start: usize,
    end: usize,
    /// The source said that no more follow.
    ended: bool,
    /// The destination has been told so.
    told: bool,
}

/// One connection and its other half.
struct Link {
    /// All zeros means free, so that the table takes no room in the executable.
    open: bool,
    client: i32,
    gateway: i32,
    up: Lane,
    down: Lane,
}

static mut TABLE: [Link; LINKS] = [const { Link::free() }; LINKS];

/// Listens, and leaves a process behind that carries what comes.
pub fn start(step: &[u8], report: &Report) {
    let mut fields = numbers(step, 10);
    let port = (fields.next() as u16).to_be_bytes();
    let path = fields.rest();
    if path.len() > LONGEST_SOCKET {
        report.failed(b"the path of the gateway's socket", 0);
    }
    let listener = system::socket(AF_INET, true);
    if listener < 0 {
        report.failed(b"a socket for the gateway", listener);
    }
    let mut address = [0_u8; 16];
    address[..8].copy_from_slice(&[2, 0, port[0], port[1], 127, 0, 0, 1]);
    let result = system::listen(listener as i32, &address);
    if result < 0 {
        report.failed(b"listening for the gateway", result);
    }
    match system::fork() {
        0 => {
            // The program's streams are not the relay's: it would keep them open.
            for descriptor in 0..3 {
                system::close(descriptor);
            }
            carry(listener as i32, path)
        }
        child if child < 0 => report.failed(b"starting the relay", child),
        _ => system::close(listener as i32),
    }
}

fn carry(listener: i32, path: &[u8]) -> ! {
    // SAFETY: this process has one thread, and this is the only reference.
    let links = unsafe { &mut *addr_of_mut!(TABLE) };
    let mut entries = [Poll {
        descriptor: -1,
        events: 0,
        found: 0,
    }; 1 + 2 * LINKS];
    loop {
        let room = links.iter().any(|link| !link.open);
        entries[0] = Poll {
            descriptor: listener,
            events: if room { READABLE } else { 0 },
            found: 0,
        };
        for (link, pair) in links.iter().zip(entries[1..].chunks_exact_mut(2)) {
            pair[0] = link.interest(link.client, &link.up, &link.down);
            pair[1] = link.interest(link.gateway, &link.down, &link.up);
        }
        if system::poll(&mut entries) < 0 {
            continue;
        }
        for (link, pair) in links.iter_mut().zip(entries[1..].chunks_exact(2)) {
            if link.open && (pair[0].found | pair[1].found) != 0 {
                link.advance();
            }
        }
        if entries[0].found & READABLE != 0 {
            accept(listener, path, links);
        }
    }
}

fn accept(listener: i32, path: &[u8], links: &mut [Link]) {
    let Some(link) = links.iter_mut().find(|link| !link.open) else {
        return;
    };
    let client = system::accept(listener);
    if client < 0 {
        return;
    }
    let gateway = system::socket(AF_UNIX, false);
    let mut address = [0_u8; 2 + LONGEST_SOCKET + 1];
    address[0] = AF_UNIX as u8;
    address[2..2 + path.len()].copy_from_slice(path);
    if gateway < 0 || system::connect(gateway as i32, &address[..3 + path.len()]) < 0 {
        system::close(client as i32);
        if gateway >= 0 {
            system::close(gateway as i32);
        }
        return;
    }
    system::set_nonblocking(gateway as i32);
    link.open = true;
    link.client = client as i32;
    link.gateway = gateway as i32;
    link.up.clear();
    link.down.clear();
}

impl Link {
    const fn free() -> Self {
        Self {
            open: false,
            client: 0,
            gateway: 0,
            up: Lane::new(),
            down: Lane::new(),
        }
    }

    /// What to wait for at `descriptor`, which `from` reads and `to` writes.
    fn interest(&self, descriptor: i32, from: &Lane, to: &Lane) -> Poll {
        let mut events = 0;
        if self.open && !from.ended && from.start == from.end {
            events |= READABLE;
        }
        if self.open && to.start < to.end {
            events |= WRITABLE;
        }
        // An entry without interest would still wake for a hang-up, again and again.
        let descriptor = if events == 0 { -1 } else { descriptor };
        Poll {
            descriptor,
            events,
            found: 0,
        }
    }

    /// Moves what can be moved, and closes both ends when nothing is left to move.
    fn advance(&mut self) {
        self.up.advance(self.client, self.gateway);
        self.down.advance(self.gateway, self.client);
        if self.up.told && self.down.told {
            system::close(self.client);
            system::close(self.gateway);
            self.open = false;
        }
    }
}

impl Lane {
    const fn new() -> Self {
        Self {
            bytes: [0; BUFFER],
            start: 0,
            end: 0,
            ended: false,
            told: false,
        }
    }

    fn clear(&mut self) {
        (self.start, self.end, self.ended, self.told) = (0, 0, false, false);
    }

    /// An end that is broken ends this lane only: the other may still carry an answer that came before.
    fn advance(&mut self, from: i32, to: i32) {
        if self.start == self.end && !self.ended {
            match system::read(from, &mut self.bytes) {
                count if count > 0 => (self.start, self.end) = (0, count as usize),
                problem if problem == -EAGAIN || problem == -EINTR => {}
                _ => self.ended = true,
            }
        }
        while self.start < self.end {
            match system::send(to, &self.bytes[self.start..self.end]) {
                count if count > 0 => self.start += count as usize,
                problem if problem == -EAGAIN || problem == -EINTR => return,
                _ => {
                    self.start = self.end;
                    self.ended = true;
                }
            }
        }
        if self.ended && !self.told {
            system::finish_writing(to);
            self.told = true;
        }
    }
}
