//! The reference results of `data/adult-sex`, as the tests read them.
#![allow(clippy::unwrap_used, reason = "what cannot be read is a failing test")]

use std::io::Cursor;

use arrow_array::cast::AsArray;
use facts_engine::Audit;
use facts_engine::definitions::{Definition, paper_columns, parse};
use facts_input::csv::ColumnType;
use facts_input::{Options as InputOptions, Source};
use serde::Deserialize;

use crate::{adult_audit, adult_model, unpack};

/// Groups as the engine orders them, and as the reference does.
pub const GROUPS: [&str; 2] = ["Female", "Male"];

macro_rules! data {
    ($file:literal) => {
        include_bytes!(concat!("../data/adult-sex/", $file)).as_slice()
    };
}

/// The reference results at one support.
#[derive(Debug)]
pub struct Reference {
    /// The support.
    pub support: &'static str,
    /// Subgroups, actions, flips.
    pub rules: Rules,
    /// Value, score, rank and bias of each subgroup under each column.
    pub scores: TextTable,
    /// The paper's first analysis table.
    pub ranking_analysis: TextTable,
    /// The paper's second analysis table.
    pub aggregated_rankings: TextTable,
    /// The budgets used.
    pub budgets: Vec<f64>,
    /// Whether they were chosen from the data.
    pub automatic_budgets: bool,
}

/// The reference's subgroups and the items that they speak of.
#[derive(Debug, Deserialize)]
pub struct Rules {
    /// Feature and level.
    pub items: Vec<(String, String)>,
    /// In the order in which they were mined.
    pub subgroups: Vec<ReferenceSubgroup>,
}

/// A subgroup of the reference.
#[derive(Debug, Deserialize)]
pub struct ReferenceSubgroup {
    /// Its items.
    pub p: Vec<usize>,
    /// Members by group.
    pub n: [u64; 2],
    /// Changed items, flips by group, cost.
    pub a: Vec<(Vec<usize>, [u64; 2], f64)>,
    /// By group: an action, and the members flipped by it and those before it.
    pub cum: [Vec<(usize, u64)>; 2],
}

#[derive(Deserialize)]
struct Budgets {
    budgets: Vec<f64>,
    auto: bool,
}

impl Reference {
    /// At a support of 10 %.
    pub fn at_10_percent() -> Self {
        Self::read(
            "0.1",
            data!("rules_s10.json.gz"),
            data!("scores_s10.csv.gz"),
            data!("ranking_analysis_s10.csv"),
            data!("aggregated_rankings_s10.csv"),
            data!("budgets_s10.json"),
        )
    }

    /// At a support of 5 %.
    pub fn at_5_percent() -> Self {
        Self::read(
            "0.05",
            data!("rules_s05.json.gz"),
            data!("scores_s05.csv.gz"),
            data!("ranking_analysis_s05.csv"),
            data!("aggregated_rankings_s05.csv"),
            data!("budgets_s05.json"),
        )
    }

    fn read(
        support: &'static str,
        rules: &[u8],
        scores: &'static [u8],
        ranking_analysis: &'static [u8],
        aggregated_rankings: &'static [u8],
        budgets: &[u8],
    ) -> Self {
        let budgets: Budgets = serde_json::from_slice(budgets).unwrap();
        Self {
            support,
            rules: serde_json::from_str(&unpack(rules).unwrap()).unwrap(),
            scores: TextTable::read(scores),
            ranking_analysis: TextTable::read(ranking_analysis),
            aggregated_rankings: TextTable::read(aggregated_rankings),
            budgets: budgets.budgets,
            automatic_budgets: budgets.auto,
        }
    }

    /// Items as the engine reads them, in order of feature name.
    pub fn text(&self, items: &[usize]) -> String {
        let mut items: Vec<&(String, String)> =
            items.iter().map(|&i| &self.rules.items[i]).collect();
        items.sort();
        let texts: Vec<String> = items.iter().map(|(f, v)| format!("{f} = {v}")).collect();
        texts.join(", ")
    }

    /// The engine's audit at the same support.
    pub fn audit(&self) -> Audit {
        adult_audit(&adult_model().unwrap(), self.support).unwrap()
    }

    /// The paper's columns; at 5 % the reference scores three more budgets, which come last.
    pub fn columns(&self) -> Vec<Column> {
        let headings = self
            .scores
            .header
            .iter()
            .filter_map(|h| h.strip_suffix("|score"));
        let mut definitions = paper_columns(&self.budgets).unwrap();
        let more = headings.clone().skip(definitions.len());
        for heading in more {
            let (_, budget) = heading.split_once('|').unwrap();
            definitions
                .push(parse(&format!("equal-effectiveness-within-budget:micro:{budget}")).unwrap());
        }
        headings
            .zip(definitions)
            .map(|(name, definition)| Column {
                name: name.to_owned(),
                definition,
            })
            .collect()
    }

    /// How the reference tables call the paper's columns.
    pub fn names_in_tables(&self) -> &[String] {
        &self.aggregated_rankings.header[1..]
    }
}

/// One of the paper's twelve columns.
#[derive(Debug)]
pub struct Column {
    /// As the reference scores call it.
    pub name: String,
    /// What it is here.
    pub definition: Box<dyn Definition>,
}

/// A small table read as text.
#[derive(Debug)]
pub struct TextTable {
    /// The names of the columns.
    pub header: Vec<String>,
    /// The cells by row.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    fn read(bytes: &'static [u8]) -> Self {
        let open = |options: &InputOptions| {
            facts_input::open(Source::reader("reference", Cursor::new(bytes)), options).unwrap()
        };
        let mut options = InputOptions::default();
        let header: Vec<String> = {
            let schema = open(&options).schema();
            schema.fields().iter().map(|f| f.name().clone()).collect()
        };
        options.csv.types = header
            .iter()
            .map(|h| (h.clone(), ColumnType::Text))
            .collect();
        let mut rows = Vec::new();
        for batch in open(&options) {
            let batch = batch.unwrap();
            for row in 0..batch.num_rows() {
                let cell = |column: &arrow_array::ArrayRef| {
                    let texts = column.as_string::<i32>();
                    texts.iter().nth(row).flatten().unwrap_or("").to_owned()
                };
                rows.push(batch.columns().iter().map(cell).collect());
            }
        }
        Self { header, rows }
    }

    /// A cell of a row.
    pub fn cell<'t>(&'t self, row: &'t [String], column: &str) -> &'t str {
        let found = self.header.iter().position(|h| h == column);
        &row[found.unwrap_or_else(|| panic!("no column {column} in {:?}", self.header))]
    }

    /// A cell of a row as a number.
    pub fn number(&self, row: &[String], column: &str) -> f64 {
        self.cell(row, column).parse().unwrap()
    }
}
