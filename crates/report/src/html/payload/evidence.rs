//! What supports the findings, for the subgroups one opens and for the table of them all.
//!
//! For each unfair subgroup: what it stands against, twice that and one more if its p-value is only a
//! bound, then its three p-values as places among texts in rising order. For each ranked one: the
//! least score that could have passed, as a place among texts from 1; 0 if none could. What was looked
//! at closely is written out in the header.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use facts_engine::evidence::{Interval, Source, Tested, clopper_pearson};
use facts_engine::ranking::Ranked;
use serde::Serialize;

use super::{Dictionary, Numbers, sentences};
use crate::evidence::words::{self, p_value};
use crate::evidence::{FindingEvidence, PairRow, Stands, grids, looked_at, of_finding, of_value};
use crate::report::{Column, Report};

/// The tests of one definition.
#[derive(Serialize)]
pub(super) struct HeaderTests {
    /// How many subgroups were tested together.
    family: usize,
    alpha: String,
    /// The p-values that occur, in rising order.
    p: Vec<String>,
    /// How many texts say what the least is that could have passed, and what stands around their numbers.
    least: usize,
    least_texts: Vec<Vec<String>>,
}

/// What is said about all intervals.
#[derive(Serialize)]
pub(super) struct HeaderIntervals {
    /// How sure they are, such as `95%`.
    confidence: String,
    /// Why a finding has none, if it has none; none if none has.
    not_close: Option<String>,
}

/// What is said about all intervals; none if no evidence was gathered.
pub(super) fn intervals(report: &Report<'_>) -> Option<HeaderIntervals> {
    let found = report.evidence()?;
    let alpha = found.gathering.alpha;
    Some(HeaderIntervals {
        confidence: words::confidence(alpha),
        not_close: words::not_close(looked_at(found)),
    })
}

/// Writes how far each effectiveness may be off, once for each share that occurs, by rising members and then
/// by rising part: first the lower ends, then the upper ones, in tenths of a percent, each as what it is above
/// the one before of as many members. Nothing if no evidence was gathered.
pub(super) fn write_shares(report: &Report<'_>, numbers: &mut Numbers) {
    let Some(found) = report.evidence() else {
        return;
    };
    let audit = &report.record.audit;
    let mut shares = BTreeSet::new();
    for subgroup in &audit.subgroups {
        for (g, &members) in subgroup.members.iter().enumerate() {
            let actions = 0..subgroup.actions.len();
            let flips = actions.filter_map(|action| subgroup.flips(action, g).known());
            shares.extend(flips.map(|flips| (members, flips)));
        }
    }
    let ends = shares.into_iter().map(|(members, flips)| {
        let interval = clopper_pearson(flips, members, found.gathering.alpha);
        (members, tenths(&interval))
    });
    let ends: Vec<(u64, Vec<usize>)> = ends.collect();
    for end in 0..2 {
        for of_as_many in ends.chunk_by(|a, b| a.0 == b.0) {
            let mut before = 0;
            for (_, ends) in of_as_many {
                // Both ends rise with the part.
                numbers.push(ends[end].saturating_sub(before));
                before = ends[end];
            }
        }
    }
}

/// The ends of an interval as they are shown, in tenths of a percent.
fn tenths(interval: &Interval) -> Vec<usize> {
    let shown = words::shares(interval);
    let digits = |end: &str| -> String { end.chars().filter(char::is_ascii_digit).collect() };
    let ends = shown.split(" to ");
    ends.map(|end| digits(end).parse().unwrap_or(0)).collect()
}

/// What was found by looking closely at one subgroup.
#[derive(Serialize)]
pub(super) struct HeaderClose {
    /// Whether it has intervals.
    intervals: bool,
    /// Intervals and stability, line by line.
    lines: Vec<String>,
    /// The interval of what is compared in each group, where it tells something.
    values: Vec<Option<String>>,
    /// What became of it in each variant.
    variants: Vec<[String; 6]>,
}

/// Writes the tests of a definition; none if it was not tested.
pub(super) fn write_tests(
    report: &Report<'_>,
    column: &Column,
    by_subgroup: &[Option<&Ranked>],
    numbers: &mut Numbers,
) -> Option<HeaderTests> {
    let alpha = report.evidence()?.gathering.alpha;
    let tests = report.tests(column)?;
    let ranked = by_subgroup.iter().enumerate();
    let rows: Vec<(&Ranked, Option<&Tested>)> = ranked
        .filter_map(|(s, ranked)| Some(((*ranked)?, tests.tested.get(s)?.as_ref())))
        .collect();
    let unfair = || {
        let rows = rows.iter().filter(|(ranked, _)| ranked.rank.is_some());
        rows.map(|(_, tested)| *tested)
    };
    let values = |tested: &Tested| [tested.p, tested.family_wise, tested.false_discovery];
    let mut rising: Vec<f64> = unfair().flatten().flat_map(values).collect();
    rising.sort_by(f64::total_cmp);
    let mut texts = Dictionary::default();
    for &p in &rising {
        texts.place(p_value(p));
    }
    for tested in unfair() {
        numbers.push(tested.map_or(NOT_TESTED, |tested| stands(tested, alpha)));
    }
    let parts: [fn(&Tested) -> f64; 3] = [|t| t.p, |t| t.family_wise, |t| t.false_discovery];
    for part in parts {
        for tested in unfair().flatten() {
            numbers.push(texts.place(p_value(part(tested))));
        }
    }
    let mut least = Dictionary::default();
    for (_, tested) in &rows {
        let found = tested.and_then(|tested| Some((tested.least_score?, tested.least_gap)));
        let place = |(score, gap)| least.place(words::could_pass(score, gap)) + 1;
        numbers.push(found.map_or(0, place));
    }
    Some(HeaderTests {
        family: tests.tested.iter().flatten().count(),
        alpha: words::level(alpha),
        p: texts.entries,
        least: least.entries.len(),
        least_texts: sentences::write(least.entries.into_iter().map(Some), numbers),
    })
}

const NOT_TESTED: usize = 8;

fn stands(tested: &Tested, alpha: f64) -> usize {
    let against = match Stands::new(tested, alpha) {
        Stands::FamilyWise => 0,
        Stands::FalseDiscovery => 1,
        Stands::Chance => 2,
        Stands::CannotTell => 3,
    };
    against * 2 + usize::from(tested.source == Source::Bound)
}

/// What was found by looking closely, by subgroup.
pub(super) fn close(report: &Report<'_>, column: &Column) -> BTreeMap<usize, HeaderClose> {
    let Some(found) = report.evidence() else {
        return BTreeMap::new();
    };
    let (audit, definition) = (&report.record.audit, &column.ranking.definition);
    let intervals = found
        .intervals
        .iter()
        .map(|one| (&one.definition, one.subgroup));
    let followed = found
        .stability
        .iter()
        .flat_map(|stability| &stability.findings);
    let followed = followed.map(|one| (&one.definition, one.subgroup));
    let subgroups: HashSet<usize> = intervals
        .chain(followed)
        .filter_map(|(id, subgroup)| (id == definition).then_some(subgroup))
        .collect();
    let ranked = column.ranking.ranked.iter();
    ranked
        .filter(|ranked| subgroups.contains(&ranked.subgroup))
        .map(|ranked| {
            let all = of_finding(audit, found, definition, ranked.subgroup);
            let values = ranked.assessment.values.iter().enumerate();
            let values = values.map(|(g, &value)| {
                let interval = of_value(found, definition, ranked.subgroup, g)?;
                let members = audit.subgroups[ranked.subgroup].members[g];
                words::best_of_value(value, &interval, members)
            });
            (ranked.subgroup, closely(&all, values.collect(), ranked))
        })
        .collect()
}

/// Which groups differ, of three or more, by subgroup that passes for all definitions together.
pub(super) fn pairs(report: &Report<'_>, column: &Column) -> BTreeMap<usize, String> {
    let tests = report.evidence().zip(report.tests(column));
    let Some((found, tests)) = tests else {
        return BTreeMap::new();
    };
    let audit = &report.record.audit;
    let of_subgroup = tests.pairs.chunk_by(|a, b| a.subgroup == b.subgroup);
    of_subgroup
        .filter_map(|pairs| {
            let row = |pair| PairRow::new(audit, pair, found.gathering.alpha);
            let rows: Vec<PairRow> = pairs.iter().map(row).collect();
            Some((pairs.first()?.subgroup, words::pairs(&rows)?))
        })
        .collect()
}

fn closely(all: &FindingEvidence, values: Vec<Option<String>>, ranked: &Ranked) -> HeaderClose {
    let variants = all.stability.iter().flat_map(|followed| &followed.variants);
    HeaderClose {
        intervals: all.intervals.is_some(),
        values,
        lines: words::close_lines(all, ranked.assessment.score),
        variants: variants.map(grids::variant_cells).collect(),
    }
}
