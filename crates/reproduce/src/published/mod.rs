//! What the paper prints: one file a data set, transcribed by table and figure number.
//!
//! Numbers stay as they were printed, as text: how many decimals stand there decides what equals them.

use serde::Deserialize;

/// The printed figures of one experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What the paper calls the number of affected individuals.
    pub affected: u64,
    /// What it calls the number of subgroups.
    pub subgroups: u64,
    /// The budgets of its columns.
    pub budgets: Vec<String>,
    /// The two groups, in the order of its ranking analysis.
    pub groups: [String; 2],
    /// The subgroups that it shows.
    pub showcased: Vec<Showcased>,
    /// Its ranking analysis: for each definition the number of rank 1, and how many of the first tenth are
    /// against each group.
    pub ranking: Table,
    /// Its aggregated rankings; blank where it has a dash.
    pub aggregated: Table,
}

/// A subgroup that the paper shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Showcased {
    /// The tables and figures that show it.
    pub source: String,
    /// The predicate, items in order of feature.
    pub predicate: String,
    /// The definition that the figure shows it under.
    pub definition: String,
    /// Whom it is said to be against.
    pub against: String,
    /// Its score.
    pub score: String,
    /// Definition, rank, against, score: a row for each definition; empty if only a figure shows it.
    #[serde(default)]
    pub table: Vec<[String; 4]>,
    /// What the figure says about each group.
    pub groups: Vec<ShowcasedGroup>,
}

/// A group of a subgroup that the paper shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowcasedGroup {
    /// The group.
    pub name: String,
    /// The share of its affected that the subgroup holds.
    pub covered: String,
    /// The change of each action that is listed, and its effectiveness.
    pub actions: Vec<[String; 2]>,
}

/// A printed table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its number.
    pub source: String,
    /// Its rows: a definition, then the cells.
    pub rows: Vec<Vec<String>>,
}

impl Published {
    /// Reads one of the files.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The definitions of the paper's columns, in their order.
    pub fn definitions(&self) -> impl Iterator<Item = &str> {
        (self.ranking.rows.iter()).filter_map(|row| row.first().map(String::as_str))
    }
}

/// Whether a number equals what was printed, to as many decimals as stand there, and at least to
/// `decimals`: trailing zeros are often left out in print.
pub(crate) fn equals_print(value: f64, printed: &str, decimals: usize) -> bool {
    let printed = printed.trim();
    let Ok(number) = printed.parse::<f64>() else {
        return false;
    };
    if value.is_infinite() || number.is_infinite() {
        return value == number;
    }
    let unit = 10f64.powi(self::decimals(printed).max(decimals) as i32);
    // Half a unit, and what rounding a half in either direction may add.
    (value - number).abs() <= 0.5 / unit + 1e-9
}

/// How many decimals a printed number has.
pub(crate) fn decimals(printed: &str) -> usize {
    let digits = printed.trim().split_once('.');
    digits.map_or(0, |(_, digits)| digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print_is_met_to_its_decimals() {
        assert!(equals_print(0.1134, "0.11", 2));
        assert!(!equals_print(0.1134, "0.11", 3));
        assert!(equals_print(0.2996, "0.3", 2));
        assert!(!equals_print(0.34, "0.3", 2));
        assert!(equals_print(0.00041, "0.0004", 2));
        assert!(equals_print(f64::INFINITY, "inf", 3));
        assert!(!equals_print(3.0, "inf", 3));
        assert!(equals_print(3.0, "3", 0));
        assert!(!equals_print(3.0, "Fair", 0));
    }
}
