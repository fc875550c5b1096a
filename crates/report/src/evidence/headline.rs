//! What an audit found, in a sentence or two, once chance is told apart.

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
    let (passing, unfair) = (sum(|tally| tally.family_wise), sum(|tally| tally.unfair));
    let definitions = several(tested.len() as u64, "definition");
    let alpha = level(found.gathering.alpha);
    let mut lines = match (passing, unfair) {
        (_, 0) => vec![format!(
            "No subgroup is unfair under the {definitions} tested. {NOT_FAIR}."
        )],
        (0, _) => vec![none_passes(sum(|tally| tally.false_discovery), &alpha)],
        _ => {
            let with = tested.iter().filter(|(_, tally)| tally.family_wise > 0);
            let passed = format!(
                "{} of {} {} at α = {alpha} among all subgroups of a definition, under {} of {definitions} tested{}.",
                count(passing as u64),
                several(unfair as u64, "finding"),
                plural(passing, "pass", "passes"),
                with.count(),
                ["", "; the others do not"][usize::from(passing < unfair)],
            );
            let together = together(report, &tested, found.gathering.shuffles, &alpha);
            let against = against(report, &tested, passing);
            [against, passed].into_iter().chain(together).collect()
        }
    };
    let untested = report.columns.len() - tested.len();
    if untested > 0 {
        let definitions = several(untested as u64, "more definition");
        lines.push(format!("{definitions} not tested."));
    }
    lines
}

/// Each definition is a family of its own, so several of them have several chances to err. How many
/// findings pass when that is taken into account, by Bonferroni's correction of what was corrected
/// already; none where there is one definition only.
fn together(
    report: &Report<'_>,
    tested: &[(&Column, Tally)],
    shuffles: usize,
    alpha: &str,
) -> Option<String> {
    let evidence = report.evidence()?;
    let definitions = evidence.tests.len();
    if definitions == 1 {
        return None;
    }
    let each = format!("α = {alpha} holds for each definition by itself");
    if definitions as f64 / (shuffles + 1) as f64 > evidence.gathering.alpha {
        return Some(format!(
            "{each}; {} are too few to tell what passes for all {definitions} together.",
            several(shuffles as u64, "permutation")
        ));
    }
    let of_column = |(column, _): &(&Column, Tally)| {
        let tests = report.record.tests_of(&column.ranking.definition);
        let ranked = column.ranking.unfair().iter();
        let passes = |s: usize| tests.is_some_and(|tests| evidence.passes_together(tests, s));
        ranked.filter(|ranked| passes(ranked.subgroup)).count()
    };
    let passing: usize = tested.iter().map(of_column).sum();
    Some(format!(
        "{each}; for all {definitions} together (one step-down over all), {} {}.",
        match passing {
            0 => "none".to_owned(),
            some => count(some as u64),
        },
        plural(passing.max(1), "pass", "passes")
    ))
}

/// That no finding passes, and that this is not fairness.
fn none_passes(by_rate: usize, alpha: &str) -> String {
    let chance = match by_rate {
        0 => "none can be told from chance".to_owned(),
        _ => format!(
            "{} {} by false discovery rate only, the others do not",
            several(by_rate as u64, "finding"),
            plural(by_rate, "stand", "stands"),
        ),
    };
    format!("No finding passes at α = {alpha}: {chance}. {NOT_FAIR}.")
}

/// Against whom those that pass are.
fn against(report: &Report<'_>, tested: &[(&Column, Tally)], passing: usize) -> String {
    let groups = &report.record.audit.groups;
    let mut hit = vec![0; groups.len()];
    for (column, _) in tested {
        for ranked in &report.passing(column).ranked {
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
