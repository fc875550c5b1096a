//! SQLite, whose columns have no types: every value has its own.
//!
//! The driver goes by the first rows, and fails where later ones hold something else. So each column
//! is asked what it holds and read as just that; and a first row that stands for nobody tells the driver.

use crate::statement::{Selected, quoted};

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Texts,
    Numbers,
    WholeNumbers,
}

/// So many columns are asked about at a time: a result has at most 2,000.
pub(crate) const AT_ONCE: usize = 500;

/// Asks of each column how many of its values are texts, and how many are numbers of either kind.
pub(crate) fn what_they_hold(table: &str, columns: &[String]) -> String {
    let asked = columns.iter().map(|name| {
        let of = format!("typeof({})", quoted(name));
        format!(
            "COALESCE(SUM({of} IN ('text', 'blob')), 0), COALESCE(SUM({of} = 'real'), 0), COALESCE(SUM({of} = 'integer'), 0)"
        )
    });
    let asked: Vec<String> = asked.collect();
    format!("SELECT {} FROM {table}", asked.join(", "))
}

impl Holds {
    /// What a column holds that has so many texts, and so many numbers of either kind.
    pub(crate) fn of(texts: i64, numbers: i64, whole: i64) -> Self {
        match (texts, numbers, whole) {
            (0, 0, 1..) => Self::WholeNumbers,
            (0, 1.., _) => Self::Numbers,
            _ => Self::Texts,
        }
    }

    /// The column, read as what it holds.
    pub(crate) fn selected(self, name: &str) -> Selected {
        match self {
            Self::Texts => Selected::cast(name, "TEXT"),
            // SQLite writes -0.0 as it writes 0.0, so that nothing tells which one a group holds: it is 0.0.
            Self::Numbers => Selected {
                expression: format!("CAST({} AS REAL) + 0.0", quoted(name)),
                ..Selected::as_it_is(name)
            },
            Self::WholeNumbers => Selected::as_it_is(name),
        }
    }

    /// A value of that kind.
    fn example(self) -> &'static str {
        match self {
            Self::Texts => "''",
            Self::Numbers => "0.5",
            Self::WholeNumbers => "0",
        }
    }
}

/// A statement whose first row stands for nobody and tells the type of each column; the last counts.
pub(crate) fn with_first_row(statement: &str, columns: &[Holds]) -> String {
    let mut row: Vec<&str> = columns.iter().map(|holds| holds.example()).collect();
    row.push("0");
    format!(
        "SELECT {} UNION ALL SELECT * FROM ({statement})",
        row.join(", ")
    )
}
