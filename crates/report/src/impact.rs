//! Selection rates and impact ratios by category, as New York City's Local Law 144 asks for them: for
//! each protected attribute and for each two of them crossed. A ratio is a category's rate over the
//! highest one. Categories of under 2 % of the people are named, and take no part in the ratios.

use std::collections::BTreeMap;
use std::fmt::Write;

use facts_engine::answer::Compared;
use facts_engine::distribution::Share;

use crate::grid::{Grid, Side, escape};
use crate::record::Record;
use crate::text::{count, percent};

/// What the engine puts between the values of crossed attributes.
const CROSSED: &str = " & ";

/// The rates of all categories.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// A table for each attribute, for each two, and for all if there are more.
    pub tables: Vec<ImpactTable>,
    /// People in some category.
    pub people: u64,
    /// Rows in no category: their protected value is missing.
    pub unknown: u64,
    /// Whether an `&` in the values keeps the attributes from being told apart.
    pub not_told_apart: bool,
}

/// The rates of the categories of some attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactTable {
    /// The attributes, crossed if they are several.
    pub by: Vec<String>,
    /// The categories, in order of name.
    pub rows: Vec<ImpactRow>,
}

/// The rate of one category.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactRow {
    /// The category's values, one an attribute.
    pub category: Vec<String>,
    /// The selected among its people; none if a count is suppressed.
    pub selected: Option<Share>,
    /// Its rate over the highest; none if it is small or not told, or if nobody is selected.
    pub ratio: Option<f64>,
    /// Whether it is known to have under 2 % of the people.
    pub is_small: bool,
}

impl Impact {
    /// The rates that an audit's counts give.
    pub fn new(record: &Record) -> Self {
        let groups = groups(record);
        let number = record.protected.len();
        let not_told_apart = groups.iter().any(|(values, _)| values.len() != number);
        let known = groups.iter().filter_map(|(_, selected)| *selected);
        let people = known.map(|selected| selected.whole).sum();
        let tables = if not_told_apart {
            let whole = groups.iter().map(|(v, s)| (vec![v.join(CROSSED)], *s));
            vec![ImpactTable::new(
                vec![record.protected.join(CROSSED)],
                whole,
                people,
            )]
        } else {
            subsets(number)
                .into_iter()
                .map(|places| {
                    let pick = |all: &[String]| places.iter().map(|&p| all[p].clone()).collect();
                    let picked = groups.iter().map(|(values, s)| (pick(values), *s));
                    ImpactTable::new(pick(&record.protected), picked, people)
                })
                .collect()
        };
        Self {
            tables,
            people,
            unknown: record.audit.population.excluded,
            not_told_apart,
        }
    }
}

/// All groups, compared or not: the values of each, and how many of its people are selected.
fn groups(record: &Record) -> Vec<(Vec<String>, Option<Share>)> {
    let values = |name: &str| -> Vec<String> {
        let parts = name.split(CROSSED);
        parts.map(|value| value.trim().to_owned()).collect()
    };
    let compared = record.audit.groups.iter();
    let compared = compared.map(|group| {
        let selected = group.people - group.affected;
        (
            values(&group.name),
            Some(Share::new(selected, group.people)),
        )
    });
    let aside = record.audit.set_aside.iter().map(|group| {
        let counts = group.people.known().zip(group.affected.known());
        let selected = counts.map(|(people, affected)| Share::new(people - affected, people));
        (values(&group.name), selected)
    });
    compared.chain(aside).collect()
}

/// Each attribute, each two, and all of them.
fn subsets(number: usize) -> Vec<Vec<usize>> {
    let mut subsets: Vec<Vec<usize>> = (0..number).map(|place| vec![place]).collect();
    let pairs = (0..number).flat_map(|a| (a + 1..number).map(move |b| vec![a, b]));
    subsets.extend(pairs);
    if number > 2 {
        subsets.push((0..number).collect());
    }
    subsets
}

impl ImpactTable {
    fn new(
        by: Vec<String>,
        groups: impl Iterator<Item = (Vec<String>, Option<Share>)>,
        people: u64,
    ) -> Self {
        let mut categories: BTreeMap<Vec<String>, Option<Share>> = BTreeMap::new();
        for (category, selected) in groups {
            let none = Some(Share::new(0, 0));
            let so_far = categories.entry(category).or_insert(none);
            // A sum with a part that is not told is not told.
            *so_far = so_far
                .zip(selected)
                .map(|(a, b)| Share::new(a.part + b.part, a.whole + b.whole));
        }
        let is_small = |selected: &Option<Share>| {
            selected
                .is_some_and(|selected| u128::from(selected.whole) * 100 < u128::from(people) * 2)
        };
        let large = categories.values().filter(|selected| !is_small(selected));
        let large: Vec<Share> = large.flatten().copied().collect();
        let highest = Compared::new(&large, 0.0).map(|compared| large[compared.best]);
        let rows = categories.iter().map(|(category, selected)| ImpactRow {
            category: category.clone(),
            selected: *selected,
            ratio: selected
                .zip(highest)
                .filter(|(_, highest)| highest.part > 0 && !is_small(selected))
                .map(|(selected, highest)| selected.ratio() / highest.ratio()),
            is_small: is_small(selected),
        });
        Self {
            rows: rows.collect(),
            by,
        }
    }

    fn grid(&self) -> Grid {
        let heads = self.by.iter().map(|name| (name.trim(), Side::Left));
        let numbers = ["people", "selected", "selection rate", "impact ratio"];
        let heads: Vec<(&str, Side)> = heads
            .chain(numbers.map(|name| (name, Side::Right)))
            .collect();
        let mut grid = Grid::new(heads);
        for row in &self.rows {
            let untold = || "suppressed".to_owned();
            let selected = row.selected;
            let told = [
                selected.map_or_else(untold, |selected| count(selected.whole)),
                selected.map_or_else(untold, |selected| count(selected.part)),
                selected.map_or_else(untold, percent),
                row.ratio
                    .map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}")),
            ];
            grid.row(row.category.iter().cloned().chain(told));
        }
        grid
    }

    /// Who is too small to be compared, in one sentence.
    fn small(&self, people: u64) -> Option<String> {
        let small = self.rows.iter().filter(|row| row.is_small);
        let named: Vec<String> = small
            .filter_map(|row| {
                let own = row.selected?.whole;
                Some(format!(
                    "{} ({} people, {})",
                    row.category.join(CROSSED),
                    count(own),
                    percent(Share::new(own, people))
                ))
            })
            .collect();
        (!named.is_empty()).then(|| {
            format!(
                "Under 2 % of the people, and so left out of the impact ratios: {}.",
                named.join("; ")
            )
        })
    }
}

/// The tables as a page in Markdown, with what they rest on and what they lack.
pub(crate) fn page(record: &Record) -> String {
    let impact = Impact::new(record);
    let mut text = format!(
        "# Selection rates and impact ratios: {}\n\n",
        escape(&record.data.name)
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} people, audited on {} by {}. Selected means: {}. The selection rate is the share of a category's \
         people whom the model selects; the impact ratio is that rate over the highest one of the table.\n",
        count(impact.people),
        record.made.get(..10).unwrap_or(&record.made),
        escape(&record.tool),
        escape(&record.yes_means()),
    );
    for table in &impact.tables {
        let _ = writeln!(
            text,
            "## By {}\n\n{}",
            escape(&table.by.join(" and ")),
            table.grid().markdown()
        );
        if let Some(small) = table.small(impact.people) {
            let _ = writeln!(text, "{}\n", escape(&small));
        }
    }
    text += "## What to know\n\n";
    for line in notes(record, &impact) {
        let _ = writeln!(text, "- {}", escape(&line));
    }
    text
}

fn notes(record: &Record, impact: &Impact) -> Vec<String> {
    let mut notes = vec![match impact.unknown {
        0 => "Nobody is in an unknown category.".to_owned(),
        rows => format!(
            "{} rows are in no category, because their protected value is missing, and are not counted.",
            count(rows)
        ),
    }];
    let dropped = record.audit.population.dropped;
    if dropped > 0 {
        notes.push(format!(
            "{} rows are left out because a feature is missing.",
            count(dropped)
        ));
    }
    if impact.not_told_apart {
        notes.push(
            "Values with an & in them keep the attributes from being told apart: the rates of each alone are missing. Use `merge` to rename such values."
                .to_owned(),
        );
    }
    if record.protected.len() < 2 {
        notes.push(format!(
            "Local Law 144 asks for sex, for race or ethnicity, and for both crossed. This audit is by {} alone: name both as protected to have all three.",
            record.protected.join(" and ")
        ));
    }
    if let Some(fitted) = &record.model.training {
        notes.push(format!(
            "The model was fitted for this audit, on {} other rows: these are not the rates of a model in use.",
            count(fitted.train_rows)
        ));
    }
    notes.push(
        "Counted are the people of the table and the answers of the model. Whether they are the applicants of the year and the decisions that were taken, and whether the categories are those of the law, is not known here."
            .to_owned(),
    );
    notes
}
