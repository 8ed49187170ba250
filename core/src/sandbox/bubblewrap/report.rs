//! What `bwrap` and the launcher say about a process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::ExitStatus;
use crate::sandbox::process::{Companion, Stat, pipe};

/// Reads what `bwrap` tells about the process that holds all others, and whether the launcher came as far as
/// the command.
pub(super) struct Report {
    status: OwnedFd,
    told: Vec<u8>,
    launcher: Option<OwnedFd>,
    /// The process whose end is the end of everything inside.
    init: Option<OwnedFd>,
    /// Nothing more will be told.
    ended: bool,
}

/// The ends of the pipes that `bwrap` and the launcher write to.
pub(super) struct Writers {
    pub(super) status: OwnedFd,
    pub(super) launcher: Option<OwnedFd>,
}

impl Report {
    pub(super) fn new(with_launcher: bool) -> io::Result<(Self, Writers)> {
        let (status, status_writer) = pipe::new()?;
        pipe::set_nonblocking(&status)?;
        let mut report = Self {
            status,
            told: Vec::new(),
            launcher: None,
            init: None,
            ended: false,
        };
        let mut writers = Writers {
            status: status_writer,
            launcher: None,
        };
        if with_launcher {
            let (launcher, writer) = pipe::new()?;
            pipe::set_nonblocking(&launcher)?;
            (report.launcher, writers.launcher) = (Some(launcher), Some(writer));
        }
        Ok((report, writers))
    }

    /// The lines that `bwrap` has written, each an object.
    fn lines(&self) -> impl Iterator<Item = Value> + '_ {
        let lines = self.told.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok())
    }

    /// Watches the first process inside, if it is a child of `leader`: by now its number may be another's.
    fn watch(&mut self, leader: u32) {
        let number = self
            .lines()
            .find_map(|line| line.get("child-pid")?.as_i64());
        let number = number.and_then(|number| i32::try_from(number).ok());
        let Some(pid) = number.and_then(Pid::from_raw) else {
            return;
        };
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let stat = Stat::of(pid.as_raw_nonzero().get().unsigned_abs());
        if stat.is_some_and(|stat| stat.parent == leader) {
            self.init = handle;
        }
    }

    /// Whether the command was reached, or what kept it from that.
    fn reached(&self) -> Result<(), Option<String>> {
        let Some(launcher) = &self.launcher else {
            let ran = self.lines().any(|line| line.get("exit-code").is_some());
            return if ran { Ok(()) } else { Err(None) };
        };
        let mut bytes = [0_u8; 256];
        let count = rustix::io::read(launcher, &mut bytes).unwrap_or(0);
        match bytes.get(..count) {
            Some([b's', ..]) => Ok(()),
            Some([b'f', problem @ ..]) => Err(Some(String::from_utf8_lossy(problem).into_owned())),
            _ => Err(None),
        }
    }
}

impl Companion for Report {
    fn news(&self) -> Option<BorrowedFd<'_>> {
        (!self.ended).then(|| self.status.as_fd())
    }

    fn take_in(&mut self, leader: u32) {
        let mut bytes = [0_u8; 1024];
        while !self.ended {
            match rustix::io::read(&self.status, &mut bytes) {
                Ok(0) => self.ended = true,
                Ok(count) => self.told.extend(bytes.iter().take(count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(_) => self.ended = true,
            }
        }
        if self.init.is_none() {
            self.watch(leader);
        }
    }

    fn remains(&self) -> Option<&OwnedFd> {
        self.init.as_ref()
    }

    fn verdict(&mut self, status: ExitStatus, stderr: &[u8]) -> Result<ExitStatus> {
        self.take_in(status.pid);
        // One that a signal ended was ended on purpose, at whatever point.
        if status.code.is_none() {
            return Ok(status);
        }
        self.reached().map(|()| status).map_err(|problem| {
            let words = String::from_utf8_lossy(stderr);
            let last = words
                .lines()
                .next_back()
                .unwrap_or("it said nothing")
                .to_owned();
            let problem = problem.unwrap_or(last);
            Error::new(
                ErrorKind::SandboxConfiguration,
                format!("the sandbox could not be set up: {problem}"),
            )
        })
    }
}
