//! The statements that are sent. Standard SQL: names in double quotes, columns by their places.

use crate::database::Kind;
use crate::zero;

/// Where the numbers of a column are cut: one number stands for each bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The column.
    pub column: String,
    /// Numbers that stay as they are.
    pub kept: Vec<f64>,
    /// What is not above this stays as it is. May be infinite.
    pub least: f64,
    /// Up to which number each bin goes, ascending, and the number that stands for it. The last end may be
    /// infinite. What is not a finite number falls into no bin.
    pub bins: Vec<(f64, f64)>,
}

/// What lies beyond this stays as it is, whatever bin it falls into: infinities, to be refused when people are
/// taken in. NaN does too: where a database compares it at all, it is greater than every number.
const GREAT: f64 = 1.7e308;

/// A column of a statement: what is selected, and by which name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) expression: String,
    /// Whether it may hold -0.0, which is to stay another value than 0.0.
    pub(crate) has_signed_zeros: bool,
}

impl Selected {
    pub(crate) fn as_it_is(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            expression: quoted(name),
            has_signed_zeros: false,
        }
    }

    pub(crate) fn cast(name: &str, to: &str) -> Self {
        Self {
            name: name.to_owned(),
            expression: format!("CAST({} AS {to})", quoted(name)),
            has_signed_zeros: false,
        }
    }

    /// The same, if its zeros have signs.
    pub(crate) fn with_signed_zeros(self) -> Self {
        Self {
            has_signed_zeros: true,
            ..self
        }
    }

    /// The column with one number for each bin.
    pub(crate) fn cut(cut: &Cut) -> Self {
        let number = format!("CAST({} AS DOUBLE PRECISION)", quoted(&cut.column));
        let mut cases = String::new();
        if !cut.kept.is_empty() {
            let kept: Vec<String> = cut.kept.iter().copied().map(literal).collect();
            cases += &format!(" WHEN {number} IN ({}) THEN {number}", kept.join(", "));
        }
        let least = literal(cut.least.max(-GREAT));
        cases += &format!(" WHEN {number} <= {least} THEN {number}");
        for &(end, stands) in cut.bins.iter().filter(|(_, stands)| stands.is_finite()) {
            cases += &format!(
                " WHEN {number} <= {} THEN {}",
                literal(end.min(GREAT)),
                literal(stands)
            );
        }
        Self {
            name: cut.column.clone(),
            expression: format!("CASE WHEN {number} IS NULL THEN NULL{cases} ELSE {number} END"),
            has_signed_zeros: false,
        }
    }
}

/// A name as SQL writes one that may hold anything.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A number as SQL reads it back to the last digit, as a floating one.
fn literal(number: f64) -> String {
    format!("CAST({number:e} AS DOUBLE PRECISION)")
}

/// Begins a transaction in which all queries see the same rows, where it is known how that is said.
pub(crate) fn begin(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::DuckDb(_) => Some("BEGIN TRANSACTION"),
        Kind::Sqlite(_) => Some("BEGIN"),
        Kind::Postgres => Some("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        Kind::Other => None,
    }
}

/// The columns of a table, without rows.
pub(crate) fn columns(table: &str) -> String {
    format!("SELECT * FROM {table} WHERE 1 = 0")
}

/// The distinct rows of a table, and how often each comes. In front of the count, for each column with signed zeros,
/// in their order, is whether the zero of a row is -0.0.
pub(crate) fn grouped(table: &str, columns: &[Selected], count: &str) -> String {
    let values = columns
        .iter()
        .map(|column| format!("{} AS {}", column.expression, quoted(&column.name)));
    let signs = columns.iter().filter(|column| column.has_signed_zeros);
    let signs = signs.enumerate().map(|(place, column)| {
        let name = quoted(&format!("{count} is minus {place}"));
        format!("{} AS {name}", zero::is_minus(&column.expression))
    });
    let keys: Vec<String> = values.chain(signs).collect();
    let places: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
    format!(
        "SELECT {}, COUNT(*) AS {} FROM {table} GROUP BY {}",
        keys.join(", "),
        quoted(count),
        places.join(", ")
    )
}

/// The same rows in the order of their first column, -0.0 in front of 0.0.
pub(crate) fn in_order(grouped: &str) -> String {
    format!("{grouped} ORDER BY 1, 2 DESC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_by_all_columns() {
        let columns = [
            Selected::as_it_is("a \"b\""),
            Selected::cast("day", "VARCHAR"),
        ];
        assert_eq!(
            grouped("t", &columns, "count"),
            "SELECT \"a \"\"b\"\"\" AS \"a \"\"b\"\"\", CAST(\"day\" AS VARCHAR) AS \"day\", \
             COUNT(*) AS \"count\" FROM t GROUP BY 1, 2"
        );
    }

    #[test]
    fn the_sign_of_a_zero_is_a_key() {
        let columns = [
            Selected::as_it_is("pay").with_signed_zeros(),
            Selected::as_it_is("sex"),
        ];
        assert_eq!(
            grouped("t", &columns, "count"),
            "SELECT \"pay\" AS \"pay\", \"sex\" AS \"sex\", \
             CAST(CASE WHEN \"pay\" <> 0 THEN 0 WHEN CAST(\"pay\" AS VARCHAR) LIKE '-%' THEN 1 ELSE 0 END AS BIGINT) \
             AS \"count is minus 0\", COUNT(*) AS \"count\" FROM t GROUP BY 1, 2, 3"
        );
    }

    #[test]
    fn numbers_are_cut_as_they_are_here() {
        let cut = Cut {
            column: "age".to_owned(),
            kept: vec![-9.0],
            least: 17.0,
            bins: vec![(30.5, 30.5), (f64::INFINITY, 90.0)],
        };
        let x = "CAST(\"age\" AS DOUBLE PRECISION)";
        let n = |number: &str| format!("CAST({number} AS DOUBLE PRECISION)");
        let (kept, least, first, last) = (n("-9e0"), n("1.7e1"), n("3.05e1"), n("9e1"));
        let great = n("1.7e308");
        assert_eq!(
            Selected::cut(&cut).expression,
            format!(
                "CASE WHEN {x} IS NULL THEN NULL WHEN {x} IN ({kept}) THEN {x} WHEN {x} <= {least} THEN {x} \
                 WHEN {x} <= {first} THEN {first} WHEN {x} <= {great} THEN {last} ELSE {x} END"
            )
        );
        let open = Cut {
            least: f64::NEG_INFINITY,
            kept: Vec::new(),
            ..cut
        };
        let (expression, least) = (Selected::cut(&open).expression, n("-1.7e308"));
        let begins = format!("CASE WHEN {x} IS NULL THEN NULL WHEN {x} <= {least} THEN {x} WHEN");
        assert!(expression.starts_with(&begins), "{expression}");
    }
}
