//! Points in time, as services write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::catalog::date::format_day;

const SECONDS_PER_DAY: u64 = 86_400;

/// Reads ISO 8601 with seconds, such as `2026-11-30T10:46:05Z`. Without an offset it is UTC.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
    let (time, offset) = split_offset(rest.trim())?;
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let whole = time.split(['.', ',']).next()?;
    let mut time = whole.splitn(3, ':').map(number);
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && year <= 9_999
        && hour < 24
        && minute < 60
        && second <= 60;
    if !valid {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    let seconds = u64::try_from(seconds).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// `20261130T104605Z`.
pub(crate) fn compact(at: SystemTime) -> String {
    let seconds = unix(at);
    let (day, left) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    format!(
        "{}T{:02}{:02}{:02}Z",
        format_day(day).replace('-', ""),
        left / 3_600,
        left / 60 % 60,
        left % 60
    )
}

/// `2026-11-30T10:46:05Z`.
pub(super) fn extended(at: SystemTime) -> String {
    let seconds = unix(at);
    let (day, left) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    format!(
        "{}T{:02}:{:02}:{:02}Z",
        format_day(day),
        left / 3_600,
        left / 60 % 60,
        left % 60
    )
}

/// Seconds since 1970.
pub(super) fn unix(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}

/// The time, and its offset from UTC in seconds.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    for suffix in ["Z", "z", "UTC"] {
        if let Some(time) = text.strip_suffix(suffix) {
            return Some((time, 0));
        }
    }
    let Some(at) = text.rfind(['+', '-']) else {
        return Some((text, 0));
    };
    let (time, offset) = text.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { "0" } else { minutes };
    Some((
        time,
        sign * (number(hours)? * 3_600 + number(minutes)? * 60),
    ))
}

fn number(text: &str) -> Option<i64> {
    text.parse::<u32>().ok().map(i64::from)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; see [`format_day`] for the way back.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn every_way_to_write_a_time_is_read() {
        for text in [
            "2026-11-30T10:46:05Z",
            " 2026-11-30T10:46:05.987Z\n",
            "2026-11-30T10:46:05UTC",
            "2026-11-30 10:46:05",
            "2026-11-30T12:16:05+01:30",
            "2026-11-30T05:46:05-0500",
            "2026-11-30T12:46:05+02",
        ] {
            assert_eq!(parse(text), Some(at(1_796_035_565)), "{text}");
        }
        for text in [
            "",
            "soon",
            "2026-11-30",
            "2026-13-30T10:46:05Z",
            "2026-11-30T25:46:05Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for seconds in [
            0,
            951_782_399,
            951_868_800,
            1_709_164_800,
            1_796_035_565,
            4_102_444_799,
        ] {
            assert_eq!(parse(&extended(at(seconds))), Some(at(seconds)));
        }
        assert_eq!(compact(at(1_440_938_160)), "20150830T123600Z");
    }
}
