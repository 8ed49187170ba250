//! Starts a process that shares nothing with this one but what it is given.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::options::ProcessOptions;
use crate::error::{Error, ErrorKind, Result};

/// Starts the process in a group of its own. The calling thread must live as long as the process should:
/// on Linux the kernel kills the process when the thread ends, unless it ends by itself.
///
/// # Errors
/// [`ErrorKind::Error`] with the code of the system, such as `"ENOENT"`.
pub(super) fn spawn(options: &ProcessOptions) -> Result<Child> {
    let (program, arguments) = options
        .command
        .split_first()
        .ok_or_else(|| Error::new(ErrorKind::Argument, "command: needs a program"))?;
    let mut command = Command::new(program);
    command.args(arguments);
    if !options.inherit_environment {
        command.env_clear();
    }
    let variables = options.environment.iter();
    command.envs(variables.map(|(name, value)| (name, value)));
    if let Some(folder) = &options.chdir {
        command.current_dir(folder);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    prepare(&mut command, Preparation::of(options));
    command.spawn().map_err(|problem| {
        // The system does not say which of the two it did not find.
        if options
            .chdir
            .as_ref()
            .is_some_and(|folder| !folder.is_dir())
        {
            let message =
                format!("cannot start {program:?}: the directory to start in does not exist");
            return Error::new(ErrorKind::Error, message).with_code("ENOENT");
        }
        failure(program, &problem)
    })
}

fn failure(program: &str, problem: &io::Error) -> Error {
    let code = match problem.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::WouldBlock => "EAGAIN",
        _ => "EIO",
    };
    let message = format!("cannot start {program:?}: {problem}");
    Error::new(ErrorKind::Error, message).with_code(code)
}

/// What the new process does to itself before it becomes the program. Everything is computed before the
/// fork: behind it only calls are allowed that take no lock and no memory, since another thread may have
/// held any lock at that moment.
struct Preparation {
    /// Whom to end with, if not by itself.
    #[cfg(target_os = "linux")]
    parent: Option<rustix::process::Pid>,
    cgroup: Option<RawFd>,
    limits: Vec<(Resource, Rlimit)>,
    inherited: Vec<RawFd>,
    highest: RawFd,
}

impl Preparation {
    fn of(options: &ProcessOptions) -> Self {
        let mut limits = vec![(Resource::Core, 0, 0)];
        if !options.limits_are_set_inside {
            // The soft limit of processor time sends a signal that a program may handle; a second later
            // the hard one ends it.
            let seconds = options.cpu_seconds;
            limits.extend(seconds.map(|count| (Resource::Cpu, count, count.saturating_add(1))));
            let bytes = options.file_bytes;
            limits.extend(bytes.map(|count| (Resource::Fsize, count, count)));
        }
        Self {
            #[cfg(target_os = "linux")]
            parent: (!options.ends_by_itself).then(rustix::process::getpid),
            cgroup: options
                .cgroup
                .as_ref()
                .map(|cgroup| cgroup.door().as_raw_fd()),
            limits: limits.into_iter().map(limit).collect(),
            inherited: options.inherited.iter().map(AsRawFd::as_raw_fd).collect(),
            highest: highest_descriptor(),
        }
    }

    /// Runs between fork and exec.
    fn apply(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if self.parent.is_some() {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the line above.
            if getppid() != self.parent {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
        }
        if let Some(door) = self.cgroup {
            join(door)?;
        }
        for (resource, limit) in &self.limits {
            setrlimit(*resource, Rlimit { ..*limit })?;
        }
        usual_signals();
        close_on_exec(3, self.highest);
        for descriptor in &self.inherited {
            set_close_on_exec(*descriptor, false);
        }
        Ok(())
    }
}

/// No higher than the hard limit that already holds.
fn limit((resource, soft, hard): (Resource, u64, u64)) -> (Resource, Rlimit) {
    let present = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(soft.min(present)),
        maximum: Some(hard.min(present)),
    };
    (resource, limit)
}

fn highest_descriptor() -> RawFd {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(65_536);
    RawFd::try_from(limit.min(65_536)).unwrap_or(65_536)
}

#[allow(unsafe_code)]
fn prepare(command: &mut Command, preparation: Preparation) {
    // SAFETY: `apply` makes system calls only; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || preparation.apply());
    }
}

/// Puts this process into the group whose list of members is open as `door`.
#[allow(unsafe_code)]
fn join(door: RawFd) -> io::Result<()> {
    // SAFETY: one byte of a constant, to a descriptor that the parent holds open until the exec.
    match unsafe { libc::write(door, c"0".as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[allow(unsafe_code)]
fn close_on_exec(first: RawFd, highest: RawFd) {
    #[cfg(target_os = "linux")]
    {
        let flags = libc::CLOSE_RANGE_CLOEXEC as libc::c_uint;
        let first = first as libc::c_uint;
        // SAFETY: takes numbers only, and closes nothing yet.
        let result =
            unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
        if result == 0 {
            return;
        }
    }
    for descriptor in first..highest {
        set_close_on_exec(descriptor, true);
    }
}

#[allow(unsafe_code)]
fn set_close_on_exec(descriptor: RawFd, on: bool) {
    let flags = if on { libc::FD_CLOEXEC } else { 0 };
    // SAFETY: takes numbers only; for a descriptor that is not open it fails, which is fine.
    unsafe { libc::fcntl(descriptor, libc::F_SETFD, flags) };
}

/// Has the other threads of this process handle its signals: none is meant for one that only supervises. The
/// program starts with none blocked all the same.
#[allow(unsafe_code)]
pub(super) fn leave_signals_to_others() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call initialises the set that the second reads.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut());
    }
}

/// Programs inherit the mask of the thread that starts them, and could not be asked to end. Where this process does not
/// want to hear of its children, they would not hear of theirs.
#[allow(unsafe_code)]
fn usual_signals() {
    let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call initialises the set that the second reads; both may be called after a fork.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}
