//! A series of audits: has anything changed since the first, whenever one looks?
//!
//! The engine says how much of α each look may spend; each look is then compared as any two audits are.

use facts_engine::Error;
use facts_engine::comparison;
use serde::Serialize;

use super::{Change, Diff, Trend, report_by};
use crate::evidence::words::{level, p_value};
use crate::grid::{Grid, Side, escape};
use crate::record::Record;
use crate::text::{Palette, count, styled, visible};

/// The version of the form of a series in JSON.
const SERIES_VERSION: u32 = 1;

/// A series of audits, each compared with the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesDiff {
    /// What this is, for whoever reads it as JSON.
    pub kind: &'static str,
    /// The version of the form.
    pub version: u32,
    /// The level α of all looks together, however many follow.
    pub alpha: f64,
    /// What the first audit is called.
    pub first: String,
    /// When it was made.
    pub first_made: String,
    /// The number of the first look that shows a change; none if no look does.
    pub first_change: Option<usize>,
    /// The looks, in their order.
    pub looks: Vec<LookDiff>,
}

/// One look at how things stand, beside the first audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LookDiff {
    /// Its number, from 1.
    pub look: usize,
    /// What the audit is called.
    pub name: String,
    /// When it was made.
    pub made: String,
    /// How much of α it may spend.
    pub spends: f64,
    /// The least p-value, corrected for all that was compared at this look; none if other groups are
    /// compared.
    pub least_p: Option<f64>,
    /// Whether it shows a change since the first audit: the least p-value is at most what it may spend.
    pub shows_change: bool,
    /// All that changed since the first audit, tested at what the look may spend.
    pub diff: Diff,
}

impl SeriesDiff {
    /// Compares each later audit with the first by definitions, in the order given; audits come with what
    /// they are called.
    pub fn new(
        (first, old): (&str, &Record),
        later: &[(String, &Record)],
        definitions: &[String],
        alpha: f64,
    ) -> Result<Self, Error> {
        let budgets = report_by(old, definitions)?.budgets();
        let sides = later.iter().map(|(_, record)| record.side());
        let sides: Vec<_> = std::iter::once(old.side()).chain(sides).collect();
        let series = comparison::series(&sides, &budgets, alpha);
        let looks = later.iter().zip(&series.looks).enumerate();
        let looks = looks.map(|(place, ((name, record), look))| {
            let comparison = look.comparison.as_ref();
            let mut diff = Diff::with(old, record, definitions, comparison)?;
            diff.alpha = look.spends;
            Ok(LookDiff {
                look: place + 1,
                name: name.clone(),
                made: record.made.clone(),
                spends: look.spends,
                least_p: comparison.map(comparison::Comparison::least_p),
                shows_change: look.shows_change(),
                diff,
            })
        });
        Ok(Self {
            kind: "facts-series",
            version: SERIES_VERSION,
            alpha,
            first: first.to_owned(),
            first_made: old.made.clone(),
            first_change: series.first_change(),
            looks: looks.collect::<Result<_, Error>>()?,
        })
    }

    /// What the series comes to, in two sentences.
    pub fn sentence(&self) -> String {
        let held = format!(
            "Chance alone shows a change at any look, however many follow, with probability {} at most.",
            level(self.alpha)
        );
        match self.first_change.and_then(|n| self.looks.get(n - 1)) {
            None => format!(
                "No change since {} is shown at any of {} looks. {held}",
                self.first,
                count(self.looks.len() as u64)
            ),
            Some(look) => format!(
                "Look {} ({}) is the first that shows a change since {}. {held}",
                look.look, look.name, self.first
            ),
        }
    }

    fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            ("look", Side::Right),
            ("audit", Side::Left),
            ("made", Side::Left),
            ("may spend", Side::Right),
            ("least p", Side::Right),
            ("change", Side::Left),
            ("people", Side::Left),
            ("gaps grew", Side::Right),
            ("shrank", Side::Right),
            ("levelled down", Side::Right),
            ("turned", Side::Right),
            ("shares fell", Side::Right),
            ("rose", Side::Right),
        ]);
        for look in &self.looks {
            let people = look.diff.people.as_ref();
            let tally = look.diff.subgroups.unwrap_or_default();
            let gaps = [tally.grew, tally.shrank, tally.levelled_down, tally.turned];
            let numbers = gaps.into_iter().chain([tally.fell, tally.rose]);
            let told = [
                look.look.to_string(),
                look.name.clone(),
                look.made.clone(),
                p_value(look.spends),
                look.least_p
                    .map_or_else(|| "other groups".to_owned(), p_value),
                if look.shows_change {
                    "shown"
                } else {
                    "none shown"
                }
                .to_owned(),
                people
                    .map_or("not told", |p| p.trend.words())
                    .to_lowercase(),
            ];
            let numbers = numbers.map(|n| count(n as u64));
            grid.row(told.into_iter().chain(numbers));
        }
        grid
    }

    /// The look whose changes are shown in full: the newest that shows one.
    fn shown(&self) -> Option<&LookDiff> {
        self.looks.iter().rev().find(|look| look.shows_change)
    }

    /// The series as text; the newest look that shows a change with at most `top` findings of each sort.
    pub fn text(&self, top: usize, palette: &Palette) -> String {
        let (style, word) = match self.first_change {
            None => (palette.who, "NO CHANGE SHOWN"),
            Some(_) => (palette.bias, "CHANGED"),
        };
        let mut page = format!(
            "{}\n{}\n\n{}",
            styled(style, word),
            visible(&self.sentence()),
            self.grid().text(2)
        );
        if let Some(look) = self.shown() {
            let heading = format!("Look {}: {} beside {}", look.look, look.name, self.first);
            page += &format!("\n{}\n", styled(palette.heading, visible(&heading)));
            page += &look.only_shown().text(top, palette);
        }
        page
    }

    /// The series as Markdown.
    pub fn markdown(&self, top: usize) -> String {
        let mut page = format!(
            "# Audits over time\n\n{}\n\n{}",
            escape(&self.sentence()),
            self.grid().markdown()
        );
        if let Some(look) = self.shown() {
            let heading = format!("Look {}: {} beside {}", look.look, look.name, self.first);
            let whole = look.only_shown().markdown(top);
            // One level further down.
            let deeper = whole.replace("\n## ", "\n#### ");
            let deeper = deeper.replacen("# Findings", "### Findings", 1);
            page += &format!("\n## {}\n\n{deeper}", escape(&heading));
        }
        page
    }

    /// The series as one HTML page that needs nothing else.
    pub fn html(&self, top: usize) -> String {
        let look = self.shown().map(|look| {
            let heading = format!("Look {}: {} beside {}", look.look, look.name, self.first);
            (heading, look.only_shown())
        });
        crate::html::series(
            &self.sentence(),
            self.first_change.is_some(),
            &self.grid(),
            look.as_ref()
                .map(|(heading, diff)| (heading.as_str(), diff)),
            top,
        )
    }
}

impl LookDiff {
    /// Its changes, without those that cannot be told from chance.
    fn only_shown(&self) -> Diff {
        let mut diff = self.diff.clone();
        diff.changed
            .retain(|changed| changed.change != Change::TooClose);
        diff
    }

    /// For whom it became better or worse; none if one of the audits has no answer.
    pub fn trend(&self) -> Option<Trend> {
        self.diff.people.as_ref().map(|people| people.trend)
    }
}
