//! Remembers what expires, and renews it once for everybody who waits.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::process;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result, Retry};
use crate::executor;

/// The longest that a renewal may take; a program that asks a person may need this long.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long what still works is used before a failed early renewal is tried again, and how long what is new is
/// not renewed again, whoever refuses it.
const PAUSE: Duration = Duration::from_secs(10);

/// How long to wait for the state. Its holder needs nanoseconds, so a longer wait means that the
/// holder was lost in a fork.
const LOCK_PATIENCE: Duration = Duration::from_millis(20);

/// Something that stops working at some time.
pub(super) trait Expiring: Clone + Send + Sync + 'static {
    /// When; `None` when nobody said.
    fn expiry(&self) -> Option<SystemTime>;

    /// Whether it works for at least `margin` after `now`.
    fn outlives(&self, now: SystemTime, margin: Duration) -> bool {
        match (self.expiry(), now.checked_add(margin)) {
            (Some(expiry), Some(needed)) => expiry > needed,
            _ => true,
        }
    }
}

/// Tells the time of day.
pub(super) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The clock of this machine.
pub(super) fn machine_clock() -> Clock {
    Arc::new(SystemTime::now)
}

type Renewed<T> = Option<Result<T>>;

/// One renewal that is under way.
struct Flight<T> {
    /// The process whose thread works on it.
    pid: u32,
    outcome: watch::Receiver<Renewed<T>>,
}

struct State<T> {
    current: Option<T>,
    /// When it came.
    since: Option<Instant>,
    /// Not to be renewed before.
    pause: Option<Instant>,
    flight: Option<Flight<T>>,
}

/// One value that is renewed before it expires.
///
/// A renewal is a task of its own: whoever waits for it may give up without disturbing the
/// others, and it sees no transports of the run that happened to need it first, so secrets never
/// get onto a recording.
pub(super) struct Refresher<T> {
    early: Duration,
    pause: Duration,
    clock: Clock,
    state: Mutex<State<T>>,
}

impl<T: Expiring> Refresher<T> {
    /// For a value that is renewed `early` before it expires by `clock`.
    pub(super) fn new(early: Duration, clock: Clock) -> Arc<Self> {
        Self::with_pause(early, PAUSE, clock)
    }

    /// As [`new`](Self::new), with another pause between renewals.
    pub(super) fn with_pause(early: Duration, pause: Duration, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            early,
            pause,
            clock,
            state: Mutex::new(State {
                current: None,
                since: None,
                pause: None,
                flight: None,
            }),
        })
    }

    /// The value, if need be from `load`. When an early renewal fails, what still works is used.
    ///
    /// # Errors
    /// Those of `load`, for everybody who waited for it; the next caller tries again.
    /// [`ErrorKind::DeadlineExceeded`] for a wait past `deadline`.
    pub(super) async fn get<L, F>(
        self: &Arc<Self>,
        deadline: Option<Deadline>,
        load: L,
    ) -> Result<T>
    where
        L: Fn() -> F,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        loop {
            let mut outcome = match self.begin(&load)? {
                Begun::Known(value) => return Ok(value),
                Begun::Waiting(outcome) => outcome,
            };
            let arrived = outcome.wait_for(Option::is_some);
            let arrived = match deadline {
                None => arrived.await,
                Some(deadline) => timeout(deadline.remaining(), arrived)
                    .await
                    .map_err(|_| Error::deadline_exceeded())?,
            };
            // The task is gone when the tokio runtime of whoever began it was shut down.
            let renewed = arrived.ok().and_then(|outcome| outcome.clone());
            match renewed {
                Some(Ok(value)) => return Ok(value),
                Some(Err(error)) => return self.fallback().ok_or(error),
                None => self.clear(&outcome),
            }
        }
    }

    /// Whether there is a value, or will be one. The one that is there is not used again, unless it is new: then the
    /// refused one was its predecessor, for all who were refused at the same time.
    pub(super) fn forget(&self) -> bool {
        let Some(mut state) = self.lock() else {
            return false;
        };
        let is_new = state
            .since
            .is_some_and(|since| since.elapsed() < self.pause);
        let renewing = state
            .flight
            .as_ref()
            .is_some_and(|flight| flight.pid == process::id());
        let known = state.current.is_some();
        if !is_new {
            state.current = None;
            state.pause = None;
        }
        known || renewing
    }

    /// What is known, or the renewal to wait for, which is begun unless it is under way.
    fn begin<L, F>(self: &Arc<Self>, load: &L) -> Result<Begun<T>>
    where
        L: Fn() -> F,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let (sender, receiver) = watch::channel(None);
        if let Some(mut state) = self.lock() {
            if let Some(current) = &state.current {
                let paused = state.pause.is_some_and(|until| until > Instant::now());
                if self.works(current, self.early)
                    || (paused && self.works(current, Duration::ZERO))
                {
                    return Ok(Begun::Known(current.clone()));
                }
            }
            if let Some(flight) = &state.flight
                && flight.pid == process::id()
            {
                return Ok(Begun::Waiting(flight.outcome.clone()));
            }
            state.flight = Some(Flight {
                pid: process::id(),
                outcome: receiver.clone(),
            });
        }
        let work = load();
        let this = Arc::clone(self);
        executor::spawn(async move {
            let renewed = finished(work).await;
            this.keep(&renewed);
            // Nobody waits any more: that is no failure.
            let _ = sender.send(Some(renewed));
        })
        .inspect_err(|_| self.clear(&receiver))?;
        Ok(Begun::Waiting(receiver))
    }

    fn keep(&self, renewed: &Result<T>) {
        let Some(mut state) = self.lock() else {
            return;
        };
        state.flight = None;
        // What comes with less life than the early renewal asks for is not asked for again at once.
        let in_vain = renewed
            .as_ref()
            .map_or(true, |value| !self.works(value, self.early));
        state.pause = in_vain.then(|| Instant::now() + self.pause);
        if let Ok(value) = renewed {
            state.current = Some(value.clone());
            state.since = Some(Instant::now());
        }
    }

    /// What is known, while it works.
    fn fallback(&self) -> Option<T> {
        let state = self.lock()?;
        let current = state.current.as_ref()?;
        self.works(current, Duration::ZERO).then(|| current.clone())
    }

    fn works(&self, value: &T, margin: Duration) -> bool {
        value.outlives((self.clock)(), margin)
    }

    /// Takes a renewal away that will never end.
    fn clear(&self, outcome: &watch::Receiver<Renewed<T>>) {
        if let Some(mut state) = self.lock()
            && state
                .flight
                .as_ref()
                .is_some_and(|flight| flight.outcome.same_channel(outcome))
        {
            state.flight = None;
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, State<T>>> {
        self.state.try_lock_for(LOCK_PATIENCE)
    }
}

enum Begun<T> {
    Known(T),
    Waiting(watch::Receiver<Renewed<T>>),
}

/// Runs `work` to an end, whatever it does.
async fn finished<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    match timeout(PATIENCE, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(Error::new(
            ErrorKind::Credential,
            "the source of credentials panicked",
        )),
        Err(_) => Err(Error::new(
            ErrorKind::Http,
            format!("no credentials came within {} s", PATIENCE.as_secs()),
        )
        .with_retry(Retry::Backoff)),
    }
}
