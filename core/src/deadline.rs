//! Absolute ends of work: wall-clock at the API, monotonic inside.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

const A_CENTURY: Duration = Duration::from_secs(3_155_760_000);
const A_YEAR: Duration = Duration::from_secs(31_536_000);

/// An absolute end of work.
///
/// Taken from the wall clock once, then measured by the monotonic clock, so a
/// clock change does not move it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deadline {
    at: SystemTime,
    instant: Instant,
}

impl Deadline {
    /// The deadline at wall-clock time `at`, which may lie in the past.
    #[must_use]
    pub fn at(at: SystemTime) -> Self {
        let now = Instant::now();
        let instant = match at.duration_since(SystemTime::now()) {
            // Far future: a year is beyond every run and safe for every timer.
            Ok(left) => now + left.min(A_YEAR),
            Err(_) => now,
        };
        Self { at, instant }
    }

    /// The deadline `duration` from now. One that no clock can show is as good as none.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        let now = SystemTime::now();
        Self::at(now.checked_add(duration).unwrap_or(now + A_CENTURY))
    }

    /// The deadline at `seconds` since the Unix epoch; `None` when not a finite number.
    #[must_use]
    pub fn from_unix(seconds: f64) -> Option<Self> {
        if !seconds.is_finite() {
            return None;
        }
        let offset = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
        UNIX_EPOCH.checked_add(offset).map(Self::at)
    }

    /// Seconds since the Unix epoch.
    #[must_use]
    pub fn as_unix(&self) -> f64 {
        self.at
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |since| since.as_secs_f64())
    }

    /// The instant `duration` from now, for timers of bounded waits; one that no clock can show is a year away, which is
    /// beyond all of them.
    pub(crate) fn instant_after(duration: Duration) -> Instant {
        let now = Instant::now();
        now.checked_add(duration).unwrap_or(now + A_YEAR)
    }

    /// The earlier of both.
    pub(crate) fn earlier(self, other: Self) -> Self {
        if other.instant < self.instant {
            other
        } else {
            self
        }
    }

    /// Time left; zero once the deadline has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.instant.saturating_duration_since(Instant::now())
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_past(&self) -> bool {
        self.remaining().is_zero()
    }

    pub(crate) fn instant(&self) -> Instant {
        self.instant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_too_long_for_a_timer() {
        let year = Duration::from_secs(300 * 86_400);
        assert!(Deadline::instant_after(Duration::MAX) > Instant::now() + year);
        assert!(Deadline::after(Duration::MAX).remaining() > year);
        let soon = Deadline::instant_after(Duration::from_secs(1));
        assert!(soon <= Instant::now() + Duration::from_secs(1));
    }
}
