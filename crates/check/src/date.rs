//! Days of the calendar, for waivers that lapse.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A day, as `2026-01-31` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: i64,
    day: i64,
}

impl Date {
    /// The days from one date to another; negative if that is earlier.
    pub fn days_until(self, later: Self) -> i64 {
        later.number() - self.number()
    }

    /// The number of a day, counted from 1 March of the year 0: leap days then come last in a year.
    fn number(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let month = (self.month + 9) % 12;
        // Months from March on have 31, 30, 31, 30, 31 days again and again.
        let before_month = (153 * month + 2) / 5;
        365 * year + year / 4 - year / 100 + year / 400 + before_month + self.day - 1
    }

    fn days_of_month(year: i64, month: i64) -> i64 {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        match month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

impl FromStr for Date {
    type Err = String;

    /// Reads `2026-01-31`; a time of day after it is left aside.
    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{text}` is no date: write it as 2026-01-31");
        let day = text.trim();
        let day = day.split(['T', 't', ' ']).next().unwrap_or(day);
        let parts: Vec<&str> = day.split('-').collect();
        let [year, month, day] = parts[..] else {
            return Err(refuse());
        };
        let digits = |text: &str, n: usize| {
            let whole = text.len() == n && text.bytes().all(|byte| byte.is_ascii_digit());
            whole.then(|| text.parse::<i64>().ok()).flatten()
        };
        let read = (digits(year, 4), digits(month, 2), digits(day, 2));
        let (Some(year), Some(month), Some(day)) = read else {
            return Err(refuse());
        };
        if !(1..=12).contains(&month) || !(1..=Self::days_of_month(year, month)).contains(&day) {
            return Err(format!("there is no day {text}"));
        }
        Ok(Self { year, month, day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn days_are_counted_one_by_one() {
        // Every day from 1999 to 2105 is one after the day before, over leap years and those that are not.
        let mut number = date("1998-12-31").number();
        for year in 1999..2106 {
            for month in 1..=12 {
                for day in 1..=Date::days_of_month(year, month) {
                    number += 1;
                    assert_eq!(Date { year, month, day }.number(), number);
                }
            }
        }
        assert_eq!(date("2024-02-28").days_until(date("2024-03-01")), 2);
        assert_eq!(date("2026-01-31").days_until(date("2025-01-31")), -365);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in [
            "2026-02-29",
            "2100-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
        ] {
            assert!(
                text.parse::<Date>().unwrap_err().contains("no day"),
                "{text}"
            );
        }
        for text in [
            "soon",
            "31.01.2026",
            "2026-1-31",
            "2026-01",
            "",
            "+026-01-01",
        ] {
            assert!(
                text.parse::<Date>().unwrap_err().contains("2026-01-31"),
                "{text}"
            );
        }
        assert_eq!(date("2026-01-31T12:00:00Z").to_string(), "2026-01-31");
    }
}
