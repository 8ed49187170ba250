//! The thread that owns a process: it starts it, moves its bytes, looks at its limits, ends it and reaps it.
//!
//! One thread for each process, because the kernel ties the life of the process to the thread that
//! started it, and because limits hold whether or not anybody polls the session.

mod ending;
mod streams;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ending::Ending;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::cgroup::Cgroup;
use super::companion::Companion;
use super::leader::Leader;
use super::options::ProcessOptions;
use super::pipe;
use super::spawn;
use super::state::Shared;
use super::watch::Watch;
use crate::error::{Error, Result};

/// How long a process may take to end that used too much memory: it may be using more by then.
const SHORT_GRACE: Duration = Duration::from_millis(100);
/// How often to look whether a group has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of output that wait for a reader when there is no bound of all output.
const UNREAD: usize = 1024 * 1024;
const CHUNK: usize = 64 * 1024;

pub(super) struct Supervisor {
    shared: Arc<Shared>,
    leader: Leader,
    input: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    output_bytes: u64,
    watch: Option<Watch>,
    companion: Option<Box<dyn Companion>>,
    /// Dropped at the end, which ends whoever is left in it.
    cgroup: Option<Cgroup>,
    ending: Ending,
    /// Since when an end is wanted that has to wait for the companion.
    postponed: Option<Instant>,
    last_words: Vec<u8>,
    buffer: Vec<u8>,
}

/// What the descriptors of one round stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Wake,
    Leader,
    Input,
    Stdout,
    Stderr,
    News,
    Remains,
}

impl Supervisor {
    /// Starts the process. It must be called on the thread that will [`run`](Self::run).
    pub(super) fn start(shared: Arc<Shared>, mut options: ProcessOptions) -> Result<Self> {
        let watch = match (options.memory_bytes, options.tasks) {
            (None, None) => None,
            (memory, tasks) => {
                let sampler = match options.sampler.take() {
                    Some(sampler) => sampler,
                    None => super::sample::system()?,
                };
                Some(Watch::new(sampler, memory, tasks))
            }
        };
        let mut child = spawn::spawn(&options)?;
        let supervisor = Self {
            shared,
            leader: Leader::new(Pid::from_child(&child)),
            input: child.stdin.take().map(file),
            stdout: child.stdout.take().map(file),
            stderr: child.stderr.take().map(file),
            output_bytes: options.output_bytes,
            watch,
            companion: options.companion.take(),
            cgroup: options.cgroup.take(),
            ending: Ending::No,
            postponed: None,
            last_words: Vec::new(),
            buffer: vec![0; CHUNK],
        };
        let streams = [&supervisor.input, &supervisor.stdout, &supervisor.stderr];
        for stream in streams.into_iter().flatten() {
            pipe::set_nonblocking(stream).map_err(|problem| broken(&problem))?;
        }
        Ok(supervisor)
    }

    pub(super) fn id(&self) -> u32 {
        self.leader.id()
    }

    /// Supervises the process until nothing is left of it.
    pub(super) fn run(mut self) {
        while !self.round() {}
        if self.shared.lock().stuck {
            self.leader.abandon();
        }
        self.leader.reap();
        self.input = None;
        self.stdout = None;
        self.stderr = None;
        self.cgroup = None;
        self.shared.tell(|state| {
            state.stdout.ended = true;
            state.stderr.ended = true;
            state.input.closed = true;
            state.gone = true;
        });
    }

    /// Whether anybody is left in the group. With a companion there is nobody but the leader, and its remains
    /// are known.
    fn has_followers(&self) -> bool {
        self.companion.is_none() && self.leader.has_followers()
    }

    /// Waits for something, and deals with it. True when all is over.
    fn round(&mut self) -> bool {
        let ready = self.wait();
        for source in ready {
            match source {
                Source::Wake => self.shared.settle(),
                Source::Input => self.write(),
                Source::Stdout => self.read(Source::Stdout),
                Source::Stderr => self.read(Source::Stderr),
                Source::News => self.take_in(),
                Source::Leader | Source::Remains => {}
            }
        }
        if self.shared.lock().closed {
            (self.input, self.stdout, self.stderr) = (None, None, None);
            self.shared.tell(|state| {
                state.stdout.ended = true;
                state.stderr.ended = true;
                state.input.closed = true;
            });
        }
        self.write();
        self.look_at_limits();
        self.stop_if_asked();
        self.is_over()
    }

    fn wait(&mut self) -> Vec<Source> {
        let (wants_output, has_input) = {
            let state = self.shared.lock();
            let bounded = self.output_bytes != u64::MAX;
            let unread = state.stdout.unread.len() + state.stderr.unread.len();
            let input = !state.input.waiting.is_empty();
            (bounded || unread < UNREAD, input)
        };
        let ended = self.leader.ended().is_some();
        let mut sources = vec![Source::Wake];
        let mut entries = vec![PollFd::new(self.shared.wake(), PollFlags::IN)];
        let mut add = |source, descriptor, flags| {
            sources.push(source);
            entries.push(PollFd::from_borrowed_fd(descriptor, flags));
        };
        use std::os::fd::AsFd;
        if let Some(handle) = self.leader.handle().filter(|_| !ended) {
            add(Source::Leader, handle.as_fd(), PollFlags::IN);
        }
        if let Some(input) = self.input.as_ref().filter(|_| has_input) {
            add(Source::Input, input.as_fd(), PollFlags::OUT);
        }
        if let Some(stdout) = self.stdout.as_ref().filter(|_| wants_output) {
            add(Source::Stdout, stdout.as_fd(), PollFlags::IN);
        }
        if let Some(stderr) = self.stderr.as_ref().filter(|_| wants_output) {
            add(Source::Stderr, stderr.as_fd(), PollFlags::IN);
        }
        let remains = self.companion.as_ref().and_then(|one| one.remains());
        if let Some(remains) = remains.filter(|_| ended) {
            add(Source::Remains, remains.as_fd(), PollFlags::IN);
        }
        if let Some(news) = self.companion.as_ref().and_then(|one| one.news()) {
            add(Source::News, news, PollFlags::IN);
        }
        let timeout = self
            .patience()
            .and_then(|time| Timespec::try_from(time).ok());
        // A signal that interrupts is only one more round.
        let _ = poll(&mut entries, timeout.as_ref());
        let found = entries.iter().map(|entry| !entry.revents().is_empty());
        sources
            .into_iter()
            .zip(found)
            .filter(|(_, found)| *found)
            .map(|(source, _)| source)
            .collect()
    }

    /// How long nothing needs to be done, if nothing becomes ready.
    fn patience(&self) -> Option<Duration> {
        let ending = match self.ending {
            Ending::No => self.postponed.map(|_| LOOK),
            Ending::Asked(_) | Ending::Forced(_) => Some(LOOK),
        };
        let watch = self.watch.as_ref().map(Watch::patience);
        [ending, watch, self.leader.patience()]
            .into_iter()
            .flatten()
            .min()
    }

    fn take_in(&mut self) {
        let leader = self.leader.id();
        if let Some(companion) = &mut self.companion {
            companion.take_in(leader);
        }
    }

    /// Whether the process has ended. The first time, its owner learns how.
    fn look_for_the_end(&mut self) -> bool {
        if self.shared.lock().exit.is_some() {
            return true;
        }
        let Some(status) = self.leader.ended() else {
            return false;
        };
        self.watch = None;
        // What it wrote last is read before anybody learns that it ended.
        for source in [Source::Stdout, Source::Stderr] {
            self.read(source);
        }
        let words = &self.last_words;
        let group = self.cgroup.as_ref();
        let out_of_memory = group.is_some_and(Cgroup::ran_out_of_memory);
        let verdict = match &mut self.companion {
            Some(companion) => companion.verdict(status, words),
            None => Ok(status),
        };
        self.shared.tell(|state| match verdict {
            Ok(status) => state.exit = Some(status),
            Err(problem) => {
                state.exit = Some(status);
                state.failure.get_or_insert(problem);
            }
        });
        if out_of_memory {
            let problem = "The program was ended because it used more memory than it may.";
            self.shared
                .tell(|state| state.failure.get_or_insert(Error::tool(problem)).clone());
        }
        true
    }

    fn look_at_limits(&mut self) {
        let id = self.leader.id();
        let problem = self.watch.as_mut().and_then(|watch| watch.look(id));
        if let Some(problem) = problem {
            self.fail(problem, SHORT_GRACE);
        }
    }
}

impl Drop for Supervisor {
    /// Only has something to do when it never ran.
    fn drop(&mut self) {
        if self.leader.ended().is_none() {
            self.leader.signal(Signal::KILL);
        }
        self.leader.reap();
    }
}

fn file(stream: impl Into<OwnedFd>) -> File {
    File::from(stream.into())
}

fn broken(problem: &io::Error) -> Error {
    Error::new(
        crate::error::ErrorKind::Error,
        format!("cannot use the pipes of a process: {problem}"),
    )
}
