//! What `bwrap` and the launcher say about a process.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
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
    /// The other end, for `bwrap` to keep: without any reader it would end, and leave a half-made sandbox behind.
    pub(super) status_reader: Option<OwnedFd>,
    pub(super) launcher: Option<OwnedFd>,
}

impl Writers {
    /// For a process that nobody attends to.
    pub(super) fn to_nobody() -> io::Result<Self> {
        let nowhere = || OpenOptions::new().write(true).open("/dev/null");
        Ok(Self {
            status: nowhere()?.into(),
            status_reader: None,
            launcher: Some(nowhere()?.into()),
        })
    }
}

impl Report {
    pub(super) fn new(with_launcher: bool) -> io::Result<(Self, Writers)> {
        let (status, status_writer) = pipe::new()?;
        pipe::set_nonblocking(&status)?;
        let status_reader = status.try_clone()?;
        let mut report = Self {
            status,
            told: Vec::new(),
            launcher: None,
            init: None,
            ended: false,
        };
        let mut writers = Writers {
            status: status_writer,
            status_reader: Some(status_reader),
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

    /// Watches the first process inside.
    fn watch(&mut self, leader: u32) {
        let number = |line: &Value, name: &str| line.get(name).and_then(Value::as_i64);
        let Some(line) = self.lines().find(|line| line.get("child-pid").is_some()) else {
            return;
        };
        let first = number(&line, "child-pid").and_then(|number| i32::try_from(number).ok());
        let Some(pid) = first.and_then(Pid::from_raw) else {
            return;
        };
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let id = pid.as_raw_nonzero().get().unsigned_abs();
        if is_inside(id, number(&line, "pid-namespace"), leader) {
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

/// Whether the process is the one that was meant; by now its number may be another's. An old `bwrap` names no
/// namespace: then it must be a child of `leader`.
fn is_inside(pid: u32, namespace: Option<i64>, leader: u32) -> bool {
    match namespace {
        Some(number) => fs::read_link(format!("/proc/{pid}/ns/pid"))
            .is_ok_and(|link| link.to_str() == Some(&format!("pid:[{number}]"))),
        None => Stat::of(pid).is_some_and(|stat| stat.parent == leader),
    }
}

impl Drop for Report {
    /// Where this process is the one that inherits orphans, as the only one of a container, nobody else would
    /// reap the first process inside. Elsewhere it is not our child, and nothing happens.
    fn drop(&mut self) {
        if let Some(init) = &self.init {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            let _ = waitid(WaitId::PidFd(init.as_fd()), options);
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

    fn end_remains(&self) {
        if let Some(init) = &self.init {
            // It fails when it is gone already.
            let _ = pidfd_send_signal(init, Signal::KILL);
        }
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
