//! Waivers: findings that somebody let through, for a reason, for a while.

use std::collections::HashMap;

use facts_engine::similar::probably_meant;
use serde::Serialize;

use crate::date::Date;
use crate::settings::WaiverSettings;

/// How far ahead a waiver may end, unless the settings say otherwise.
pub(crate) const MOST_DAYS: i64 = 90;

/// A waiver, and whether it holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waived {
    /// The finding.
    pub id: String,
    /// Why it is let through.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// The last day on which it is, as written.
    pub until: String,
    /// Whether it holds.
    pub state: WaiverState,
    /// The line of the configuration that it starts at.
    pub line: Option<usize>,
}

/// Whether a waiver holds. Whatever keeps it from holding makes the finding count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum WaiverState {
    /// It holds.
    Active {
        /// The days left after today.
        days_left: i64,
    },
    /// Its last day is over.
    Lapsed {
        /// The days since then.
        days_ago: i64,
    },
    /// It ends further ahead than is allowed.
    TooFar {
        /// The days until it ends.
        days: i64,
        /// The most that are allowed.
        most: i64,
    },
    /// There are several for the same finding, so that it is not clear which is meant.
    Duplicate,
    /// No rule finds fault with what it names.
    Unknown {
        /// The finding that was probably meant.
        meant: Option<String>,
    },
    /// Something is missing or cannot be read.
    Unreadable {
        /// What.
        why: String,
    },
}

impl Waived {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        matches!(self.state, WaiverState::Active { .. })
    }

    /// Whether it holds, in words.
    pub fn in_words(&self) -> String {
        let owner = if self.owner.is_empty() {
            "nobody"
        } else {
            &self.owner
        };
        match &self.state {
            WaiverState::Active { days_left: 0 } => {
                format!(
                    "[{}] waived by {owner}, for the last day: {}",
                    self.id, self.reason
                )
            }
            WaiverState::Active { days_left } => format!(
                "[{}] waived by {owner}, {} left: {}",
                self.id,
                days(*days_left),
                self.reason
            ),
            WaiverState::Lapsed { days_ago } => format!(
                "[{}] the waiver by {owner} lapsed {} ago, on {}: the finding counts",
                self.id,
                days(*days_ago),
                self.until
            ),
            WaiverState::TooFar { days: ahead, most } => format!(
                "[{}] the waiver ends on {}, {} ahead, and {most} are allowed (max-waiver-days): the finding counts",
                self.id,
                self.until,
                days(*ahead)
            ),
            WaiverState::Duplicate => format!(
                "[{}] is waived more than once: none of the waivers holds; leave one",
                self.id
            ),
            WaiverState::Unknown { meant: Some(meant) } => {
                format!(
                    "[{}] is waived, and no rule finds it; did you mean {meant}?",
                    self.id
                )
            }
            WaiverState::Unknown { meant: None } => format!(
                "[{}] is waived, and no rule finds it: take the waiver away",
                self.id
            ),
            WaiverState::Unreadable { why } => {
                let id = if self.id.is_empty() {
                    "no id"
                } else {
                    &self.id
                };
                format!("[{id}] the waiver does not hold: {why}")
            }
        }
    }
}

fn days(number: i64) -> String {
    if number == 1 {
        "1 day".to_owned()
    } else {
        format!("{number} days")
    }
}

/// Which waivers hold today, given the ids that rules find fault with.
pub(crate) fn judge(
    written: &[WaiverSettings],
    most: i64,
    today: Date,
    found: &[&str],
) -> Vec<Waived> {
    let text = |text: &Option<String>| text.as_deref().unwrap_or("").trim().to_owned();
    let mut times: HashMap<String, usize> = HashMap::new();
    for waiver in written {
        *times.entry(text(&waiver.id)).or_default() += 1;
    }
    let state = |waiver: &WaiverSettings| {
        let id = text(&waiver.id);
        let missing = [
            ("id", &waiver.id),
            ("reason", &waiver.reason),
            ("owner", &waiver.owner),
            ("until", &waiver.until),
        ];
        if let Some((key, _)) = missing.iter().find(|(_, value)| text(value).is_empty()) {
            return WaiverState::Unreadable {
                why: format!("it has no `{key}`"),
            };
        }
        if times[&id] > 1 {
            return WaiverState::Duplicate;
        }
        let until: Date = match text(&waiver.until).parse() {
            Ok(until) => until,
            Err(why) => {
                return WaiverState::Unreadable {
                    why: format!("`until`: {why}"),
                };
            }
        };
        if !found.contains(&id.as_str()) {
            let meant = probably_meant(&id, found.iter().copied());
            return WaiverState::Unknown {
                meant: meant.map(str::to_owned),
            };
        }
        let left = today.days_until(until);
        if left < 0 {
            return WaiverState::Lapsed { days_ago: -left };
        }
        if left > most {
            return WaiverState::TooFar { days: left, most };
        }
        WaiverState::Active { days_left: left }
    };
    written
        .iter()
        .map(|waiver| Waived {
            id: text(&waiver.id),
            reason: text(&waiver.reason),
            owner: text(&waiver.owner),
            until: text(&waiver.until),
            state: state(waiver),
            line: waiver.line,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiver(id: &str, until: &str) -> WaiverSettings {
        WaiverSettings {
            id: Some(id.to_owned()),
            reason: Some("a new model is trained".to_owned()),
            owner: Some("ana".to_owned()),
            until: Some(until.to_owned()),
            line: None,
        }
    }

    fn states(written: &[WaiverSettings]) -> Vec<WaiverState> {
        let today = "2026-11-18".parse().unwrap();
        let judged = judge(written, MOST_DAYS, today, &["0a1b2c3d4e5f", "ffffffffffff"]);
        judged.into_iter().map(|waived| waived.state).collect()
    }

    #[test]
    fn a_waiver_holds_to_its_last_day_and_not_too_far_ahead() {
        let until = |until| states(&[waiver("0a1b2c3d4e5f", until)]).remove(0);
        assert_eq!(until("2026-11-18"), WaiverState::Active { days_left: 0 });
        assert_eq!(until("2026-12-01"), WaiverState::Active { days_left: 13 });
        assert_eq!(until("2026-11-17"), WaiverState::Lapsed { days_ago: 1 });
        assert_eq!(until("2027-02-16"), WaiverState::Active { days_left: 90 });
        assert_eq!(
            until("2027-02-17"),
            WaiverState::TooFar { days: 91, most: 90 }
        );
        let unreadable = until("2026-11-31");
        assert!(
            matches!(unreadable, WaiverState::Unreadable { .. }),
            "{unreadable:?}"
        );
    }

    #[test]
    fn what_is_not_whole_or_not_clear_does_not_hold() {
        let mut nobody = waiver("0a1b2c3d4e5f", "2026-12-01");
        nobody.owner = Some("  ".to_owned());
        let why = "it has no `owner`".to_owned();
        assert_eq!(states(&[nobody]), [WaiverState::Unreadable { why }]);
        let twice = [
            waiver("ffffffffffff", "2026-12-01"),
            waiver("ffffffffffff", "2026-12-02"),
        ];
        assert_eq!(
            states(&twice),
            [WaiverState::Duplicate, WaiverState::Duplicate]
        );
        let mistyped = states(&[
            waiver("0a1b2c3d4e5e", "2026-12-01"),
            waiver("old", "2026-12-01"),
        ]);
        let meant = Some("0a1b2c3d4e5f".to_owned());
        assert_eq!(mistyped[0], WaiverState::Unknown { meant });
        assert_eq!(mistyped[1], WaiverState::Unknown { meant: None });
    }
}
