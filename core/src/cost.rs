//! Exact amounts of money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// Digits behind the point: a token for a millionth of a dollar per million is still exact.
const DIGITS: u32 = 18;

const UNIT: u128 = 10_u128.pow(DIGITS);

/// What something costs, in US dollars, without the errors of binary fractions.
///
/// ```
/// use little_ghost::Cost;
///
/// # fn main() -> little_ghost::Result<()> {
/// let sum: Cost = ["0.1".parse()?, "0.2".parse()?].into_iter().sum::<Cost>();
/// assert_eq!(sum.to_string(), "0.3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u128);

impl Cost {
    /// Nothing.
    pub const ZERO: Cost = Cost(0);

    /// The price of `count` things of which a million cost `price`, in units of 10^-12 dollars.
    pub(crate) fn of(count: u64, price: u128) -> Self {
        Cost(u128::from(count).saturating_mul(price))
    }

    /// The nearest number that floating point has, for charts and the like. Sums of these are not exact.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::INFINITY)
    }
}

/// As a decimal without exponent and without zeros at the end: `"0.00125"`.
impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.0 / UNIT, self.0 % UNIT);
        let text = format!("{dollars}.{rest:018}");
        formatter.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl FromStr for Cost {
    type Err = Error;

    /// Reads a decimal such as `"0.00125"` or `"1.5e-7"`, to 18 digits behind the point.
    fn from_str(text: &str) -> Result<Self, Error> {
        decimal(text, DIGITS).map(Cost).ok_or_else(|| {
            Error::new(
                ErrorKind::Argument,
                format!("{text:?} is no amount of money: expected a decimal from 0, such as 0.25"),
            )
        })
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::ZERO, Add::add)
    }
}

/// `text` in units of 10^-`digits`, rounded to the nearest; `None` for what is no decimal, negative or absurd.
pub(crate) fn decimal(text: &str, digits: u32) -> Option<u128> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all = || whole.bytes().chain(fraction.bytes());
    if all().next().is_none() || !all().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut value: u128 = 0;
    for digit in all() {
        value = value
            .checked_mul(10)?
            .checked_add(u128::from(digit - b'0'))?;
    }
    let shift = i64::from(digits) + exponent - i64::try_from(fraction.len()).ok()?;
    if value == 0 {
        return Some(0);
    }
    let power = |shift: i64| 10_u128.checked_pow(u32::try_from(shift).ok()?);
    if shift >= 0 {
        return value.checked_mul(power(shift)?);
    }
    let Some(divisor) = power(-shift) else {
        return Some(0);
    };
    Some(value / divisor + u128::from(value % divisor >= divisor.div_ceil(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_as_they_are_written() {
        for (text, expected) in [
            ("0", "0"),
            ("0.0", "0"),
            ("12", "12"),
            ("2.50", "2.5"),
            ("0.000001", "0.000001"),
            ("1.5e-7", "0.00000015"),
            ("15E2", "1500"),
            (".5", "0.5"),
            ("5.", "5"),
            ("0.0000000000000000015", "0.000000000000000002"),
            ("1e-300", "0"),
        ] {
            assert_eq!(
                text.parse::<Cost>().unwrap().to_string(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in [
            "", ".", "-1", "+1", "1,5", "NaN", "inf", "0x1", "1e", "1e400", " 1", "1.2.3",
        ] {
            let error = text.parse::<Cost>().unwrap_err();
            assert!(error.message().contains("no amount of money"), "{text}");
        }
    }

    #[test]
    fn sums_are_exact() {
        let dime: Cost = "0.1".parse().unwrap();
        let sum: Cost = std::iter::repeat_n(dime, 3).sum();
        assert_eq!(sum.to_string(), "0.3");
        assert_eq!(sum.to_f64(), 0.3);
        assert_eq!(format!("{sum:>6}"), "   0.3");
    }
}
