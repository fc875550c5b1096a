//! The paper's experiments, each with its set-up as a `facts.toml`, what was printed about it, and an
//! account of what differs.

mod adult_model;

use serde::Serialize;

pub use self::adult_model::authors_model;
use crate::published::Published;

/// One experiment of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is called in a heading.
    pub title: &'static str,
    /// Where its rows come from.
    pub table: Table,
    /// The authors' cleaning, bins, weights and rules, as a configuration of `facts`.
    pub config: &'static str,
    /// Why ours differ from theirs, in Markdown.
    pub account: &'static str,
    published: &'static str,
}

/// Where the rows of an experiment come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// UCI Adult, which comes along.
    Adult,
    /// ProPublica's COMPAS table, which comes along.
    Compas,
    /// Chicago's Strategic Subject List, for which a stand-in comes along.
    Ssl,
    /// IBM's advertising data, for which a stand-in comes along.
    AdCampaign,
}

impl Table {
    /// Whether its rows do not come along, and generated ones stand in for them.
    pub fn is_generated(self) -> bool {
        matches!(self, Self::Ssl | Self::AdCampaign)
    }
}

/// Whose split and model an experiment is run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The authors' split, and their model where it is known.
    Authors,
    /// The split and the training that `facts` has on its own.
    Own,
}

impl Variant {
    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Authors => "authors",
            Self::Own => "own",
        }
    }
}

macro_rules! experiment {
    ($name:literal, $title:literal, $table:expr) => {
        Experiment {
            name: $name,
            title: $title,
            table: $table,
            config: include_str!(concat!($name, ".toml")),
            account: include_str!(concat!($name, ".md")),
            published: include_str!(concat!("../published/", $name, ".toml")),
        }
    };
}

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 5] = [
    experiment!("adult-sex", "Adult, sex protected", Table::Adult),
    experiment!("adult-race", "Adult, race protected", Table::Adult),
    experiment!("compas", "COMPAS, race protected", Table::Compas),
    experiment!("ssl", "SSL, race protected", Table::Ssl),
    experiment!(
        "ad-campaign",
        "Ad Campaign, gender protected",
        Table::AdCampaign
    ),
];

impl Experiment {
    /// The experiment of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }

    /// What the paper prints about it.
    pub fn published(&self) -> Result<Published, toml::de::Error> {
        Published::parse(self.published)
    }

    /// Whether the authors' fitted model is known, so that none has to be fitted.
    pub fn has_authors_model(&self) -> bool {
        self.name == "adult-sex"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authors::Measure;

    #[test]
    fn what_was_transcribed_is_whole() {
        for experiment in EXPERIMENTS {
            let published = experiment.published().unwrap();
            let definitions: Vec<&str> = published.definitions().collect();
            assert_eq!(definitions.len(), 9 + published.budgets.len());
            for id in &definitions {
                assert!(Measure::parse(id).is_some(), "{id}");
            }
            for row in &published.ranking.rows {
                assert_eq!(row.len(), 4);
            }
            let rows = published.aggregated.rows.iter();
            let names: Vec<&str> = rows.clone().map(|row| row[0].as_str()).collect();
            assert_eq!(names, definitions);
            for (i, row) in rows.enumerate() {
                assert_eq!(row.len(), 1 + definitions.len());
                for (j, cell) in row[1..].iter().enumerate() {
                    assert_eq!(cell.is_empty(), i == j, "{}: {cell}", experiment.name);
                }
            }
            for showcased in &published.showcased {
                for [id, ..] in &showcased.table {
                    assert!(definitions.contains(&id.as_str()), "{id}");
                }
                for group in &showcased.groups {
                    assert!(published.groups.contains(&group.name));
                }
            }
        }
    }
}
