//! The process itself, and the group that it leads.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::super::ExitStatus;

/// A child of this process that leads a group. Only this child is ever waited for, so that the host's own
/// children stay its own.
pub(super) struct Leader {
    pid: Pid,
    /// Readable once it ended; `None` where the system has no such thing.
    handle: Option<OwnedFd>,
    /// How it ended. It stays a zombie afterwards, so that its number still means this group.
    ended: Option<ExitStatus>,
    reaped: bool,
}

/// How often to look for the end where nothing tells it.
const LOOK: Duration = Duration::from_millis(10);

impl Leader {
    pub(super) fn new(pid: Pid) -> Self {
        #[cfg(target_os = "linux")]
        let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        let handle = None;
        Self {
            pid,
            handle,
            ended: None,
            reaped: false,
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// What becomes readable at its end.
    pub(super) fn handle(&self) -> Option<&OwnedFd> {
        self.handle.as_ref()
    }

    /// The longest time to wait before the next look, when nothing becomes readable.
    pub(super) fn patience(&self) -> Option<Duration> {
        (self.handle.is_none() && self.ended.is_none()).then_some(LOOK)
    }

    /// How it ended, if it did.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            self.ended = match waitid(WaitId::Pid(self.pid), options) {
                Ok(Some(status)) => Some(self.status(&status)),
                Ok(None) => None,
                // Somebody else waited for it, or the host has its children reaped by the system.
                Err(rustix::io::Errno::CHILD) => {
                    self.reaped = true;
                    Some(ExitStatus {
                        pid: self.id(),
                        code: None,
                        signal: None,
                    })
                }
                Err(_) => None,
            };
        }
        self.ended
    }

    fn status(&self, status: &WaitIdStatus) -> ExitStatus {
        ExitStatus {
            pid: self.id(),
            code: status.exit_status(),
            signal: status.terminating_signal(),
        }
    }

    /// Sends a signal to all of the group. After [`reap`](Self::reap) the number may be another group's.
    pub(super) fn signal(&self, signal: Signal) {
        if !self.reaped {
            // It fails when nobody is left.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Whether anybody of the group still runs. Only meaningful once the leader ended.
    pub(super) fn has_followers(&self) -> bool {
        has_members(self.id(), self.reaped)
    }

    /// Neither signals nor reaps it any more.
    pub(super) fn abandon(&mut self) {
        self.reaped = true;
    }

    /// Lets the system forget it. One that was forced to end is waited for.
    pub(super) fn reap(&mut self) {
        if !self.reaped {
            self.reaped = true;
            let _ = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
        }
    }
}

/// Whether anybody of the group `group` runs. A zombie does not.
#[cfg(target_os = "linux")]
pub(super) fn has_members(group: u32, _reaped: bool) -> bool {
    use super::sample::stat::Stat;
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return false;
    };
    entries.flatten().any(|entry| {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let stat = pid.and_then(Stat::of);
        stat.is_some_and(|stat| stat.group == group && !stat.is_gone())
    })
}

/// Whether anybody of the group `group` runs. Where there is no `/proc`, the zombie of the leader counts
/// until it is reaped.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_members(group: u32, reaped: bool) -> bool {
    let id = i32::try_from(group).ok().and_then(Pid::from_raw);
    reaped && id.is_some_and(|id| rustix::process::test_kill_process_group(id).is_ok())
}
