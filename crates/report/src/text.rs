//! Plain text, in the shape that the paper prints.

use std::fmt::{self, Write};

use facts_engine::distribution::{Count, Share};

use crate::csc::{Csc, CscGroup, Recourse};

impl fmt::Display for Csc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "If {}:", self.predicate)?;
        for group in &self.groups {
            write!(f, "{group}")?;
        }
        if self.against.is_empty() {
            return writeln!(f, "    Fair by {}.", self.definition);
        }
        let against: Vec<String> = self
            .against
            .iter()
            .map(|name| format!("'{}'", name.trim()))
            .collect();
        writeln!(
            f,
            "    Bias against {} by {}. Unfairness score = {}.",
            against.join(" and "),
            self.definition,
            number(self.score)
        )
    }
}

impl fmt::Display for CscGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "    Protected subgroup '{}', {} covered ({} of {})",
            self.name.trim(),
            percent(Share::new(self.members, self.affected)),
            count(self.members),
            count(self.affected)
        )?;
        if self.recourses.is_empty() {
            return writeln!(f, "        No recourse for this subgroup.");
        }
        for Recourse {
            change,
            cost,
            flips,
        } in &self.recourses
        {
            let effectiveness = match flips {
                Count::Known(flips) => percent(Share::new(*flips, self.members)),
                Count::Suppressed => "suppressed".to_owned(),
            };
            writeln!(
                f,
                "        Make {change} with effectiveness {effectiveness} (cost {})",
                number(*cost)
            )?;
        }
        Ok(())
    }
}

/// A share in percent with two decimals.
pub fn percent(share: Share) -> String {
    format!("{:.2}%", share.ratio() * 100.0)
}

/// A cost or score: at most four decimals, ∞ as such.
pub fn number(value: f64) -> String {
    if value == f64::INFINITY {
        return "∞".to_owned();
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A count with commas between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = text.write_char(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(4.0), "4");
        assert_eq!(number(0.15024150241502415), "0.1502");
        assert_eq!(number(f64::INFINITY), "∞");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(6_612), "6,612");
        assert_eq!(count(1_443_140), "1,443,140");
    }

    #[test]
    fn a_finding_reads_like_the_papers() {
        let group = |name: &str, members, affected, recourses| CscGroup {
            name: name.to_owned(),
            members,
            affected,
            recourses,
        };
        let recourse = Recourse {
            change: "occupation = Exec-managerial".to_owned(),
            cost: 4.0,
            flips: Count::Known(31),
        };
        let csc = Csc {
            predicate: "age = (41.0, 50.0], occupation = Sales".to_owned(),
            groups: vec![
                group("Male", 78, 6_612, vec![recourse]),
                group("Female", 64, 4_101, Vec::new()),
            ],
            definition: "Equal Cost of Effectiveness (macro, φ = 0.3)".to_owned(),
            rank: Some(1),
            score: f64::INFINITY,
            against: vec!["Female".to_owned()],
        };
        let expected = "\
If age = (41.0, 50.0], occupation = Sales:
    Protected subgroup 'Male', 1.18% covered (78 of 6,612)
        Make occupation = Exec-managerial with effectiveness 39.74% (cost 4)
    Protected subgroup 'Female', 1.56% covered (64 of 4,101)
        No recourse for this subgroup.
    Bias against 'Female' by Equal Cost of Effectiveness (macro, φ = 0.3). Unfairness score = ∞.
";
        assert_eq!(csc.to_string(), expected);
    }
}
