//! What changed for people between two audits: better, worse, mixed, or too close to tell.
//!
//! What counts for a group is how many of all its people are shut out: refused, and without a way out.
//! A difference counts if Newcombe's interval for it leaves out 0. The two audits are taken for samples
//! of their own; where they are about the same people, that asks for more than is needed, never less.

use facts_engine::answer::{Answer, GroupPeople};
use facts_engine::distribution::Share;
use facts_engine::evidence::Interval;
use serde::Serialize;

use crate::answer::words::{Z_95, listed, of_100};
use crate::grid::{Grid, Side, escape};
use crate::record::Record;
use crate::text::{Palette, count, styled};

/// Which way something went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trend {
    /// Better, for some group and worse for none.
    Better,
    /// Worse, for some group and better for none.
    Worse,
    /// Better for some and worse for others.
    Mixed,
    /// Chance could explain all that moved.
    TooClose,
}

impl Trend {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "Better",
            Self::Worse => "Worse",
            Self::Mixed => "Mixed",
            Self::TooClose => "Too close to tell",
        }
    }
}

/// What changed for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeopleChange {
    /// For all groups together.
    pub trend: Trend,
    /// Whether the gap narrowed because the way became less open to those to whom it was more open.
    pub levelled_down: bool,
    /// By group.
    pub groups: Vec<GroupChange>,
}

/// What changed for one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupChange {
    /// The group.
    pub group: String,
    /// Better, worse or too close to tell.
    pub trend: Trend,
    /// Of all its people, those refused without a way out, before and now.
    pub shut_out: (Share, Share),
    /// Of the refused, those with a way out, before and now.
    pub open: (Share, Share),
    /// By how much the share of people shut out moved; below 0 is better.
    pub moved: f64,
    /// From where to where that may lie.
    pub interval: Interval,
    /// How many people of the newer audit that is; below 0 is fewer shut out.
    pub people: f64,
}

impl PeopleChange {
    /// What changed; none if one of the audits has no answer, or tells too little, or compares other
    /// groups.
    pub(super) fn new(old: &Record, new: &Record) -> Option<Self> {
        let (was, is) = (old.answer.as_ref()?, new.answer.as_ref()?);
        let names = |record: &Record| -> Vec<String> {
            let groups = record.audit.groups.iter();
            groups.map(|group| group.name.trim().to_owned()).collect()
        };
        if names(old) != names(new) {
            return None;
        }
        let pairs = was.people.iter().zip(&is.people);
        let groups: Vec<GroupChange> = (names(new).into_iter().zip(pairs))
            .map(|(name, (was, is))| GroupChange::new(name, was, is))
            .collect::<Option<_>>()?;
        let any = |trend: Trend| groups.iter().any(|group| group.trend == trend);
        let trend = match (any(Trend::Better), any(Trend::Worse)) {
            (true, true) => Trend::Mixed,
            (true, false) => Trend::Better,
            (false, true) => Trend::Worse,
            (false, false) => Trend::TooClose,
        };
        Some(Self {
            trend,
            levelled_down: levelled_down(was, is, &groups),
            groups,
        })
    }

    /// The change in one or two sentences.
    pub fn sentence(&self) -> String {
        let of = |trend: Trend| {
            let groups = self.groups.iter().filter(move |group| group.trend == trend);
            groups.map(GroupChange::words).collect::<Vec<String>>()
        };
        let (better, worse) = (of(Trend::Better), of(Trend::Worse));
        let mut sentence = match self.trend {
            Trend::TooClose => {
                "Chance could explain how many people are refused without a way out now and before."
                    .to_owned()
            }
            Trend::Better => format!(
                "Fewer people are refused without a way out: {}.",
                listed(&better, "and")
            ),
            Trend::Worse => format!(
                "More people are refused without a way out: {}.",
                listed(&worse, "and")
            ),
            Trend::Mixed => format!(
                "Better for {}; worse for {}.",
                listed(&better, "and"),
                listed(&worse, "and")
            ),
        };
        if self.levelled_down {
            sentence += " The gap narrowed by levelling down: the way out became less open to those to whom it was more open, and no more open to the others.";
        }
        sentence
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            ("group", Side::Left),
            ("with a way, of the refused", Side::Right),
            ("shut out, of all", Side::Right),
            ("moved (95% interval), in points", Side::Right),
            ("people", Side::Right),
        ]);
        let percent = |share: Share| format!("{:.1}%", share.ratio() * 100.0);
        let both = |(was, is): (Share, Share)| format!("{} -> {}", percent(was), percent(is));
        for group in &self.groups {
            grid.row([
                group.group.clone(),
                both(group.open),
                both(group.shut_out),
                format!(
                    "{:+.1} ({:+.1} to {:+.1})",
                    group.moved * 100.0,
                    group.interval.low * 100.0,
                    group.interval.high * 100.0
                ),
                format!("{:+.0}", group.people),
            ]);
        }
        grid
    }

    pub(super) fn text(&self, palette: &Palette) -> String {
        let style = match self.trend {
            Trend::Better => palette.fair,
            Trend::Worse => palette.bias,
            Trend::Mixed | Trend::TooClose => palette.who,
        };
        let trend = styled(style, self.trend.words().to_uppercase());
        format!("{trend}\n{}\n\n{}", self.sentence(), self.grid().text(2))
    }

    pub(crate) fn markdown(&self) -> String {
        let sentence = escape(&self.sentence());
        format!(
            "**{}.** {sentence}\n\n{}",
            self.trend.words(),
            self.grid().markdown()
        )
    }

    /// The table by group.
    pub(crate) fn table(&self) -> Grid {
        self.grid()
    }
}

impl GroupChange {
    fn new(group: String, was: &GroupPeople, is: &GroupPeople) -> Option<Self> {
        let shut_out = (was.refused_without()?, is.refused_without()?);
        let (low, high) = shut_out.1.difference(shut_out.0, Z_95);
        let moved = shut_out.1.ratio() - shut_out.0.ratio();
        let trend = if high < 0.0 {
            Trend::Better
        } else if low > 0.0 {
            Trend::Worse
        } else {
            Trend::TooClose
        };
        Some(Self {
            group,
            trend,
            shut_out,
            open: (was.open()?, is.open()?),
            moved,
            interval: Interval { low, high },
            people: moved * is.people as f64,
        })
    }

    fn words(&self) -> String {
        let people = count(self.people.abs().round() as u64);
        format!(
            "{} ({} now, {} before: {people} people)",
            self.group,
            of_100(self.shut_out.1),
            of_100(self.shut_out.0),
        )
    }
}

/// Whether the gap between the most and the least open group narrowed only because the former lost.
fn levelled_down(was: &Answer, is: &Answer, groups: &[GroupChange]) -> bool {
    let ratio = |people: &GroupPeople| people.open().map_or(0.0, Share::ratio);
    let old: Vec<f64> = was.people.iter().map(ratio).collect();
    let new: Vec<f64> = is.people.iter().map(ratio).collect();
    let place = |best: bool| {
        let by = |a: &usize, b: &usize| old[*a].total_cmp(&old[*b]).then(b.cmp(a));
        let places = 0..old.len();
        if best {
            places.max_by(by)
        } else {
            places.min_by(by)
        }
    };
    let (Some(best), Some(worst)) = (place(true), place(false)) else {
        return false;
    };
    let open = &groups[best].open;
    let surely_fell = open.1.difference(open.0, Z_95).1 < 0.0;
    surely_fell && new[worst] <= old[worst] && new[best] - new[worst] < old[best] - old[worst]
}
