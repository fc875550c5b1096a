//! Two audits compared: which findings appeared, vanished, grew, shrank.
//!
//! Both are ranked by the same definitions, those of the older audit unless others are given, since
//! a finding is known by its predicate, its definition with parameters, and the groups compared.

use std::collections::{HashMap, HashSet};

use facts_engine::definitions::{Definition, SCORE_GAP};
use facts_engine::population::Levels;
use facts_engine::{Audit, Error};
use serde::Serialize;

use crate::evidence::words::level;
use crate::finding::finding_id;
use crate::grid::{Grid, Side, escape};
use crate::json::JsonNumber;
use crate::record::Record;
use crate::report::{Column, Report};
use crate::text::{Palette, count, number, styled, visible};

/// The version of the form of a diff in JSON.
pub const DIFF_VERSION: u32 = 1;

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
            let mut meet =
                |predicate: &str, side: &Audited<'_>, old: Standing, new: Standing| match compare(
                    &old, &new,
                ) {
                    None => {}
                    Some(None) => diff.unchanged += 1,
                    Some(Some(change)) => changed.push(Changed {
                        finding: finding_id(predicate, definition, side.groups()),
                        change,
                        definition: definition.clone(),
                        predicate: predicate.to_owned(),
                        old,
                        new,
                    }),
                };
            for (&predicate, old) in &was {
                let new = match is.get(predicate) {
                    Some(new) if same_groups => new.clone(),
                    // Of other groups it is another finding.
                    Some(_) => Standing::Absent,
                    None => new_side.other(predicate),
                };
                meet(predicate, &old_side, old.clone(), new);
            }
            for (&predicate, new) in &is {
                match was.get(predicate) {
                    Some(_) if same_groups => {}
                    Some(_) => meet(predicate, &new_side, Standing::Absent, new.clone()),
                    None => meet(predicate, &new_side, old_side.other(predicate), new.clone()),
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

    fn about_unchanged(&self) -> String {
        let unchanged = count(self.unchanged as u64);
        format!("\n{unchanged} findings are unchanged.\n")
    }

    /// By definition with changes: its title, the first of each sort, and how many more there are.
    fn sections(&self, top: usize) -> impl Iterator<Item = (&str, Vec<&Changed>, usize)> {
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
    fn summary(&self) -> Grid {
        const SORTS: [(Change, &str); 5] = [
            (Change::Appeared, "appeared"),
            (Change::Grew, "grew"),
            (Change::Turned, "turned"),
            (Change::Shrank, "shrank"),
            (Change::Vanished, "vanished"),
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
    fn standings(&self, column: &Column) -> HashMap<&str, Standing> {
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
                (self.texts[ranked.subgroup].as_str(), standing)
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

/// The definitions that were tested in one of the audits only: whether findings pass by them cannot be
/// compared.
fn tested_once(old: &Record, new: &Record, definitions: &[String]) -> Vec<String> {
    let once = |is: &Record, is_not: &Record, when: &str| {
        let ids = definitions.iter();
        let ids: Vec<&str> = ids
            .filter(|id| is.tests_of(id).is_some() && is_not.tests_of(id).is_none())
            .map(String::as_str)
            .collect();
        (!ids.is_empty()).then(|| {
            format!(
                "tested {when} only, so that passing cannot be compared: {}; where budgets were chosen from the data, name the same ones in both audits (`report.budgets`)",
                ids.join(", ")
            )
        })
    };
    let (before, now) = (once(old, new, "before"), once(new, old, "now"));
    before.into_iter().chain(now).collect()
}

/// What keeps two audits from being compared like with like.
fn warnings(old: &Record, new: &Record, definitions: &[String]) -> Vec<String> {
    let mut warnings = tested_once(old, new, definitions);
    let mut differ = |what: &str, old: String, new: String| {
        if old != new {
            warnings.push(format!("{what} differ: {old} before, {new} now"));
        }
    };
    let groups = |record: &Record| {
        let names: Vec<&str> = record.audit.groups.iter().map(|g| g.name.trim()).collect();
        names.join(", ")
    };
    differ("the groups compared", groups(old), groups(new));
    let (a, b) = (&old.audit.settings, &new.audit.settings);
    let below = |record: &Record| {
        let suppression = record.audit.suppression;
        suppression.map_or_else(|| "none".to_owned(), |s| format!("below {}", s.k))
    };
    differ("the counts suppressed", below(old), below(new));
    differ("the supports", a.support.to_string(), b.support.to_string());
    differ(
        "the least numbers of members",
        a.min_members.to_string(),
        b.min_members.to_string(),
    );
    let longest = |most: Option<usize>| most.map_or_else(|| "any".to_owned(), |n| n.to_string());
    differ(
        "the most items of a predicate",
        longest(a.max_length),
        longest(b.max_length),
    );
    differ(
        "the rules of validity",
        format!("{:?}", a.validity),
        format!("{:?}", b.validity),
    );
    differ(
        "the uses of ranges",
        a.ranges.to_string(),
        b.ranges.to_string(),
    );
    let alpha = |record: &Record| Some(record.evidence.as_ref()?.gathering.alpha);
    if let (Some(a), Some(b)) = (alpha(old), alpha(new)) {
        differ("the levels α at which findings pass", level(a), level(b));
    }
    let short = |record: &Record| {
        let hash = record.data.sha256.as_deref()?;
        Some(hash.get(..12).unwrap_or(hash).to_owned())
    };
    if let (Some(a), Some(b)) = (short(old), short(new)) {
        differ("the data", a, b);
    }
    let by_name = |audit: &Audit| -> HashMap<String, Levels> {
        let features = audit.features.iter();
        features
            .map(|levels| (levels.name.clone(), levels.clone()))
            .collect()
    };
    let mut was = by_name(&old.audit);
    for is in &new.audit.features {
        match was.remove(&is.name) {
            None => warnings.push(format!("feature {} is new", is.name)),
            Some(was) => warnings.extend(levels_differ(&was, is)),
        }
    }
    let mut gone: Vec<String> = was.into_keys().collect();
    gone.sort();
    warnings.extend(
        gone.into_iter()
            .map(|name| format!("feature {name} is gone")),
    );
    warnings
}

fn levels_differ(old: &Levels, new: &Levels) -> Vec<String> {
    let mut warnings = Vec::new();
    if old.weight != new.weight {
        warnings.push(format!(
            "the cost weights of {} differ: {} before, {} now",
            new.name, old.weight, new.weight
        ));
    }
    if format!("{:?}", old.distance) != format!("{:?}", new.distance) {
        warnings.push(format!("the costs of {} differ", new.name));
    }
    if old.rules != new.rules {
        warnings.push(format!("the rules about changing {} differ", new.name));
    }
    let labels = |levels: &Levels| -> Vec<String> {
        let levels = levels.levels.iter();
        levels.map(|level| level.label.clone()).collect()
    };
    let (was, is) = (labels(old), labels(new));
    let bounds = |levels: &Levels| -> Vec<Option<(f64, f64)>> {
        levels.levels.iter().map(|level| level.bounds).collect()
    };
    if was != is {
        warnings.push(labels_differ(new, &was, &is));
    } else if bounds(old) != bounds(new) {
        warnings.push(format!(
            "the bins of {} are called the same and reach from elsewhere to elsewhere",
            new.name
        ));
    }
    warnings
}

fn labels_differ(new: &Levels, was: &[String], is: &[String]) -> String {
    let missing = |from: &[String], other: &[String]| -> String {
        let some: Vec<&str> = from
            .iter()
            .filter(|label| !other.contains(label))
            .map(|label| label.trim())
            .collect();
        let shown = some.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        match some.len() {
            0 => "none".to_owned(),
            n if n > 5 => format!("{shown} and {} more", n - 5),
            _ => shown,
        }
    };
    let binned = matches!(new.kind, facts_engine::population::Kind::Binned(_));
    let what = if binned { "bins" } else { "levels" };
    format!(
        "the {what} of {} differ: only before: {}; only now: {}; findings that name them cannot meet",
        new.name,
        missing(was, is),
        missing(is, was)
    )
}
