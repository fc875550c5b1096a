//! A comparison written down: for the terminal, as Markdown, and the page that holds all of them.

use facts_report::sheets::{Cells, Sheet};
use facts_report::{Grid, Side};

use crate::authors::Measure;
use crate::compare::{Agreement, Cell, Comparison, ShownBeside};
use crate::experiments::{EXPERIMENTS, Variant};

/// By whose rules the analysis tables are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Those of the method, as everywhere in `facts`.
    #[default]
    Facts,
    /// Those of the authors' code.
    Authors,
}

/// Headings, text and tables, one after another.
#[derive(Clone, Debug, Default)]
pub struct Document {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
enum Block {
    Heading(usize, String),
    /// Markdown, which reads well as plain text too.
    Text(String),
    Table(Grid),
}

impl Document {
    fn heading(&mut self, level: usize, text: impl Into<String>) {
        self.blocks.push(Block::Heading(level, text.into()));
    }

    fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    fn table(&mut self, grid: Grid) {
        self.blocks.push(Block::Table(grid));
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let block = |block: &Block| match block {
            Block::Heading(level, text) => format!("{} {text}\n", "#".repeat(*level)),
            Block::Text(text) => format!("{}\n", text.trim_end()),
            Block::Table(grid) => grid.markdown(),
        };
        let blocks: Vec<String> = self.blocks.iter().map(block).collect();
        blocks.join("\n")
    }

    /// As plain text.
    pub fn plain(&self) -> String {
        let block = |block: &Block| match block {
            Block::Heading(_, text) => format!("{text}\n{}\n", "─".repeat(text.chars().count())),
            Block::Text(text) => format!("{}\n", text.trim_end().replace("**", "")),
            Block::Table(grid) => grid.text(2),
        };
        let blocks: Vec<String> = self.blocks.iter().map(block).collect();
        blocks.join("\n")
    }
}

/// A definition's id in a few words, as they fit a table.
fn short(id: &str) -> String {
    match Measure::parse(id) {
        Some(Measure::CostMacro(phi)) => format!("Cost of Effectiveness, macro, φ {phi}"),
        Some(Measure::CostMicro(phi)) => format!("Cost of Effectiveness, micro, φ {phi}"),
        Some(Measure::Choice(phi)) => format!("Choice for Recourse, φ {phi}"),
        Some(Measure::Effectiveness) => "Effectiveness".to_owned(),
        Some(Measure::WithinBudget(budget)) => format!("Effectiveness within Budget, c {budget}"),
        Some(Measure::MeanRecourse) => "Conditional Mean Recourse".to_owned(),
        Some(Measure::TradeOff) => "Effectiveness–Cost Trade-Off".to_owned(),
        None => id.to_owned(),
    }
}

/// What stands before every table that was made from generated rows.
fn marked(comparison: &Comparison, text: impl Into<String>) -> String {
    let text = text.into();
    if comparison.stand_in {
        format!("**From a stand-in, not from the real rows.** {text}")
    } else {
        text
    }
}

fn found(cell: &Cell, rules: Rules) -> &str {
    let authors = cell.authors.as_deref().filter(|_| rules == Rules::Authors);
    authors.or(cell.facts.as_deref()).unwrap_or("–")
}

fn is_same(cell: &Cell, rules: Rules) -> bool {
    match rules {
        Rules::Facts => cell.same,
        Rules::Authors => cell.same_by_authors,
    }
}

/// One experiment, ours beside theirs, under a heading of this level.
pub fn experiment(comparison: &Comparison, rules: Rules, level: usize) -> Document {
    let mut document = Document::default();
    let variant = comparison.split_and_model;
    document.heading(level, format!("{}: {variant}", comparison.title));
    document.text(agreement(comparison));
    document.heading(level + 1, "Counts");
    document.text(marked(
        comparison,
        format!(
            "Table: {}. Model: {}. Support {}.",
            comparison.data, comparison.model, comparison.support
        ),
    ));
    document.table(counts(comparison));
    document.heading(level + 1, "The subgroups that the paper shows");
    for (i, shown) in comparison.showcased.iter().enumerate() {
        showcased(&mut document, comparison, i + 1, shown);
    }
    document.heading(level + 1, "Ranking analysis");
    document.text(marked(
        comparison,
        format!(
            "{}. How many subgroups share rank 1, and how many of the first tenth are against each group{}. Δ is ours minus theirs.",
            comparison.ranking.source,
            match rules {
                Rules::Facts => "",
                Rules::Authors => ", counted as the authors' code does",
            }
        ),
    ));
    document.table(ranking(comparison, rules));
    document.heading(level + 1, "Aggregated rankings");
    document.text(marked(
        comparison,
        format!(
            "{}. Where the first of each row stand under the other definitions, columns numbered as rows. One number where both agree, else `paper → facts`.",
            comparison.aggregated.source
        ),
    ));
    document.table(aggregated(comparison, rules));
    document
}

/// How many cells agree, in a sentence.
fn agreement(comparison: &Comparison) -> String {
    let part = |what: &str, agreement: Agreement| {
        format!("{} of {} {what}", agreement.same, agreement.cells)
    };
    let mut text = format!(
        "Equal to print: {}, {}, {}.",
        part(
            "cells of the subgroups shown",
            comparison.showcased_agreement()
        ),
        part("of the ranking analysis", comparison.ranking_agreement()),
        part(
            "of the aggregated rankings",
            comparison.aggregated_agreement()
        ),
    );
    let (ranking, aggregated) = (
        comparison.ranking_agreement(),
        comparison.aggregated_agreement(),
    );
    text += &format!(
        " Counted as the authors' code counts: {} and {} of the two tables.",
        ranking.same_by_authors, aggregated.same_by_authors
    );
    marked(comparison, text)
}

fn counts(comparison: &Comparison) -> Grid {
    let mut grid = Grid::new([
        ("", Side::Left),
        ("paper", Side::Right),
        ("facts", Side::Right),
    ]);
    for row in &comparison.counts {
        let paper = row.paper.as_deref().unwrap_or("–");
        grid.row([row.what.as_str(), paper, &row.facts]);
    }
    if let Some(seconds) = comparison.seconds {
        grid.row(["seconds in all", "–", &format!("{seconds:.2}")]);
    }
    grid
}

fn showcased(document: &mut Document, comparison: &Comparison, number: usize, shown: &ShownBeside) {
    let mut text = format!("**{number}. If {}** ({}).", shown.predicate, shown.source);
    if let Some(why) = shown.absent {
        text += &format!(" Nothing stands beside it: {why}.");
    }
    document.text(marked(comparison, text));
    if !shown.rows.is_empty() {
        document.table(scores(shown));
    }
    document.text(marked(comparison, verdict(shown)));
    document.table(actions(shown));
}

fn scores(shown: &ShownBeside) -> Grid {
    let mut grid = Grid::new([
        ("definition", Side::Left),
        ("rank: paper", Side::Right),
        ("facts", Side::Right),
        ("against: paper", Side::Left),
        ("facts", Side::Left),
        ("score: paper", Side::Right),
        ("facts", Side::Right),
    ]);
    for row in &shown.rows {
        let cells = [&row.rank, &row.against, &row.score];
        let cells = cells.into_iter().flat_map(|cell| {
            let facts = cell.facts.as_deref().unwrap_or("–");
            [cell.paper.clone(), facts.to_owned()]
        });
        grid.row(std::iter::once(short(&row.definition)).chain(cells));
    }
    grid
}

/// What the figure says about a subgroup, and what is found.
fn verdict(shown: &ShownBeside) -> String {
    let csc = &shown.csc;
    let beside = |cell: &Cell| match &cell.facts {
        Some(facts) if *facts == cell.paper => facts.clone(),
        Some(facts) => format!("{} in the paper, {facts} here", cell.paper),
        None => format!("{} in the paper", cell.paper),
    };
    let covered: Vec<String> = (csc.groups.iter().zip(&csc.covered))
        .map(|(group, cell)| format!("{group} {}", beside(cell)))
        .collect();
    format!(
        "Its counterfactuals by {}: against {}; score {}; covered: {}.",
        short(&csc.definition),
        beside(&csc.against),
        beside(&csc.score),
        covered.join("; ")
    )
}

fn actions(shown: &ShownBeside) -> Grid {
    let csc = &shown.csc;
    let mut columns = vec![
        ("make".to_owned(), Side::Left),
        ("cost".to_owned(), Side::Right),
    ];
    for group in &csc.groups {
        columns.push((format!("{group}: paper"), Side::Right));
        columns.push(("facts".to_owned(), Side::Right));
    }
    let mut grid = Grid::new(columns);
    for action in &csc.actions {
        let mut cells = vec![
            action.change.clone(),
            action.cost.clone().unwrap_or_else(|| "–".to_owned()),
        ];
        for g in 0..csc.groups.len() {
            cells.push(action.paper[g].clone().unwrap_or_else(|| "–".to_owned()));
            // In brackets where the definition does not list it.
            cells.push(match (&action.facts[g], action.listed[g]) {
                (None, _) => "–".to_owned(),
                (Some(share), true) => share.clone(),
                (Some(share), false) => format!("({share})"),
            });
        }
        grid.row(cells);
    }
    grid
}

fn ranking(comparison: &Comparison, rules: Rules) -> Grid {
    let [first, second] = &comparison.ranking.groups;
    let headings = [
        "definition".to_owned(),
        "rank 1: paper".to_owned(),
        "facts".to_owned(),
        "Δ".to_owned(),
        format!("against {first}: paper"),
        "facts".to_owned(),
        "Δ".to_owned(),
        format!("against {second}: paper"),
        "facts".to_owned(),
        "Δ".to_owned(),
    ];
    let side = |i: usize| if i == 0 { Side::Left } else { Side::Right };
    let columns = headings.into_iter().enumerate();
    let mut grid = Grid::new(columns.map(|(i, heading)| (heading, side(i))));
    for row in &comparison.ranking.rows {
        let mut cells = vec![short(&row.definition)];
        for cell in &row.cells {
            let facts = found(cell, rules);
            let difference = match (facts.parse::<i64>(), cell.paper.parse::<i64>()) {
                (Ok(facts), Ok(paper)) if facts != paper => format!("{:+}", facts - paper),
                _ => String::new(),
            };
            cells.extend([cell.paper.clone(), facts.to_owned(), difference]);
        }
        grid.row(cells);
    }
    grid
}

fn aggregated(comparison: &Comparison, rules: Rules) -> Grid {
    let table = &comparison.aggregated;
    let numbers = (1..=table.definitions.len()).map(|i| (i.to_string(), Side::Right));
    let first = [(String::new(), Side::Left)];
    let mut grid = Grid::new(first.into_iter().chain(numbers));
    for (i, (id, row)) in table.definitions.iter().zip(&table.cells).enumerate() {
        let cell = |cell: &Option<Cell>| match cell {
            None => String::new(),
            Some(cell) if is_same(cell, rules) => cell.paper.clone(),
            Some(cell) => format!("{} → {}", cell.paper, found(cell, rules)),
        };
        let name = format!("{} {}", i + 1, short(id));
        grid.row(std::iter::once(name).chain(row.iter().map(cell)));
    }
    grid
}

/// Every compared cell as a row, for spreadsheets and scripts.
pub fn sheet(comparison: &Comparison) -> Sheet {
    let mut rows: Vec<[String; 8]> = Vec::new();
    let mut add = |table: &str, row: &str, column: &str, cell: &Cell| {
        let owned = |text: &Option<String>| text.clone().unwrap_or_default();
        rows.push([
            table.to_owned(),
            row.to_owned(),
            column.to_owned(),
            cell.paper.clone(),
            owned(&cell.facts),
            cell.same.to_string(),
            owned(&cell.authors),
            cell.same_by_authors.to_string(),
        ]);
    };
    for shown in &comparison.showcased {
        for row in &shown.rows {
            let cells = [
                ("rank", &row.rank),
                ("against", &row.against),
                ("score", &row.score),
            ];
            for (column, cell) in cells {
                let column = format!("{} {column}", row.definition);
                add(&shown.source, &shown.predicate, &column, cell);
            }
        }
        for (group, cell) in shown.csc.groups.iter().zip(&shown.csc.covered) {
            let column = format!("{group} covered");
            add(&shown.source, &shown.predicate, &column, cell);
        }
    }
    let [first, second] = &comparison.ranking.groups;
    let columns = [
        "rank 1".to_owned(),
        format!("first tenth against {first}"),
        format!("first tenth against {second}"),
    ];
    for row in &comparison.ranking.rows {
        for (column, cell) in columns.iter().zip(&row.cells) {
            add(&comparison.ranking.source, &row.definition, column, cell);
        }
    }
    let table = &comparison.aggregated;
    for (row, cells) in table.definitions.iter().zip(&table.cells) {
        for (column, cell) in table.definitions.iter().zip(cells) {
            if let Some(cell) = cell {
                add(&table.source, row, column, cell);
            }
        }
    }
    let names = [
        "table",
        "row",
        "column",
        "paper",
        "facts",
        "same",
        "authors_rules",
        "same_by_authors_rules",
    ];
    let columns = names.iter().enumerate().map(|(c, name)| {
        let cells = rows.iter().map(|row| row[c].clone());
        ((*name).to_owned(), Cells::Text(cells.collect()))
    });
    Sheet {
        columns: columns.collect(),
    }
}

/// The page of the documentation: all experiments in both variants.
pub fn page(comparisons: &[Comparison]) -> String {
    let mut document = Document::default();
    document.heading(1, "The paper's experiments, ours beside theirs");
    document.text(include_str!("introduction.md"));
    document.table(summary(comparisons));
    for experiment in &EXPERIMENTS {
        let of = |variant: Variant| {
            let mut found = comparisons.iter();
            found.find(|c| c.experiment == experiment.name && c.variant == variant)
        };
        let Some(authors) = of(Variant::Authors) else {
            continue;
        };
        let whole = self::experiment(authors, Rules::Facts, 2);
        document.blocks.extend(whole.blocks);
        document.heading(3, "What differs, and why");
        document.text(experiment.account);
        if let Some(own) = of(Variant::Own) {
            document.heading(3, format!("The same with {}", own.split_and_model));
            document.text(agreement(own));
            document.table(counts(own));
            document.text(marked(own, format!("{}.", own.ranking.source)));
            document.table(ranking(own, Rules::Facts));
        }
    }
    document.markdown()
}

/// All experiments in one table.
fn summary(comparisons: &[Comparison]) -> Grid {
    let mut grid = Grid::new([
        ("experiment", Side::Left),
        ("split and model", Side::Left),
        ("rows", Side::Left),
        ("subgroups: paper", Side::Right),
        ("facts", Side::Right),
        ("cells of the subgroups shown", Side::Right),
        ("ranking analysis", Side::Right),
        ("aggregated rankings", Side::Right),
    ]);
    for comparison in comparisons {
        let subgroups = (comparison.counts.iter()).find(|row| row.what.contains("“subgroups”"));
        let share = |agreement: Agreement| format!("{} of {}", agreement.same, agreement.cells);
        grid.row([
            comparison.title.to_owned(),
            comparison.split_and_model.to_owned(),
            if comparison.stand_in {
                "stand-in"
            } else {
                "real"
            }
            .to_owned(),
            subgroups
                .and_then(|row| row.paper.clone())
                .unwrap_or_default(),
            subgroups.map(|row| row.facts.clone()).unwrap_or_default(),
            share(comparison.showcased_agreement()),
            share(comparison.ranking_agreement()),
            share(comparison.aggregated_agreement()),
        ]);
    }
    grid
}
