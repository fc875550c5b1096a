//! The answer as tables: people, stories, drivers.

use super::Sheet;
use crate::gaps::{GapRow, shown_words};
use crate::report::Report;

/// Who is refused and who has a way out: a row a group. Nothing in audits that have no answer.
pub fn people(report: &Report<'_>) -> Sheet {
    let rows = report
        .answered()
        .map_or_else(Vec::new, |answered| answered.people());
    let mut sheet = Sheet::new();
    sheet.text("group", rows.iter().map(|row| row.group.clone()));
    sheet.count("people", rows.iter().map(|row| Some(row.people)));
    sheet.count("refused", rows.iter().map(|row| Some(row.refused)));
    sheet.count("with a way", rows.iter().map(|row| row.with_a_way));
    let open =
        |row: &crate::answer::PeopleRow| Some(row.with_a_way? as f64 / row.refused.max(1) as f64);
    sheet.number("open", rows.iter().map(open));
    let interval = rows.iter().map(|row| row.open_interval);
    sheet.number("open from", interval.clone().map(|i| Some(i?.low)));
    sheet.number("open to", interval.map(|i| Some(i?.high)));
    sheet.number("median cost", rows.iter().map(|row| row.median_cost));
    sheet.number("mean cost", rows.iter().map(|row| row.mean_cost));
    let budgets = rows.first().map_or_else(Vec::new, |row| row.within.clone());
    for (place, (budget, _)) in budgets.into_iter().enumerate() {
        let within = rows.iter().map(|row| row.within.get(place).map(|w| w.1));
        sheet.count(format!("with a way within {budget}"), within);
    }
    sheet
}

/// The stories: a row each.
pub fn stories(report: &Report<'_>) -> Sheet {
    let rows = report
        .answered()
        .map_or_else(Vec::new, |answered| answered.stories());
    let mut sheet = Sheet::new();
    sheet.count("story", rows.iter().map(|row| Some(row.number as u64)));
    sheet.text("subgroup", rows.iter().map(|row| row.predicate.clone()));
    sheet.text("against", rows.iter().map(|row| row.against.clone()));
    sheet.number("at a loss", rows.iter().map(|row| Some(row.loss.people)));
    sheet.number(
        "at a loss, at least",
        rows.iter().map(|row| Some(row.loss.at_least)),
    );
    sheet.number("cost", rows.iter().map(|row| Some(row.cost)));
    for (g, group) in report.record.audit.groups.iter().enumerate() {
        let name = group.name.trim();
        let told = rows.iter().map(|row| Some(row.groups[g].people));
        sheet.count(format!("told {name}"), told);
        let with_a_way = rows.iter().map(|row| Some(row.groups[g].with_a_way));
        sheet.count(format!("with a way {name}"), with_a_way);
    }
    let why = || rows.iter().map(|row| row.why.as_ref());
    sheet.number("swap", why().map(|why| Some(why?.swap)));
    sheet.number("composition", why().map(|why| why?.composition));
    sheet.number("rest", why().map(|why| Some(why?.rest)));
    sheet.count(
        "stands for",
        rows.iter().map(|row| Some(row.stands_for as u64)),
    );
    sheet.text("sentence", rows.iter().map(|row| row.sentence.clone()));
    sheet
}

/// The items that go with the gap, those that widen it most first.
pub fn drivers(report: &Report<'_>) -> Sheet {
    let rows = report
        .answered()
        .map_or_else(Vec::new, |answered| answered.drivers());
    let mut sheet = Sheet::new();
    sheet.text("item", rows.iter().map(|row| row.item.clone()));
    sheet.number("shapley", rows.iter().map(|row| Some(row.value)));
    sheet.count(
        "refused, worse off",
        rows.iter().map(|row| Some(row.worse.whole)),
    );
    sheet.number(
        "open, worse off",
        rows.iter().map(|row| Some(row.worse.ratio())),
    );
    sheet.count(
        "refused, better off",
        rows.iter().map(|row| Some(row.better.whole)),
    );
    sheet.number(
        "open, better off",
        rows.iter().map(|row| Some(row.better.ratio())),
    );
    sheet
}

/// How the groups of each subgroup compare at any cost, how wide the gap is at most, and what is shown: a
/// row a subgroup, those with suppressed counts left out.
pub fn gaps(report: &Report<'_>) -> Sheet {
    let rows: Vec<Option<&GapRow>> = (report.gaps().subgroups.iter())
        .filter(|gap| gap.is_some())
        .map(Option::as_ref)
        .collect();
    let mut sheet = Sheet::new();
    let names = rows.iter().flatten().map(|row| row.subgroup.clone());
    sheet.text("subgroup", names);
    add_gaps(&rows, &mut sheet);
    sheet
}

/// The columns of gaps, for rows that may have none.
pub(super) fn add_gaps(rows: &[Option<&GapRow>], sheet: &mut Sheet) {
    let text = |of: fn(&GapRow) -> String| {
        let cell = move |row: &Option<&GapRow>| row.map_or_else(String::new, of);
        rows.iter().map(cell)
    };
    let number = |of: fn(&GapRow) -> Option<f64>| rows.iter().map(move |row| of((*row)?));
    sheet.text("least_open", text(|row| row.worst.clone()));
    sheet.text("most_open", text(|row| row.best.clone()));
    sheet.number("difference", number(|row| Some(row.difference)));
    sheet.number(
        "difference_low",
        number(|row| Some(row.difference_interval.low)),
    );
    sheet.number(
        "difference_high",
        number(|row| Some(row.difference_interval.high)),
    );
    sheet.number("ratio", number(|row| row.ratio));
    sheet.number("ratio_low", number(|row| Some(row.ratio_interval?.low)));
    sheet.number("ratio_high", number(|row| Some(row.ratio_interval?.high)));
    sheet.number("gap_at_most_alone", number(|row| Some(row.bound_alone)));
    sheet.number("gap_at_most", number(|row| Some(row.bound)));
    sheet.text("shown", text(|row| shown_words(row.shown, row.delta)));
}
