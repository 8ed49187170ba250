//! How a process is ended: asked first, then forced, until nothing is left of it.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::Supervisor;
use crate::error::Error;

/// How long a process may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(500);
/// How long to wait for a process that was forced to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How far the end has come.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    No,
    /// It was asked; at this time it is forced.
    Asked(Instant),
    /// It was forced; at this time the supervisor gives up.
    Forced(Instant),
}

impl Supervisor {
    /// Ends the process, and has the owner learn why.
    pub(super) fn fail(&mut self, problem: Error, grace: Duration) {
        self.watch = None;
        self.shared.tell(|state| {
            state.failure.get_or_insert(problem);
        });
        if grace.is_zero() {
            self.force();
        } else {
            self.ask(grace);
        }
    }

    pub(super) fn stop_if_asked(&mut self) {
        let stop = self.shared.lock().stop;
        match (stop, self.ending) {
            (true, Ending::No) if self.may_be_ended() => self.ask(GRACE),
            (_, Ending::Asked(end)) if end <= Instant::now() => self.force(),
            _ => {}
        }
    }

    /// A leader that is ended while it sets things up leaves behind whom it has started by then, and nobody
    /// knows them. So it gets a moment to tell.
    fn may_be_ended(&mut self) -> bool {
        let leader = self.leader.id();
        let ended = self.leader.ended().is_some();
        let Some(companion) = &mut self.companion else {
            return true;
        };
        companion.take_in(leader);
        let since = *self.postponed.get_or_insert_with(Instant::now);
        ended || companion.remains().is_some() || since.elapsed() >= GRACE
    }

    fn ask(&mut self, grace: Duration) {
        if matches!(self.ending, Ending::No) {
            self.leader.signal(Signal::TERM);
            self.ending = Ending::Asked(Instant::now() + grace);
        }
    }

    fn force(&mut self) {
        if !matches!(self.ending, Ending::Forced(_)) {
            self.leader.signal(Signal::KILL);
            self.ending = Ending::Forced(Instant::now() + PATIENCE);
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_over(&mut self) -> bool {
        if let Ending::Forced(end) = self.ending
            && end <= Instant::now()
        {
            self.shared.tell(|state| state.stuck = true);
            return true;
        }
        if !self.look_for_the_end() || !self.remains_are_gone() {
            return false;
        }
        match self.ending {
            // It ended by itself; whom it left behind is the owner's to end.
            Ending::No => self.shared.lock().is_silent() && !self.has_followers(),
            Ending::Asked(_) => !self.has_followers(),
            // The signal reached everybody in the group at once.
            Ending::Forced(_) => true,
        }
    }

    fn remains_are_gone(&mut self) -> bool {
        let leader = self.leader.id();
        let Some(companion) = &mut self.companion else {
            return true;
        };
        companion.take_in(leader);
        let Some(remains) = companion.remains() else {
            return true;
        };
        let mut entry = [PollFd::new(remains, PollFlags::IN)];
        let gone = poll(
            &mut entry,
            Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            }),
        );
        if gone.is_ok_and(|count| count > 0) {
            return true;
        }
        // They would end by themselves now that the leader has, if they came far enough to want that.
        companion.end_remains();
        if matches!(self.ending, Ending::No) {
            self.ending = Ending::Asked(Instant::now() + GRACE);
        }
        false
    }
}
