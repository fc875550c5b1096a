//! Decimals as the user wrote them.
//!
//! A support of `0.07` means seven in a hundred, and 7 people of 100 pass it. The binary fraction
//! nearest to 0.07 is slightly larger, so `7.0 / 100.0 >= 0.07` is a question about rounding, not
//! about people. A [`Decimal`] keeps the digits and compares by multiplying whole numbers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Digits after the point that are kept; more are refused, so that products fit 128 bits.
const MAX_SCALE: u32 = 18;

/// A non-negative decimal number, exactly as written: `digits / 10^scale`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Decimal {
    digits: u64,
    scale: u32,
}

impl Decimal {
    /// The decimal a person would write for `value`: the shortest text that reads back as it.
    ///
    /// `0.1 + 0.2` is written `0.30000000000000004`, and that is what is kept.
    pub fn from_f64(value: f64) -> Result<Self, Error> {
        if !value.is_finite() {
            return Err(Error::NotADecimal(value.to_string()));
        }
        format!("{value}").parse()
    }

    /// The nearest floating-point number, for formulas that leave whole numbers behind.
    pub fn to_f64(self) -> f64 {
        // Parsing the text rounds once; dividing the parts would round twice.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Whether `part` of `whole` is at least this share, exactly.
    pub(crate) fn is_reached_by(self, part: u64, whole: u64) -> bool {
        let left = u128::from(part) * u128::from(self.unit());
        left >= u128::from(self.digits) * u128::from(whole)
    }

    /// The least `part` of `whole` that reaches this share.
    pub(crate) fn least_of(self, whole: u64) -> u64 {
        // Dividing 128 bits is slow, and seldom needed.
        if let Some(product) = self.digits.checked_mul(whole) {
            return product.div_ceil(self.unit());
        }
        let needed =
            (u128::from(self.digits) * u128::from(whole)).div_ceil(u128::from(self.unit()));
        u64::try_from(needed).unwrap_or(u64::MAX)
    }

    /// 10^scale: what one is in units of the last digit. With at most 18 digits it fits.
    fn unit(self) -> u64 {
        10u64.pow(self.scale)
    }

    fn is_zero(self) -> bool {
        self.digits == 0
    }

    fn exceeds_one(self) -> bool {
        self.digits > self.unit()
    }
}

impl FromStr for Decimal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::NotADecimal(text.to_owned());
        let trimmed = text.trim();
        let (mantissa, exponent) = match trimmed.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.parse::<i32>().map_err(|_| refuse())?)
            }
            None => (trimmed, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(refuse());
        }
        let mut digits: u64 = 0;
        for c in whole.chars().chain(fraction.trim_end_matches('0').chars()) {
            let digit = c.to_digit(10).ok_or_else(refuse)?;
            digits = digits
                .checked_mul(10)
                .and_then(|d| d.checked_add(u64::from(digit)))
                .ok_or_else(refuse)?;
        }
        let mut scale = i64::try_from(fraction.trim_end_matches('0').len())
            .map_err(|_| refuse())?
            - i64::from(exponent);
        while scale < 0 {
            digits = digits.checked_mul(10).ok_or_else(refuse)?;
            scale += 1;
        }
        while scale > 0 && digits.is_multiple_of(10) {
            digits /= 10;
            scale -= 1;
        }
        let scale = u32::try_from(scale).map_err(|_| refuse())?;
        if scale > MAX_SCALE {
            return Err(refuse());
        }
        Ok(Self { digits, scale })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(f, "{}", self.digits);
        }
        let unit = self.unit();
        let width = self.scale as usize;
        write!(f, "{}.{:0width$}", self.digits / unit, self.digits % unit)
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for Decimal {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Decimal> for String {
    fn from(value: Decimal) -> Self {
        value.to_string()
    }
}

/// Declares a decimal that is known to lie above 0 and at most at 1.
macro_rules! share {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "Decimal", into = "Decimal")]
        pub struct $name(Decimal);

        impl $name {
            /// Checks that the value lies in (0, 1].
            pub fn new(value: Decimal) -> Result<Self, Error> {
                if value.is_zero() || value.exceeds_one() {
                    return Err(Error::ShareOutOfRange { what: $what, value: value.to_string() });
                }
                Ok(Self(value))
            }

            /// The decimal itself.
            pub fn get(self) -> Decimal {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let refuse = || Error::ShareOutOfRange { what: $what, value: text.to_owned() };
                Self::new(text.parse().map_err(|_| refuse())?)
            }
        }

        impl TryFrom<f64> for $name {
            type Error = Error;

            fn try_from(value: f64) -> Result<Self, Error> {
                let refuse = || Error::ShareOutOfRange { what: $what, value: value.to_string() };
                Self::new(Decimal::from_f64(value).map_err(|_| refuse())?)
            }
        }

        impl TryFrom<Decimal> for $name {
            type Error = Error;

            fn try_from(value: Decimal) -> Result<Self, Error> {
                Self::new(value)
            }
        }

        impl From<$name> for Decimal {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

share! {
    /// The least share of a group that makes a predicate frequent, in (0, 1].
    Support, "the support"
}

share! {
    /// The target effectiveness φ, in (0, 1].
    Phi, "the effectiveness φ"
}

impl Phi {
    /// The two of the paper: 0.3 and 0.7.
    pub const PAPER: [Self; 2] = [Self::tenths(3), Self::tenths(7)];

    const fn tenths(digits: u64) -> Self {
        Self(Decimal { digits, scale: 1 })
    }
}

impl Support {
    /// One percent.
    pub const ONE_PERCENT: Self = Self(Decimal {
        digits: 1,
        scale: 2,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn shares_are_compared_as_written() {
        assert!(decimal("0.7").is_reached_by(7, 10));
        assert!(decimal("0.07").is_reached_by(7, 100));
        assert!(!decimal("0.07").is_reached_by(6, 100));
        assert!(decimal("0.3").is_reached_by(3, 10));
        assert_eq!(decimal("0.07").least_of(100), 7);
        assert_eq!(decimal("0.01").least_of(4176), 42);
    }

    #[test]
    fn text_is_kept_in_its_shortest_form() {
        for (text, shown) in [
            ("0.70", "0.7"),
            ("1", "1"),
            (".5", "0.5"),
            ("1e-2", "0.01"),
            ("5.07", "5.07"),
            ("1.5E1", "15"),
            ("0", "0"),
        ] {
            assert_eq!(decimal(text).to_string(), shown, "{text}");
        }
        assert_eq!(Decimal::from_f64(0.1).unwrap(), decimal("0.1"));
        assert_eq!(decimal("0.1").to_f64(), 0.1);
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in [
            "",
            ".",
            "-1",
            "abc",
            "1,5",
            "NaN",
            "1e-30",
            "99999999999999999999",
        ] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
        assert!(Decimal::from_f64(f64::INFINITY).is_err());
    }

    #[test]
    fn a_support_lies_in_zero_to_one() {
        assert!("0".parse::<Support>().is_err());
        assert!("1.0001".parse::<Support>().is_err());
        assert!("-0.1".parse::<Support>().is_err());
        assert_eq!("1.0".parse::<Support>().unwrap().to_string(), "1");
        let message = "1.5".parse::<Support>().unwrap_err().to_string();
        assert_eq!(
            message,
            "the support is 1.5, but must be above 0 and at most 1; write one percent as 0.01"
        );
    }
}
