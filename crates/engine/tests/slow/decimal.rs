//! Decimals as the user wrote them, and exact comparisons with ratios of counts.

use std::cmp::Ordering;

/// `mantissa / 10^scale`, never rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    pub mantissa: u128,
    pub scale: u32,
}

impl Decimal {
    /// Reads digits with at most one point: `0.07` is 7 / 10².
    pub fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Decimal {
            mantissa: digits.parse().ok()?,
            scale: u32::try_from(fraction.len()).ok()?,
        })
    }

    /// The decimal in the text, for constants in the code.
    pub fn of(text: &str) -> Decimal {
        Decimal::parse(text).expect("a constant of the tests is written as a decimal")
    }

    /// Whether `part / whole ≥ self`, that is `part · 10^scale ≥ mantissa · whole`.
    pub fn reached_by(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 10_u128.pow(self.scale) >= self.mantissa * u128::from(whole)
    }

    /// The decimal with a point in it, such as `0.07`.
    pub fn text(self) -> String {
        if self.scale == 0 {
            return self.mantissa.to_string();
        }
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.mantissa, width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        format!("{whole}.{fraction}")
    }
}

/// A share: `flipped` of `members`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub flipped: u64,
    pub members: u64,
}

impl Share {
    /// `a/b` against `c/d` as `a·d` against `c·b`.
    pub fn compare(self, other: Share) -> Ordering {
        let left = u128::from(self.flipped) * u128::from(other.members);
        let right = u128::from(other.flipped) * u128::from(self.members);
        left.cmp(&right)
    }

    /// `|a/b − c/d|` as an exact fraction.
    pub fn gap(self, other: Share) -> Gap {
        let left = u128::from(self.flipped) * u128::from(other.members);
        let right = u128::from(other.flipped) * u128::from(self.members);
        Gap {
            above: left.abs_diff(right),
            below: u128::from(self.members) * u128::from(other.members),
        }
    }

    pub fn value(self) -> f64 {
        self.flipped as f64 / self.members as f64
    }
}

/// The difference of two shares, an exact fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub above: u128,
    pub below: u128,
}

impl Gap {
    pub fn compare(self, other: Gap) -> Ordering {
        (self.above * other.below).cmp(&(other.above * self.below))
    }

    pub fn value(self) -> f64 {
        self.above as f64 / self.below as f64
    }
}
