//! When a failed request is tried again.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::deadline::Deadline;
use crate::error::{Error, Result, Retry};

/// How often and how patiently a request is tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RetryPolicy {
    /// Retries after the first attempt.
    pub(crate) max_retries: u32,
    /// The longest pause before one retry.
    pub(crate) max_retry_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 2,
            max_retry_delay: Duration::from_secs(16),
        }
    }
}

impl RetryPolicy {
    /// The pause before retry number `attempt`, counted from one.
    ///
    /// A pause that the provider asked for is kept exactly. Otherwise it is
    /// `min(2^(attempt-1), max_retry_delay)` seconds times a random factor from 0.5 to 1, so
    /// that many clients which failed together do not come back together.
    ///
    /// # Errors
    /// The error to raise instead of retrying: `error` itself, or `error` with the reason why a
    /// pause would be in vain added to its message.
    pub(crate) fn pause(
        &self,
        error: &Error,
        attempt: u32,
        deadline: Option<Deadline>,
    ) -> Result<Duration> {
        if attempt > self.max_retries {
            return Err(error.clone());
        }
        let delay = match error.retry() {
            Retry::Never => return Err(error.clone()),
            Retry::After(delay) if delay > self.max_retry_delay => {
                return Err(explain(
                    error,
                    format!(
                        "the provider asks to wait {} s, longer than the limit of {} s \
                         (max_retry_delay)",
                        seconds(delay),
                        seconds(self.max_retry_delay)
                    ),
                ));
            }
            Retry::After(delay) => delay,
            Retry::Backoff => self.backoff(attempt),
        };
        match deadline.map(|deadline| deadline.remaining()) {
            Some(left) if delay >= left => Err(explain(
                error,
                format!(
                    "not tried again, because the next attempt in {} s would come after the \
                     deadline",
                    seconds(delay)
                ),
            )),
            _ => Ok(delay),
        }
    }

    fn backoff(&self, attempt: u32) -> Duration {
        let full = Duration::from_secs(1_u64 << (attempt - 1).min(31)).min(self.max_retry_delay);
        full.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

fn explain(error: &Error, reason: String) -> Error {
    let message = format!("{}; {reason}", error.message().trim_end_matches('.'));
    error.clone().with_message(message)
}

fn seconds(duration: Duration) -> String {
    let rounded = (duration.as_secs_f64() * 10.0).round() / 10.0;
    rounded.to_string()
}

/// Whether a request that got this answer may be tried again, and when.
pub(crate) fn for_status(status: u16, headers: &HeaderMap) -> Retry {
    // OpenAI and Anthropic may know better than their statuses.
    let told = headers
        .get("x-should-retry")
        .and_then(|value| value.to_str().ok());
    match (told, status) {
        (Some("false"), _) => Retry::Never,
        (Some("true"), _) | (_, 408 | 409 | 429 | 500..) => {
            retry_after(headers, SystemTime::now()).map_or(Retry::Backoff, Retry::After)
        }
        _ => Retry::Never,
    }
}

/// The pause that `Retry-After` or `retry-after-ms` asks for; `None` for none or nonsense.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let number = |text: &str, unit: f64| {
        let value: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(value * unit).ok()
    };
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(pause) = text("retry-after-ms").and_then(|text| number(text, 0.001)) {
        return Some(pause);
    }
    let value = text(RETRY_AFTER.as_str())?;
    number(value, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(value).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn failure(retry: Retry) -> Error {
        Error::new(ErrorKind::Http, "HTTP 429.").with_retry(retry)
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let now = SystemTime::now();
        for (pairs, expected) in [
            (vec![("retry-after", "2")], Some(2.0)),
            (vec![("retry-after", " 1.5 ")], Some(1.5)),
            (vec![("retry-after", "0")], Some(0.0)),
            (
                vec![("retry-after", "9"), ("retry-after-ms", "250")],
                Some(0.25),
            ),
            (
                vec![("retry-after", "9"), ("retry-after-ms", "soon")],
                Some(9.0),
            ),
            (
                vec![("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT")],
                Some(0.0),
            ),
            (vec![("retry-after", "-3")], None),
            (vec![("retry-after", "NaN")], None),
            (vec![("retry-after", "inf")], None),
            (vec![("retry-after", "1e300")], None),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "")], None),
            (vec![], None),
        ] {
            let pause = retry_after(&headers(&pairs), now).map(|pause| pause.as_secs_f64());
            assert_eq!(pause, expected, "{pairs:?}");
        }
        let later = now + Duration::from_secs(40);
        let date = headers(&[("retry-after", &httpdate::fmt_http_date(later))]);
        let pause = retry_after(&date, now).unwrap().as_secs_f64();
        assert!((38.0..=40.0).contains(&pause), "{pause}");
    }

    #[test]
    fn statuses_are_classified() {
        let asks = headers(&[("retry-after", "2")]);
        for status in [408, 409, 429, 500, 502, 503, 529, 599] {
            assert_eq!(for_status(status, &HeaderMap::new()), Retry::Backoff);
            assert_eq!(
                for_status(status, &asks),
                Retry::After(Duration::from_secs(2))
            );
        }
        for status in [301, 400, 401, 403, 404, 413, 422] {
            assert_eq!(for_status(status, &asks), Retry::Never);
        }
        let never = headers(&[("x-should-retry", "false"), ("retry-after", "2")]);
        assert_eq!(for_status(529, &never), Retry::Never);
        let again = headers(&[("x-should-retry", "true")]);
        assert_eq!(for_status(400, &again), Retry::Backoff);
    }

    #[test]
    fn backoff_doubles_up_to_the_cap_and_is_jittered() {
        let policy = RetryPolicy {
            max_retries: 100,
            max_retry_delay: Duration::from_secs(3),
        };
        for (attempt, full) in [(1, 1.0), (2, 2.0), (3, 3.0), (50, 3.0)] {
            for _ in 0..50 {
                let pause = policy
                    .pause(&failure(Retry::Backoff), attempt, None)
                    .unwrap()
                    .as_secs_f64();
                assert!((full / 2.0..=full).contains(&pause), "{attempt}: {pause}");
            }
        }
    }

    #[test]
    fn a_requested_pause_is_exact() {
        let asked = Duration::from_millis(2_345);
        let pause = RetryPolicy::default()
            .pause(&failure(Retry::After(asked)), 1, None)
            .unwrap();
        assert_eq!(pause, asked);
    }

    #[test]
    fn pauses_in_vain_fail_at_once_and_say_why() {
        let policy = RetryPolicy::default();
        let day = failure(Retry::After(Duration::from_secs(86_400)));
        let error = policy.pause(&day, 1, None).unwrap_err();
        assert_eq!(
            error.message(),
            "HTTP 429; the provider asks to wait 86400 s, longer than the limit of 16 s (max_retry_delay)"
        );
        let deadline = Some(Deadline::after(Duration::from_secs(3)));
        let short = failure(Retry::After(Duration::from_secs(5)));
        let error = policy.pause(&short, 1, deadline).unwrap_err();
        assert!(error.message().contains("deadline"), "{error}");
        let now = failure(Retry::Backoff);
        let past = Some(Deadline::after(Duration::ZERO));
        assert!(policy.pause(&now, 1, past).is_err());
    }

    #[test]
    fn exhausted_and_hopeless_errors_are_unchanged() {
        let policy = RetryPolicy::default();
        for (error, attempt) in [(failure(Retry::Backoff), 3), (failure(Retry::Never), 1)] {
            assert_eq!(
                policy.pause(&error, attempt, None).unwrap_err().message(),
                "HTTP 429."
            );
        }
    }
}
