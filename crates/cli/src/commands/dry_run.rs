//! `facts audit --dry-run`: what an audit would be about, and how much it would have to do.

use facts_engine::distribution::Share;
use facts_report::text::{count, percent};
use facts_report::{Grid, Side};
use facts_run::columns::{Change, May};
use facts_run::{Expected, Failure, Outlook, Table};

/// Levels of a feature that are named; more are only counted.
const NAMED: usize = 6;

/// The outlook, to be printed.
pub(crate) fn page(
    outlook: &Outlook,
    expected: &Result<Expected, Failure>,
    table: &Table,
) -> String {
    let people = &outlook.people;
    let columns = outlook.roles.len();
    let rows = count(people.rows);
    let mut lines = vec![format!(
        "Data       {}: {rows} rows, {columns} columns",
        table.origin.name
    )];
    lines.push(match expected {
        Ok(expected) if expected.people < people.people => format!(
            "People     {} of {} would be audited; the model is fitted to the others",
            count(expected.people),
            count(people.people)
        ),
        _ => format!("People     {} would be audited", count(people.people)),
    });
    if people.dropped > 0 {
        let features: Vec<String> = (people.dropped_for.iter())
            .map(|(feature, rows)| format!("{feature} ({})", count(*rows)))
            .collect();
        lines.push(format!(
            "Dropped    {} rows for missing values of {}",
            count(people.dropped),
            features.join(", ")
        ));
    }
    if people.excluded > 0 {
        let rows = count(people.excluded);
        lines.push(format!("Excluded   {rows} rows without a protected value"));
    }
    lines.extend(
        outlook
            .notes
            .iter()
            .map(|note| format!("Note       {}", crate::args::by_flags(note))),
    );
    lines.push(match expected {
        Ok(expected) => format!("Subgroups  {expected}"),
        Err(why) => format!(
            "Subgroups  not counted: {}",
            crate::args::by_flags(&why.to_string())
        ),
    });
    format!(
        "{}\n\n{}\n{}",
        lines.join("\n"),
        groups(outlook).text(2),
        roles(outlook).text(2)
    )
}

/// The groups with their sizes and how often each has each outcome.
pub(crate) fn groups(outlook: &Outlook) -> Grid {
    let mut columns = vec![
        ("group".to_owned(), Side::Left),
        ("people".to_owned(), Side::Right),
    ];
    if let Some((label, values)) = &outlook.label {
        columns.extend(
            values
                .iter()
                .map(|value| (format!("{label} = {value}"), Side::Right)),
        );
    }
    let mut grid = Grid::new(columns);
    for group in &outlook.groups {
        let mut row = vec![group.name.clone(), count(group.people)];
        let known: u64 = group.outcomes.iter().sum();
        row.extend((group.outcomes.iter()).map(|&n| share(n, known)));
        grid.row(row);
    }
    grid
}

/// A share in percent.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    percent(Share::new(part, whole))
}

/// What each column would be.
fn roles(outlook: &Outlook) -> Grid {
    let heads = ["column", "role", "missing", "may change", "levels, or why"];
    let mut grid = Grid::new(heads.map(|head| {
        let side = if head == "missing" {
            Side::Right
        } else {
            Side::Left
        };
        (head, side)
    }));
    for (role, guess) in outlook.roles.iter().zip(&outlook.guessed) {
        let change = outlook
            .changes
            .iter()
            .find(|change| change.feature == role.column);
        let missing = guess.nulls
            + guess
                .missing_codes
                .iter()
                .map(|(_, rows)| rows)
                .sum::<usize>();
        let about = match (outlook.levels.get(&role.column), &role.why) {
            (Some(levels), _) => named(levels),
            (None, Some(why)) => why.clone(),
            (None, None) => String::new(),
        };
        let missing = if missing == 0 {
            String::new()
        } else {
            count(missing as u64)
        };
        let change = change.map_or_else(String::new, in_words);
        grid.row([
            role.column.clone(),
            role.role.to_owned(),
            missing,
            change,
            about,
        ]);
    }
    grid
}

fn named(levels: &[String]) -> String {
    match levels.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{}, … ({more} more)", levels[..NAMED].join(", ")),
        _ => levels.join(", "),
    }
}

/// Whether a feature may change, with who says so.
pub(crate) fn in_words(change: &Change) -> String {
    let may = match change.may {
        May::Change => "yes",
        May::OnlyUp => "only up",
        May::OnlyDown => "only down",
        May::Not => "no",
    };
    format!("{may} ({})", change.why)
}
