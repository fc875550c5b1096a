//! The tables of evidence: how a finding fares in each variant, and what the hold-out says.

use facts_engine::evidence::HeldOut;

use super::Followed;
use super::words::{p_cell, p_value, whole_percent};
use crate::grid::{Grid, Side};
use crate::report::Report;
use crate::text::{count, number};

/// How a finding fares in each variant of the audit.
pub fn variants(followed: &Followed) -> Grid {
    let mut grid = Grid::new([
        ("variant", Side::Left),
        ("score", Side::Right),
        ("rank", Side::Right),
        ("of", Side::Right),
        ("bias against", Side::Left),
        ("holds", Side::Left),
    ]);
    for one in &followed.variants {
        grid.row(variant_cells(one));
    }
    grid
}

/// The cells of one variant: what is different, score, rank, of how many, against whom, whether the
/// finding holds.
pub(crate) fn variant_cells(one: &super::Variant) -> [String; 6] {
    let Some(outcome) = &one.outcome else {
        return [&one.variant, "", "not ranked", "", "", "no"].map(str::to_owned);
    };
    [
        one.variant.clone(),
        number(outcome.score),
        outcome
            .rank
            .map_or_else(|| "Fair".to_owned(), |rank| count(u64::from(rank))),
        count(outcome.of as u64),
        names(&outcome.against),
        yes(outcome.holds).to_owned(),
    ]
}

/// What the hold-out says of the findings of the report's definitions.
pub fn hold_out(report: &Report<'_>) -> Grid {
    let mut grid = Grid::new(HOLD_OUT);
    for (title, held) in held_out(report) {
        let cells = held_out_cells(held);
        grid.row(std::iter::once(title.to_owned()).chain(cells));
    }
    grid
}

const HOLD_OUT: [(&str, Side); 9] = [
    ("definition", Side::Left),
    ("subgroup", Side::Left),
    ("bias against", Side::Left),
    ("found", Side::Right),
    ("tested", Side::Right),
    ("left", Side::Right),
    ("p", Side::Right),
    ("family-wise", Side::Right),
    ("confirmed", Side::Left),
];

/// The findings that were held out, with the titles of their definitions, in the report's order.
pub(crate) fn held_out<'r>(report: &'r Report<'_>) -> Vec<(&'r str, &'r HeldOut)> {
    let Some(held) = report.evidence().and_then(|found| found.hold_out.as_ref()) else {
        return Vec::new();
    };
    let of_column = |column: &'r crate::report::Column| {
        let of_it = held.findings.iter();
        let of_it = of_it.filter(|one| one.definition == column.ranking.definition);
        of_it.map(|one| (column.ranking.title.as_str(), one))
    };
    report.columns.iter().flat_map(of_column).collect()
}

/// The cells of one finding that was held out, after its definition.
pub(crate) fn held_out_cells(held: &HeldOut) -> [String; 8] {
    let predicate = held.predicate.clone();
    let (against, found) = (names(&held.found_against), number(held.found_score));
    let Some(tested) = &held.tested else {
        let [nobody, no] = ["nobody to test", "no"];
        return [&predicate, &against, &found, nobody, "", "", "", no].map(str::to_owned);
    };
    let turned = tested.score > 0.0 && tested.against != held.found_against;
    let left = if turned {
        "turned".to_owned()
    } else {
        let left = tested.shrinkage(held.found_score);
        left.map_or_else(String::new, whole_percent)
    };
    [
        predicate,
        against,
        found,
        number(tested.score),
        left,
        p_cell(tested.p, tested.source),
        p_value(tested.family_wise),
        yes(tested.confirmed).to_owned(),
    ]
}

fn names(groups: &[String]) -> String {
    let groups: Vec<&str> = groups.iter().map(|name| name.trim()).collect();
    groups.join(", ")
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
