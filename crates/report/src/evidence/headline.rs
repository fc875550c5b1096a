//! What an audit found, in a sentence or two, once chance is told apart.

use facts_engine::evidence::Evidence;
use facts_engine::ranking::Ranked;

use super::Tally;
use super::words::{NONE, NOT_FAIR, level, plural, several};
use crate::report::{Column, Report};
use crate::text::count;

/// How many findings pass and against whom they are, or that nothing was tested.
pub fn headline(report: &Report<'_>) -> Vec<String> {
    let Some(found) = report.evidence() else {
        return vec![format!("Evidence: {NONE}.")];
    };
    let tested: Vec<(&Column, Tally)> = (report.columns.iter())
        .filter_map(|column| Some((column, report.tally(column)?)))
        .collect();
    if tested.is_empty() {
        let none = "None of these definitions was tested: nothing here tells findings from chance.";
        return vec![none.to_owned()];
    }
    let sum = |of: fn(&Tally) -> usize| tested.iter().map(|(_, tally)| of(tally)).sum::<usize>();
    let unfair = sum(|tally| tally.unfair);
    let alpha = level(found.gathering.alpha);
    let passing: Vec<(&Column, usize)> = (tested.iter())
        .map(|(column, _)| (*column, passing(report, found, column).count()))
        .collect();
    let together = passing.iter().map(|(_, passing)| passing).sum();
    let mut lines = match (together, unfair) {
        (_, 0) => vec![format!(
            "No subgroup is unfair under the {} tested. {NOT_FAIR}.",
            several(tested.len() as u64, "definition")
        )],
        (0, _) => none_passes(found.tests.len(), &tested, &alpha),
        _ => {
            let under = passing.iter().filter(|(_, passing)| *passing > 0).count();
            let passed = format!(
                "{} of {} {} at α = {alpha}{}{}",
                count(together as u64),
                several(unfair as u64, "finding"),
                plural(together, "pass", "passes"),
                for_all(found.tests.len(), under),
                alone(found.tests.len(), sum(|tally| tally.family_wise)),
            );
            vec![against(report, found, &tested, together), passed]
        }
    };
    let untested = report.columns.len() - tested.len();
    if untested > 0 {
        let definitions = several(untested as u64, "more definition");
        lines.push(format!("{definitions} not tested."));
    }
    lines
}

/// The findings of a definition that pass for all definitions together. In an answer to "what did you
/// find?" this is what passing means.
fn passing<'a>(
    report: &'a Report<'_>,
    evidence: &'a Evidence,
    column: &'a Column,
) -> impl Iterator<Item = &'a Ranked> {
    let tests = report.record.tests_of(&column.ranking.definition);
    let passes = move |s: usize| tests.is_some_and(|tests| evidence.passes_together(tests, s));
    let ranked = column.ranking.unfair().iter();
    ranked.filter(move |ranked| passes(ranked.subgroup))
}

/// That several definitions were tested together, and under how many of them something passes.
fn for_all(definitions: usize, under: usize) -> String {
    match definitions {
        1 => " among all subgroups".to_owned(),
        _ => format!(" for all {definitions} definitions together, under {under} of them"),
    }
}

/// How many pass where each definition is looked at by itself, as its own list has them.
fn alone(definitions: usize, passing: usize) -> String {
    match definitions {
        1 => ".".to_owned(),
        _ => format!(
            ". Each definition by itself: {} {}.",
            count(passing as u64),
            plural(passing, "pass", "passes")
        ),
    }
}

/// That no finding passes, and that this is not fairness.
fn none_passes(definitions: usize, tested: &[(&Column, Tally)], alpha: &str) -> Vec<String> {
    let sum = |of: fn(&Tally) -> usize| tested.iter().map(|(_, tally)| of(tally)).sum::<usize>();
    let (by_itself, by_rate) = (
        sum(|tally| tally.family_wise),
        sum(|tally| tally.false_discovery),
    );
    let all = match definitions {
        1 => String::new(),
        _ => format!(" for all {definitions} definitions together"),
    };
    let (several, stands) = match (by_itself, by_rate) {
        (0, 0) => {
            return vec![format!(
                "No finding passes at α = {alpha}{all}. {NOT_FAIR}."
            )];
        }
        (0, by_rate) => (
            several(by_rate as u64, "finding"),
            ("stand", "stands", " by false discovery rate only", by_rate),
        ),
        (alone, _) => (
            several(alone as u64, "finding"),
            (
                "pass",
                "passes",
                " where each definition is looked at by itself",
                alone,
            ),
        ),
    };
    let (plural_form, singular, how, number) = stands;
    vec![format!(
        "No finding passes at α = {alpha}{all}; {several} {}{how}. {NOT_FAIR}.",
        plural(number, plural_form, singular)
    )]
}

/// Against whom those that pass are.
fn against(
    report: &Report<'_>,
    evidence: &Evidence,
    tested: &[(&Column, Tally)],
    together: usize,
) -> String {
    let passing_of = |column| passing(report, evidence, column);
    let passing = together;
    let groups = &report.record.audit.groups;
    let mut hit = vec![0; groups.len()];
    for (column, _) in tested {
        for ranked in passing_of(column) {
            (ranked.assessment.against.iter()).for_each(|&g| hit[g] += 1);
        }
    }
    let mut order: Vec<usize> = (0..hit.len()).filter(|&g| hit[g] > 0).collect();
    order.sort_by_key(|&g| std::cmp::Reverse(hit[g]));
    let name = |g: usize| format!("against '{}'", groups[g].name.trim());
    if passing == 1 {
        let each: Vec<String> = order.into_iter().map(name).collect();
        return format!("The one finding that passes is {}.", each.join(" and "));
    }
    let many = |g: usize| match hit[g] {
        hits if hits == passing => "all are".to_owned(),
        1 => "1 is".to_owned(),
        hits => format!("{} are", count(hits as u64)),
    };
    let each: Vec<String> = (order.into_iter())
        .map(|g| format!("{} {}", many(g), name(g)))
        .collect();
    let passing = several(passing as u64, "finding");
    format!("Of the {passing} that pass, {}.", each.join(", "))
}
