//! Evidence as tables: tests beside the subgroups, intervals, variants, the hold-out.

use facts_engine::evidence::{
    BootstrapIntervals, FindingIntervals, HeldOut, HeldOutTest, Interval, Outcome, Source, Tested,
};
use facts_engine::ranking::Ranked;

use super::Sheet;
use crate::evidence::{PairRow, Tally, words};
use crate::report::{Column, Report};

/// How many findings of each definition stand: a row for each, without numbers if it was not tested.
pub fn tests(report: &Report<'_>) -> Sheet {
    let tallies: Vec<(&Column, Option<Tally>)> = (report.columns.iter())
        .map(|column| (column, report.tally(column)))
        .collect();
    let mut sheet = Sheet::new();
    let definitions = tallies.iter().map(|(column, _)| &column.ranking.definition);
    sheet.text("definition", definitions.cloned());
    let mut count = |name: &str, of: fn(&Tally) -> usize| {
        let counts = tallies.iter().map(|(_, tally)| tally.as_ref());
        sheet.count(name, counts.map(|tally| Some(of(tally?) as u64)));
    };
    count("family", |tally| tally.family);
    count("unfair", |tally| tally.unfair);
    count("family_wise", |tally| tally.family_wise);
    count("false_discovery", |tally| tally.false_discovery);
    count("powerless", |tally| tally.powerless);
    sheet.number(
        "cut_off",
        tallies.iter().map(|(_, tally)| tally.as_ref()?.cut_off),
    );
    sheet
}

/// Adds what the tests say of each row; nothing is added if no evidence was gathered.
pub(super) fn add_tests(
    report: &Report<'_>,
    rows: &[(&Column, usize, Option<&Ranked>)],
    sheet: &mut Sheet,
) {
    if report.evidence().is_none() {
        return;
    }
    let tested: Vec<Option<&Tested>> = (rows.iter())
        .map(|&(column, subgroup, ranked)| {
            ranked?;
            report.tested(column, subgroup)
        })
        .collect();
    let number = |of: fn(&Tested) -> f64| tested.iter().map(move |one| one.map(of));
    sheet.number("p", number(|one| one.p));
    sheet.number("family_wise", number(|one| one.family_wise));
    sheet.number("false_discovery", number(|one| one.false_discovery));
    let definitions = report.evidence().map_or(1, |evidence| evidence.tests.len());
    let together = tested.iter();
    let together = together.map(|one| one.map(|one| one.together(definitions)));
    sheet.number("together", together);
    let passes = |&(column, subgroup, ranked): &(&Column, usize, Option<&Ranked>)| {
        let passes = report.passes(column, subgroup)?;
        Some(passes && ranked?.rank.is_some())
    };
    sheet.flag("passes", rows.iter().map(passes));
    sheet.number(
        "least_score",
        tested.iter().map(|one| one.and_then(|one| one.least_score)),
    );
    let source = |one: &Option<&Tested>| one.map_or("", |one| named_source(one.source));
    sheet.text("source", tested.iter().map(|one| source(one).to_owned()));
    if report.record.audit.groups.len() > 2 {
        let differ = |&(column, subgroup, _): &(&Column, usize, Option<&Ranked>)| {
            let shown = pairs_of(report, column, subgroup).into_iter();
            let shown: Vec<String> = shown
                .filter(|pair| pair.differ)
                .map(|pair| words::pair(&pair))
                .collect();
            shown.join("; ")
        };
        sheet.text("pairs shown to differ", rows.iter().map(differ));
    }
}

/// The pairs of groups of a finding that were tested.
fn pairs_of(report: &Report<'_>, column: &Column, subgroup: usize) -> Vec<PairRow> {
    let tests = report.evidence().zip(report.tests(column));
    tests.map_or_else(Vec::new, |(found, tests)| {
        let row = |pair| PairRow::new(&report.record.audit, pair, found.gathering.alpha);
        tests.pairs_of(subgroup).iter().map(row).collect()
    })
}

/// The pairs of groups of all findings that pass for all definitions together, where there are three groups
/// or more: a row for each pair.
pub fn pairs(report: &Report<'_>) -> Sheet {
    let mut rows: Vec<(&Column, usize, PairRow)> = Vec::new();
    for column in &report.columns {
        for ranked in &column.ranking.ranked {
            let pairs = pairs_of(report, column, ranked.subgroup).into_iter();
            rows.extend(pairs.map(|pair| (column, ranked.subgroup, pair)));
        }
    }
    let mut sheet = Sheet::new();
    named(report, rows.iter().map(|row| (row.0, row.1)), &mut sheet);
    let pairs = || rows.iter().map(|row| &row.2);
    sheet.text("group", pairs().map(|pair| pair.groups[0].clone()));
    sheet.text("other group", pairs().map(|pair| pair.groups[1].clone()));
    sheet.text("worse off", pairs().map(|pair| pair.worse_off.join("; ")));
    sheet.number("score", pairs().map(|pair| Some(pair.score)));
    sheet.number("p", pairs().map(|pair| Some(pair.p)));
    sheet.number("together", pairs().map(|pair| Some(pair.together)));
    let source = pairs().map(|pair| named_source(pair.source).to_owned());
    sheet.text("source", source);
    sheet.flag("differ", pairs().map(|pair| Some(pair.differ)));
    sheet
}

/// The intervals of the findings that were looked at closely: a row for each.
pub fn intervals(report: &Report<'_>) -> Sheet {
    let found = report.evidence().map_or(&[][..], |found| &found.intervals);
    let rows: Vec<(&Column, &FindingIntervals)> = of_columns(report, found, |one| &one.definition);
    let mut sheet = Sheet::new();
    let places = rows.iter().map(|(column, one)| (*column, one.subgroup));
    named(report, places, &mut sheet);
    let mut both = |name: &str, of: &dyn Fn(&FindingIntervals) -> Option<BootstrapIntervals>| {
        let each = || rows.iter().map(|(_, one)| of(one));
        ends(
            &mut sheet,
            &format!("{name} percentile"),
            each().map(|b| Some(b?.percentile)),
        );
        ends(&mut sheet, &format!("{name} bca"), each().map(|b| b?.bca));
    };
    both("score", &|one| Some(one.score));
    both("gap", &|one| Some(one.gap));
    for (g, group) in report.record.audit.groups.iter().enumerate() {
        both(&format!("value {}", group.name), &|one| {
            one.values.get(g).copied()
        });
    }
    sheet.number("infinite", rows.iter().map(|(_, one)| Some(one.infinite)));
    sheet
}

/// How findings fare under other settings and samples: a row for each finding and variant.
pub fn stability(report: &Report<'_>) -> Sheet {
    let stability = report.evidence().and_then(|found| found.stability.as_ref());
    let findings = stability.map_or(&[][..], |found| &found.findings);
    let variants = stability.map_or(&[][..], |found| &found.variants);
    let mut rows: Vec<(&Column, usize, &str, Option<&Outcome>)> = Vec::new();
    for (column, one) in of_columns(report, findings, |one| &one.definition) {
        let outcomes = variants.iter().zip(&one.outcomes);
        rows.extend(
            outcomes.map(|(variant, outcome)| {
                (column, one.subgroup, variant.as_str(), outcome.as_ref())
            }),
        );
    }
    let mut sheet = Sheet::new();
    named(report, rows.iter().map(|row| (row.0, row.1)), &mut sheet);
    sheet.text("variant", rows.iter().map(|row| row.2.to_owned()));
    let outcomes = || rows.iter().map(|row| row.3);
    sheet.count("rank", outcomes().map(|o| o?.rank.map(u64::from)));
    sheet.count("of", outcomes().map(|o| Some(o?.of as u64)));
    sheet.number("score", outcomes().map(|o| Some(o?.score)));
    sheet.text(
        "against",
        outcomes().map(|o| o.map_or_else(String::new, |o| o.against.join("; "))),
    );
    sheet.flag(
        "same_groups",
        outcomes().map(|o| Some(o.is_some_and(|o| o.same_groups))),
    );
    sheet.flag(
        "holds",
        outcomes().map(|o| Some(o.is_some_and(|o| o.holds))),
    );
    sheet
}

/// What the people who were held out say of findings: a row for each.
pub fn hold_out(report: &Report<'_>) -> Sheet {
    let held = report.evidence().and_then(|found| found.hold_out.as_ref());
    let findings = held.map_or(&[][..], |held| &held.findings);
    let rows: Vec<(&Column, &HeldOut)> = of_columns(report, findings, |one| &one.definition);
    let mut sheet = Sheet::new();
    let found = || rows.iter().map(|(_, one)| *one);
    let tested = || rows.iter().map(|(_, one)| one.tested.as_ref());
    let id = |one: &HeldOut| report.finding_id(&one.predicate, &one.definition);
    sheet.text("finding", found().map(id));
    let definitions = rows
        .iter()
        .map(|(column, _)| column.ranking.definition.clone());
    sheet.text("definition", definitions);
    sheet.text("subgroup", found().map(|one| one.predicate.clone()));
    sheet.text(
        "found against",
        found().map(|one| one.found_against.join("; ")),
    );
    sheet.number("found score", found().map(|one| Some(one.found_score)));
    sheet.number("tested score", tested().map(|one| Some(one?.score)));
    let left = |one: &HeldOut| one.tested.as_ref()?.shrinkage(one.found_score);
    sheet.number("left", found().map(left));
    let against = |one: Option<&HeldOutTest>| one.map(|one| one.against.join("; "));
    sheet.text(
        "tested against",
        tested().map(|one| against(one).unwrap_or_default()),
    );
    sheet.number("p", tested().map(|one| Some(one?.p)));
    let source = |one: Option<&HeldOutTest>| one.map_or("", |one| named_source(one.source));
    sheet.text("source", tested().map(|one| source(one).to_owned()));
    sheet.number("family_wise", tested().map(|one| Some(one?.family_wise)));
    sheet.flag(
        "confirmed",
        tested().map(|one| Some(one.is_some_and(|one| one.confirmed))),
    );
    for (g, group) in report.record.audit.groups.iter().enumerate() {
        let members = found().map(|one| one.found_members.get(g).copied());
        sheet.count(format!("found members {}", group.name), members);
        let members = tested().map(|one| one?.members.get(g).copied());
        sheet.count(format!("tested members {}", group.name), members);
    }
    sheet
}

/// Where a p-value comes from, in a word.
fn named_source(source: Source) -> &'static str {
    match source {
        Source::Exact => "exact",
        Source::Bound => "bound",
        Source::Permutations => "shuffles",
    }
}

/// What there is about the report's definitions, definition by definition.
fn of_columns<'r, T>(
    report: &'r Report<'_>,
    all: &'r [T],
    definition: impl Fn(&T) -> &String,
) -> Vec<(&'r Column, &'r T)> {
    let mut found = Vec::new();
    for column in &report.columns {
        let of_it = (all.iter()).filter(|one| *definition(one) == column.ranking.definition);
        found.extend(of_it.map(|one| (column, one)));
    }
    found
}

/// Which finding, by which definition, of which subgroup.
fn named<'r>(
    report: &Report<'_>,
    rows: impl Iterator<Item = (&'r Column, usize)> + Clone,
    sheet: &mut Sheet,
) {
    let audit = &report.record.audit;
    let text = |subgroup: usize| audit.text(&audit.subgroups[subgroup].predicate);
    let id = |(column, subgroup): (&Column, usize)| {
        report.finding_id(&text(subgroup), &column.ranking.definition)
    };
    sheet.text("finding", rows.clone().map(id));
    let definitions = rows.clone().map(|row| row.0.ranking.definition.clone());
    sheet.text("definition", definitions);
    sheet.text("subgroup", rows.map(|row| text(row.1)));
}

/// Both ends of intervals.
fn ends(sheet: &mut Sheet, name: &str, each: impl Iterator<Item = Option<Interval>>) {
    let each: Vec<Option<Interval>> = each.collect();
    sheet.number(
        format!("{name} low"),
        each.iter().map(|one| Some(one.as_ref()?.low)),
    );
    sheet.number(
        format!("{name} high"),
        each.iter().map(|one| Some(one.as_ref()?.high)),
    );
}
