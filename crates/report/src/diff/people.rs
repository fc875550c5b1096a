//! What changed for people between two audits: better, worse, mixed, or too close to tell.
//!
//! What counts for a group is how many of all its people are shut out: refused, and without a way out.
//! A difference counts if the engine's comparison shows it, corrected for all groups. The two audits are
//! taken for samples of their own unless both were made of the same people at once; of the same people, that
//! asks for more than is needed, never less.

use facts_engine::comparison::{Direction, GapMoved, GroupMoved, Moved, PeopleCompared};
use facts_engine::distribution::Share;
use facts_engine::evidence::Interval;
use serde::Serialize;

use crate::answer::words::{listed, of_100};
use crate::evidence::words::{confidence, p_value};
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
    /// The level α at which this is tested; the intervals are at 1 − α.
    #[serde(skip)]
    pub alpha: f64,
    /// By group.
    pub groups: Vec<GroupChange>,
    /// The gaps in who has a way, of the refused.
    pub gaps: Vec<PeopleGap>,
}

/// What became of the gap between two groups in who has a way, of those who are refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeopleGap {
    /// The two groups.
    pub between: (String, String),
    /// The share of the second less that of the first, before.
    pub before: f64,
    /// The same now.
    pub now: f64,
    /// By how much it moved.
    pub moved: f64,
    /// From where to where that may lie, alone.
    pub interval: Interval,
    /// The p-value, corrected for all that is compared of all people.
    pub p: f64,
    /// What became of it.
    pub direction: Direction,
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
    /// The p-value, corrected for all that is compared of all people.
    pub p: f64,
    /// How many people of the newer audit that is; below 0 is fewer shut out.
    pub people: f64,
}

impl PeopleChange {
    /// What changed, as the engine says it.
    pub(super) fn new(new: &Record, compared: &PeopleCompared, alpha: f64) -> Self {
        let groups = new.audit.groups.iter();
        let moves = compared.shut_out.iter().zip(&compared.open);
        let groups: Vec<GroupChange> = (groups.zip(moves))
            .map(|(group, (shut_out, open))| {
                GroupChange::new(group.name.trim().to_owned(), shut_out, open, alpha)
            })
            .collect();
        let any = |trend: Trend| groups.iter().any(|group| group.trend == trend);
        let trend = match (any(Trend::Better), any(Trend::Worse)) {
            (true, true) => Trend::Mixed,
            (true, false) => Trend::Better,
            (false, true) => Trend::Worse,
            (false, false) => Trend::TooClose,
        };
        Self {
            trend,
            levelled_down: compared.levelled_down(alpha),
            alpha,
            gaps: gaps(&groups, compared, alpha),
            groups,
        }
    }

    /// What became of the gaps in who has a way: a sentence for each that is shown to have moved.
    fn about_gaps(&self) -> Vec<String> {
        let shown = self.gaps.iter();
        let shown = shown.filter(|gap| gap.direction != Direction::TooClose);
        shown.map(PeopleGap::sentence).collect()
    }

    /// The change in a few sentences.
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
        for said in self.about_gaps() {
            sentence.push(' ');
            sentence += &said;
        }
        if self.levelled_down {
            sentence += " The gap narrowed by levelling down: the way out became less open to those to whom it was more open, and no more open to the others.";
        }
        sentence
    }

    fn grid(&self) -> Grid {
        let moved = format!("moved ({} interval), in points", confidence(self.alpha));
        let mut grid = Grid::new([
            ("group", Side::Left),
            ("with a way, of the refused", Side::Right),
            ("shut out, of all", Side::Right),
            (moved.as_str(), Side::Right),
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
    pub fn table(&self) -> Grid {
        self.grid()
    }
}

impl PeopleGap {
    fn sentence(&self) -> String {
        let (first, second) = &self.between;
        let became = match self.direction {
            Direction::Grew => "grew",
            Direction::Shrank => "shrank",
            Direction::Turned => "turned",
            Direction::TooClose => "did not surely move",
        };
        // Named so that the gap was, or else is, above 0.
        let (high, low, sign) = if self.before > 0.0 || (self.before == 0.0 && self.now > 0.0) {
            (second, first, 1.0)
        } else {
            (first, second, -1.0)
        };
        format!(
            "Of the refused, the share with a way out is higher for {high} than for {low} by {} now and was by {}: that gap {became} (p = {}).",
            signed_points(sign * self.now),
            signed_points(sign * self.before),
            p_value(self.p),
        )
    }
}

/// A gap in points, below 0 if it is the other way round.
fn signed_points(gap: f64) -> String {
    format!("{:.1} points", gap * 100.0)
}

impl GroupChange {
    fn new(group: String, shut_out: &GroupMoved, open: &GroupMoved, alpha: f64) -> Self {
        let Moved { by, interval, .. } = shut_out.moved;
        let trend = match shut_out.moved.is_shown(alpha) {
            false => Trend::TooClose,
            true if by < 0.0 => Trend::Better,
            true => Trend::Worse,
        };
        Self {
            group,
            trend,
            shut_out: (shut_out.before, shut_out.now),
            open: (open.before, open.now),
            moved: by,
            interval,
            p: shut_out.moved.corrected,
            people: by * shut_out.now.whole as f64,
        }
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

/// How the gaps in who has a way moved, a row for each two groups.
fn gaps(groups: &[GroupChange], compared: &PeopleCompared, alpha: f64) -> Vec<PeopleGap> {
    let gap = |gap: &GapMoved| {
        let (first, second) = gap.pair;
        PeopleGap {
            between: (groups[first].group.clone(), groups[second].group.clone()),
            before: gap.before,
            now: gap.now,
            moved: gap.moved.by,
            interval: gap.moved.interval,
            p: gap.moved.corrected,
            direction: gap.direction(alpha),
        }
    };
    compared.gaps.iter().map(gap).collect()
}
