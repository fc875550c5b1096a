//! Outlook: what an audit would be about. No model is asked, and nothing is audited.

use std::collections::BTreeMap;

use facts_engine::population::{Population, Summary};
use facts_models::ModelSpec;

use crate::columns::{Change, Columns, Guessed, Role, guess};
use crate::config::Config;
use crate::failure::Failure;
use crate::label::Label;
use crate::listener::Listener;
use crate::model;
use crate::people::check_groups;
use crate::readings;
use crate::table::Table;

/// What an audit would be about.
#[derive(Debug)]
pub struct Outlook {
    /// What each column is, in the order of the table.
    pub roles: Vec<Role>,
    /// What each column looks like, in the order of the table.
    pub guessed: Vec<Guessed>,
    /// The levels of each feature, by its name.
    pub levels: BTreeMap<String, Vec<String>>,
    /// What may change, feature by feature.
    pub changes: Vec<Change>,
    /// The outcome, named or guessed, and its values.
    pub label: Option<(String, Vec<String>)>,
    /// The groups that would be compared.
    pub groups: Vec<GroupOutlook>,
    /// Who would be in the audit, and who would be left out.
    pub people: Summary,
    /// What was guessed or left out.
    pub notes: Vec<String>,
}

/// A protected group before the audit.
#[derive(Clone, Debug)]
pub struct GroupOutlook {
    /// Its name.
    pub name: String,
    /// Its people.
    pub people: u64,
    /// How many of them have each value of the outcome.
    pub outcomes: Vec<u64>,
}

impl Outlook {
    /// What each value of the outcome would mean as the yes: a line for each, with who would be refused.
    pub fn readings(&self) -> Option<String> {
        let (_, values) = self.label.as_ref()?;
        let names: Vec<String> = self.groups.iter().map(|group| group.name.clone()).collect();
        let people: Vec<Vec<u64>> = (0..values.len())
            .map(|value| {
                (self.groups.iter())
                    .map(|group| group.outcomes[value])
                    .collect()
            })
            .collect();
        let outcomes = values.iter().cloned().zip(people.iter().map(Vec::as_slice));
        Some(readings::readings(&names, &outcomes.collect::<Vec<_>>()))
    }
}

/// Looks at a table as an audit under this configuration would.
pub fn outlook(
    config: &Config,
    table: &Table,
    listener: &dyn Listener,
) -> Result<Outlook, Failure> {
    let spec = config.model.spec.as_ref();
    let inputs = if spec.is_some_and(ModelSpec::is_file) {
        model::open(config, listener)?.inputs
    } else {
        None
    };
    let mut config = table.says(config).into_owned();
    // Nothing can be said about what a model sees that nobody named.
    config.model.spec.get_or_insert(ModelSpec::Train);
    let config = &config;
    Label::of(config, table)?;
    let columns = Columns::decide(config, &table.cells, inputs.as_deref())?;
    let (population, rows) = columns.declaration.population(&table.cells)?;
    check_groups(config, &population)?;
    let guessed = guess(&table.cells, config);
    let label = guessed.iter().find(|guess| guess.is_label);
    let label = label.map(|guess| {
        let mut values: Vec<String> = (guess.values.iter())
            .map(|(value, _)| value.trim().to_owned())
            .collect();
        values.sort();
        values.dedup();
        (guess.name.clone(), values)
    });
    let mut groups: Vec<GroupOutlook> = (population.groups().iter())
        .map(|name| GroupOutlook {
            name: name.clone(),
            people: 0,
            outcomes: vec![0; label.as_ref().map_or(0, |(_, values)| values.len())],
        })
        .collect();
    for (row, profile, weight) in rows.kept() {
        let group = &mut groups[population.group(profile)];
        group.people += weight;
        if let Some((name, values)) = &label {
            let value = table.cells.column(name)?.value(row).label();
            if let Some(place) = values.iter().position(|known| known == value.trim()) {
                group.outcomes[place] += weight;
            }
        }
    }
    Ok(Outlook {
        roles: columns.roles.clone(),
        levels: levels(&population),
        changes: columns.changes().to_vec(),
        guessed,
        label,
        groups,
        people: population.summary().clone(),
        notes: columns.notes,
    })
}

fn levels(population: &Population) -> BTreeMap<String, Vec<String>> {
    let features = population.features().iter();
    features
        .map(|feature| {
            let levels = feature.levels.iter().map(|level| level.label.clone());
            (feature.name.clone(), levels.collect())
        })
        .collect()
}
