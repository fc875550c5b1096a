//! Two audits compared: what changed for people, and which findings appeared, vanished, grew, shrank.
//!
//! Both are ranked by the same definitions, those of the older audit unless others are given, since
//! a finding is known by its predicate, its definition with parameters, and the groups compared.

mod comparable;
mod people;

use std::collections::{HashMap, HashSet};

use facts_engine::Error;
use facts_engine::definitions::{Assessment, Definition, GroupValue, SCORE_GAP};
use serde::Serialize;

use self::comparable::warnings;
pub use self::people::{GroupChange, PeopleChange, Trend};
use crate::finding::finding_id;
use crate::grid::{Grid, Side, escape};
use crate::json::JsonNumber;
use crate::record::Record;
use crate::report::{Column, Report};
use crate::text::{Palette, count, number, styled, visible};

/// The version of the form of a diff in JSON.
pub const DIFF_VERSION: u32 = 2;

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Unfair in the new audit only.
    Appeared,
    /// Unfair in both, and more so in the new one.
    Grew,
    /// Unfair in both with the same score, but against others.
    Turned,
    /// Unfair in both, and less so in the new one.
    Shrank,
    /// Unfair in the old audit only.
    Vanished,
    /// Less unfair or fair in the new audit, because those who were better off lost: nobody who was
    /// worse off gained.
    LevelledDown,
}

/// How a finding stands in one of the two audits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Standing {
    /// Unfair.
    Unfair {
        /// Its rank.
        rank: u32,
        /// Its score.
        #[serde(serialize_with = "JsonNumber::write")]
        score: f64,
        /// The worse-off groups.
        against: Vec<String>,
        /// Whether it passes; none if it was not tested.
        passes: Option<bool>,
    },
    /// A ranked subgroup with score 0.
    Fair,
    /// A common subgroup for which no valid action was mined.
    WithoutActions,
    /// Not a common subgroup, or not told.
    Absent,
}

/// One finding that is not the same in both audits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// Its id.
    pub finding: String,
    /// What became of it.
    pub change: Change,
    /// The definition's id.
    pub definition: String,
    /// The predicate.
    pub predicate: String,
    /// How it stood.
    pub old: Standing,
    /// How it stands.
    pub new: Standing,
}

/// Two audits compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// What this is, for whoever reads it as JSON.
    pub kind: &'static str,
    /// The version of the form.
    pub version: u32,
    /// Why the two may not be comparable: bins, levels, groups, options that differ.
    pub warnings: Vec<String>,
    /// What changed for people; none if one of the audits has no answer.
    pub people: Option<PeopleChange>,
    /// The definitions compared by.
    pub definitions: Vec<String>,
    /// The same as one reads them.
    #[serde(skip)]
    pub titles: Vec<String>,
    /// How many findings are unfair in both with the same score and against the same groups.
    pub unchanged: usize,
    /// The others: by definition, then by what became of them, then the largest first.
    pub changed: Vec<Changed>,
}

impl Diff {
    /// Compares two audits by definitions.
    pub fn new(old: &Record, new: &Record, definitions: &[String]) -> Result<Self, Error> {
        let parse = || -> Result<Vec<Box<dyn Definition>>, Error> {
            let ids = definitions.iter();
            ids.map(|id| facts_engine::definitions::parse(id)).collect()
        };
        let (old, new) = (Report::by(old, parse()?), Report::by(new, parse()?));
        Ok(Self::of(&old, &new))
    }

    /// Compares two reports by the same definitions, in the same order.
    pub fn of(old: &Report<'_>, new: &Report<'_>) -> Self {
        let rankings = || old.columns.iter().map(|column| &column.ranking);
        let definitions: Vec<String> = rankings().map(|r| r.definition.clone()).collect();
        let (old_side, new_side) = (Audited::new(old), Audited::new(new));
        let mut diff = Self {
            kind: "facts-diff",
            version: DIFF_VERSION,
            warnings: warnings(old.record, new.record, &definitions),
            people: PeopleChange::new(old.record, new.record),
            titles: rankings().map(|r| r.title.clone()).collect(),
            definitions,
            unchanged: 0,
            changed: Vec::new(),
        };
        let same_groups = old_side.groups().eq(new_side.groups());
        for (old, new) in old.columns.iter().zip(&new.columns) {
            let definition = &old.ranking.definition;
            let (was, is) = (old_side.standings(old), new_side.standings(new));
            let mut changed = Vec::new();
            let mut meet = |predicate: &str, side: &Audited<'_>, old: Assessed, new: Assessed| {
                let Some(change) = compare(&old.standing, &new.standing) else {
                    return;
                };
                let Some(mut change) = change else {
                    diff.unchanged += 1;
                    return;
                };
                if matches!(change, Change::Shrank | Change::Vanished) && levelled_down(&old, &new)
                {
                    change = Change::LevelledDown;
                }
                changed.push(Changed {
                    finding: finding_id(predicate, definition, side.groups()),
                    change,
                    definition: definition.clone(),
                    predicate: predicate.to_owned(),
                    old: old.standing,
                    new: new.standing,
                });
            };
            for (&predicate, old) in &was {
                let new = match is.get(predicate) {
                    Some(new) if same_groups => new.clone(),
                    // Of other groups it is another finding.
                    Some(_) => Assessed::from(Standing::Absent),
                    None => Assessed::from(new_side.other(predicate)),
                };
                meet(predicate, &old_side, old.clone(), new);
            }
            for (&predicate, new) in &is {
                match was.get(predicate) {
                    Some(_) if same_groups => {}
                    Some(_) => meet(predicate, &new_side, Standing::Absent.into(), new.clone()),
                    None => {
                        let was = old_side.other(predicate).into();
                        meet(predicate, &new_side, was, new.clone());
                    }
                }
            }
            changed.sort_by(|a, b| {
                (a.change.cmp(&b.change))
                    .then_with(|| b.weight().total_cmp(&a.weight()))
                    .then_with(|| a.predicate.cmp(&b.predicate))
            });
            diff.changed.extend(changed);
        }
        diff
    }

    /// The comparison as text, with at most `top` findings of each sort and definition.
    pub fn text(&self, top: usize, palette: &Palette) -> String {
        let mut page = String::new();
        if let Some(people) = &self.people {
            page += &people.text(palette);
            page.push('\n');
        }
        for warning in &self.warnings {
            page += &format!(
                "{}: {}\n",
                styled(palette.bias, "warning"),
                visible(warning)
            );
        }
        if !self.warnings.is_empty() {
            page.push('\n');
        }
        page += &self.summary().text(0);
        page += &self.about_unchanged();
        for (title, shown, more) in self.sections(top) {
            page += &format!("\n{}\n", styled(palette.heading, title));
            for changed in &shown {
                page += &format!("{}\n", changed.text(palette));
            }
            if more > 0 {
                page += &format!("  … and {} more; -n shows more\n", count(more as u64));
            }
        }
        page
    }

    /// The comparison as Markdown.
    pub fn markdown(&self, top: usize) -> String {
        let mut page = "# Findings before and after\n\n".to_owned();
        if let Some(people) = &self.people {
            page += &people.markdown();
            page.push('\n');
        }
        for warning in &self.warnings {
            page += &format!("> {}\n\n", escape(warning));
        }
        page += &self.summary().markdown();
        page += &self.about_unchanged();
        for (title, shown, _) in self.sections(top) {
            page += &format!("\n## {}\n\n```\n", escape(title));
            for changed in shown {
                page += &format!("{}\n", changed.text(&Palette::PLAIN));
            }
            page += "```\n";
        }
        page
    }

    /// The comparison as one HTML page that needs nothing else.
    pub fn html(&self, top: usize) -> String {
        crate::html::comparison(self, top)
    }

    pub(crate) fn about_unchanged(&self) -> String {
        let unchanged = count(self.unchanged as u64);
        format!("\n{unchanged} findings are unchanged.\n")
    }

    /// By definition with changes: its title, the first of each sort, and how many more there are.
    pub(crate) fn sections(
        &self,
        top: usize,
    ) -> impl Iterator<Item = (&str, Vec<&Changed>, usize)> {
        let definitions = self.definitions.iter().zip(&self.titles);
        definitions.filter_map(move |(id, title)| {
            let all: Vec<&Changed> = self
                .changed
                .iter()
                .filter(|c| c.definition == *id)
                .collect();
            let sorts = all.chunk_by(|a, b| a.change == b.change);
            let shown: Vec<&Changed> = sorts
                .flat_map(|sort| sort.iter().take(top).copied())
                .collect();
            let more = all.len() - shown.len();
            (!shown.is_empty()).then_some((title.as_str(), shown, more))
        })
    }

    /// The counts by definition.
    pub(crate) fn summary(&self) -> Grid {
        const SORTS: [(Change, &str); 6] = [
            (Change::Appeared, "appeared"),
            (Change::Grew, "grew"),
            (Change::Turned, "turned"),
            (Change::Shrank, "shrank"),
            (Change::Vanished, "vanished"),
            (Change::LevelledDown, "levelled down"),
        ];
        let sorts = SORTS.map(|(_, name)| (name, Side::Right));
        let mut grid = Grid::new([("definition", Side::Left)].into_iter().chain(sorts));
        for (id, title) in self.definitions.iter().zip(&self.titles) {
            let of = |(sort, _): (Change, &str)| {
                let changed = self.changed.iter();
                let n = changed.filter(|c| c.definition == *id && c.change == sort);
                count(n.count() as u64)
            };
            grid.row(std::iter::once(title.clone()).chain(SORTS.map(of)));
        }
        grid
    }
}

impl Changed {
    /// How much it matters: how far the score moved; how large it is when only one audit has one.
    fn weight(&self) -> f64 {
        let score = |standing: &Standing| match standing {
            Standing::Unfair { score, .. } => *score,
            _ => 0.0,
        };
        let (old, new) = (score(&self.old), score(&self.new));
        if old == new { old } else { (new - old).abs() }
    }

    /// One line, as a person reads it.
    pub fn text(&self, palette: &Palette) -> String {
        let (sign, style) = match self.change {
            Change::Appeared => ("+", palette.bias),
            Change::Grew => ("^", palette.bias),
            Change::Turned => ("~", palette.who),
            Change::Shrank => ("v", palette.fair),
            Change::Vanished => ("-", palette.fair),
            Change::LevelledDown => ("=", palette.bias),
        };
        format!(
            "{} {}\n    {} -> {}  [{}]",
            styled(style, sign),
            styled(palette.who, &self.predicate),
            standing(&self.old),
            standing(&self.new),
            self.finding
        )
    }
}

fn standing(standing: &Standing) -> String {
    match standing {
        Standing::Unfair {
            rank,
            score,
            against,
            passes,
        } => {
            let against: Vec<&str> = against.iter().map(|name| name.trim()).collect();
            let passes = match passes {
                None => "",
                Some(true) => ", passes",
                Some(false) => ", does not pass",
            };
            format!(
                "{} against {} (rank {rank}{passes})",
                number(*score),
                against.join(" and ")
            )
        }
        Standing::Fair => "fair".to_owned(),
        Standing::WithoutActions => "no action mined".to_owned(),
        Standing::Absent => "not a common subgroup".to_owned(),
    }
}

/// What became of a finding; nothing if it is unfair in neither audit.
fn compare(old: &Standing, new: &Standing) -> Option<Option<Change>> {
    let unfair = |standing: &Standing| matches!(standing, Standing::Unfair { .. });
    let (
        Standing::Unfair {
            score: a,
            against: was,
            ..
        },
        Standing::Unfair {
            score: b,
            against: is,
            ..
        },
    ) = (old, new)
    else {
        return match (unfair(old), unfair(new)) {
            (false, true) => Some(Some(Change::Appeared)),
            (true, false) => Some(Some(Change::Vanished)),
            _ => None,
        };
    };
    // ∞ equals ∞, though their difference is not a number.
    Some(if a != b && (a - b).abs() >= SCORE_GAP {
        Some(if b > a { Change::Grew } else { Change::Shrank })
    } else if was != is {
        Some(Change::Turned)
    } else {
        None
    })
}

/// How a finding stands, and how its groups fare.
#[derive(Clone)]
struct Assessed {
    standing: Standing,
    assessment: Option<Assessment>,
}

impl From<Standing> for Assessed {
    fn from(standing: Standing) -> Self {
        Self {
            standing,
            assessment: None,
        }
    }
}

/// Whether a gap narrowed because those who were better off lost, and nobody who was worse off gained.
fn levelled_down(old: &Assessed, new: &Assessed) -> bool {
    let (Some(old), Some(new)) = (&old.assessment, &new.assessment) else {
        return false;
    };
    // The more, the better.
    let fares = |value: &GroupValue| match value {
        GroupValue::Cost(cost) => -cost,
        value => value.number(),
    };
    let pairs = || old.values.iter().zip(&new.values).enumerate();
    let moved = |was: &GroupValue, is: &GroupValue| match (fares(was), fares(is)) {
        (was, is) if was == is => 0.0,
        (was, is) => is - was,
    };
    let mut worse_off = pairs().filter(|(g, _)| old.against.contains(g));
    let mut better_off = pairs().filter(|(g, _)| !old.against.contains(g));
    !worse_off.any(|(_, (was, is))| moved(was, is) >= SCORE_GAP)
        && better_off.any(|(_, (was, is))| moved(was, is) <= -SCORE_GAP)
}

/// One of the two audits, by the text of predicates.
struct Audited<'a> {
    report: &'a Report<'a>,
    texts: Vec<String>,
    without: HashSet<String>,
}

impl<'a> Audited<'a> {
    fn new(report: &'a Report<'a>) -> Self {
        let audit = &report.record.audit;
        let text = |predicate| audit.text(predicate);
        Self {
            report,
            texts: audit.subgroups.iter().map(|s| text(&s.predicate)).collect(),
            without: audit
                .without_actions
                .iter()
                .map(|s| text(&s.predicate))
                .collect(),
        }
    }

    fn groups(&self) -> impl Iterator<Item = &str> {
        let groups = self.report.record.audit.groups.iter();
        groups.map(|group| group.name.as_str())
    }

    /// How each ranked subgroup stands under one definition.
    fn standings(&self, column: &Column) -> HashMap<&str, Assessed> {
        let groups = &self.report.record.audit.groups;
        let ranked = column.ranking.ranked.iter();
        ranked
            .map(|ranked| {
                let standing = match ranked.rank {
                    None => Standing::Fair,
                    Some(rank) => Standing::Unfair {
                        rank,
                        score: ranked.assessment.score,
                        against: (ranked.assessment.against.iter())
                            .map(|&g| groups[g].name.clone())
                            .collect(),
                        passes: self.report.passes(column, ranked.subgroup),
                    },
                };
                let assessment = Some(ranked.assessment.clone());
                let found = Assessed {
                    standing,
                    assessment,
                };
                (self.texts[ranked.subgroup].as_str(), found)
            })
            .collect()
    }

    /// How a subgroup stands that is not ranked.
    fn other(&self, predicate: &str) -> Standing {
        if self.without.contains(predicate) {
            Standing::WithoutActions
        } else {
            Standing::Absent
        }
    }
}
