//! The outcome: what really happened to people, and which of it is favourable.

use facts_engine::Audit;
use facts_engine::population::{Column, EncodedColumn, Value};
use facts_report::{BaseRate, BaseRates};

use crate::config::Config;
use crate::failure::Failure;
use crate::people::People;
use crate::table::Table;

/// The label of a table, with what of it is favourable.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) column: String,
    /// The favourable value, as the user writes it.
    pub(crate) favourable: String,
    missing_codes: Vec<String>,
}

impl Label {
    /// The label that the configuration names, if it names one.
    pub(crate) fn of(config: &Config, table: &Table) -> Result<Option<Self>, Failure> {
        let Some(name) = &config.label.column else {
            return Ok(None);
        };
        let label = table.cells.column(name);
        let label = label.map_err(|error| Failure::usage(format!("`label.column`: {error}")))?;
        let values = label.column().values();
        let said = (config.label.favourable.as_ref()).or(config.model.favourable.as_ref());
        let Some(favourable) = said.map(|text| text.0.trim().to_owned()) else {
            return Ok(None);
        };
        let found = Self {
            column: name.clone(),
            favourable,
            missing_codes: config.data.missing_codes.clone().unwrap_or_default(),
        };
        if !found.outcomes(label.column()).contains(&Some(true)) {
            if config.label.favourable.is_none() && !config.is_train() {
                // The model's yes has another name, and nobody says what it is in the label.
                return Ok(None);
            }
            return Err(Failure::usage(format!(
                "the label `{name}` never has the favourable value `{}`; it has: {}; write one of these as `label.favourable`",
                found.favourable,
                some(values)
            )));
        }
        Ok(Some(found))
    }

    /// By code of the value: favourable or not; none where the outcome is missing.
    fn outcomes(&self, column: &Column) -> Vec<Option<bool>> {
        let values = column
            .values()
            .iter()
            .zip(column.missing(&self.missing_codes));
        values
            .map(|(value, missing)| (!missing).then(|| value.reads_as(&self.favourable)))
            .collect()
    }

    /// Whether the outcome of a distinct row is favourable, by its number; none where it is missing.
    pub(crate) fn known(&self, label: &EncodedColumn) -> Vec<Option<bool>> {
        let outcomes = self.outcomes(label.column());
        let codes = label.codes().iter();
        codes.map(|&code| outcomes[code as usize]).collect()
    }

    /// How often the label is favourable in each group, among the people of the audit; none if that
    /// would tell a count below `suppress_below`, directly or by subtracting.
    pub(crate) fn base_rates(
        &self,
        people: &People<'_>,
        audit: &Audit,
        suppress_below: Option<u64>,
    ) -> Result<Option<BaseRates>, Failure> {
        let label = people.table.column(&self.column)?;
        let outcomes = self.outcomes(label.column());
        let mut rates: Vec<BaseRate> = (audit.groups.iter())
            .map(|group| BaseRate {
                name: group.name.clone(),
                people: 0,
                favourable: 0,
            })
            .collect();
        let names = people.population.groups();
        let place: Vec<Option<usize>> = (names.iter())
            .map(|name| rates.iter().position(|rate| rate.name == *name))
            .collect();
        for (row, profile, weight) in people.rows.kept() {
            let Some(group) = place[people.population.group(profile)] else {
                continue;
            };
            rates[group].people += weight;
            if outcomes[label.codes()[row] as usize] == Some(true) {
                rates[group].favourable += weight;
            }
        }
        let small = |count: u64| suppress_below.is_some_and(|k| (1..k).contains(&count));
        let tells = |rate: &BaseRate| {
            small(rate.people) || small(rate.favourable) || small(rate.people - rate.favourable)
        };
        Ok((!rates.iter().any(tells)).then(|| BaseRates {
            label: self.column.clone(),
            favourable: self.favourable.clone(),
            groups: rates,
        }))
    }
}

/// The first values of a column, for a message.
fn some(values: &[Value]) -> String {
    let values: Vec<String> = (values.iter())
        .filter(|value| **value != Value::Null)
        .take(8)
        .map(|value| value.label().trim().to_owned())
        .collect();
    values.join(", ")
}
