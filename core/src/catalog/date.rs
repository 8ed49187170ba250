//! Today, as facts are dated.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// The day in UTC, as `2026-11-30`.
pub(super) fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    format_day(seconds / SECONDS_PER_DAY)
}

/// The day that is `days` after 1970-01-01, in the Gregorian calendar.
pub(crate) fn format_day(days: u64) -> String {
    // Years are counted from 1 March, so that the leap day is the last day of a year, in eras of
    // 400 years that all have the same length.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, carry) = if month_from_march < 10 {
        (month_from_march + 3, 0)
    } else {
        (month_from_march - 9, 1)
    };
    format!("{:04}-{month:02}-{day:02}", year_of_era + era * 400 + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_722, "2023-12-31"),
            (19_782, "2024-02-29"),
            (20_787, "2026-11-30"),
        ] {
            assert_eq!(format_day(days), expected);
        }
    }
}
