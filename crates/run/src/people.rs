//! People: who is in the audit.

use std::borrow::Cow;
use std::collections::HashMap;

use facts_engine::flips::Model;
use facts_engine::population::{Declaration, Feature, Missing, Population, RowProfiles, Table};
use facts_report::text::count;

use crate::config::Config;
use crate::failure::Failure;
use crate::readings;

/// The share of the people that may be dropped for missing values, unless the user says otherwise.
const ALLOW_DROPPED: f64 = 0.05;

/// The most groups that are compared unless the user says otherwise.
const MAX_GROUPS: usize = 10;

/// Groups that are named where there are too many.
const NAMED_GROUPS: usize = 30;

/// The people of an audit, and the rows that they come from.
#[derive(Clone, Debug)]
pub(crate) struct People<'a> {
    pub(crate) table: Cow<'a, Table>,
    pub(crate) population: Population,
    pub(crate) rows: RowProfiles,
}

impl<'a> People<'a> {
    /// Takes in the people of a table. Fails if too many of them are dropped for missing values.
    pub(crate) fn of(
        config: &Config,
        declaration: &Declaration,
        table: Cow<'a, Table>,
    ) -> Result<Self, Failure> {
        let (population, rows) = declaration.population(&table)?;
        let people = Self {
            table,
            population,
            rows,
        };
        people.check_dropped(config, declaration)?;
        check_groups(config, &people.population)?;
        Ok(people)
    }

    /// The same people with rows that at least `k` of their group share, and a note about it. Counts in the
    /// note are multiples of k: it is written down with everything else.
    pub(crate) fn shared(
        &self,
        config: &Config,
        declaration: &Declaration,
        model: &dyn Model,
        k: u64,
    ) -> Result<(People<'static>, String), Failure> {
        let answers = readings::answers(model, self)?;
        let codes: Vec<u32> = number(&answers);
        let shared = declaration.shared(&self.table, k, &codes)?;
        let left_out = match shared.left_out / k.max(1) * k {
            0 => String::new(),
            people => format!(
                "; more than {} people are left out, for missing values or because fewer than {k} belong to their group",
                count(people - 1)
            ),
        };
        let people = People::of(config, declaration, Cow::Owned(shared.table))?;
        let shared_answers = readings::answers(model, &people)?;
        let own: HashMap<usize, usize> = self.rows.kept().map(|(row, own, _)| (row, own)).collect();
        let differing = people.rows.kept().filter(|(row, profile, _)| {
            let own = own.get(&shared.was[*row]);
            own.is_none_or(|&own| answers[own] != shared_answers[*profile])
        });
        let differing: u64 = differing.map(|(.., weight)| weight).sum();
        let all = people.population.summary().people;
        let differing = match (100.0 * differing as f64 / all as f64).ceil() {
            percent if percent <= 1.0 => "1 % of them or fewer".to_owned(),
            percent => format!("about {percent} % of them"),
        };
        let note = format!(
            "people who are alike share one row, at least {k} of a group: {} people have {} different rows, the model is asked about these, and every count is of them; {differing} would get another answer with the row that is their own{left_out}",
            count(all),
            count(people.population.profiles() as u64),
        );
        Ok((people, note))
    }

    fn check_dropped(&self, config: &Config, declaration: &Declaration) -> Result<(), Failure> {
        let allowed = config.audit.allow_dropped.unwrap_or(ALLOW_DROPPED);
        if !(0.0..=1.0).contains(&allowed) {
            return Err(Failure::usage(format!(
                "`audit.allow-dropped` is {allowed}; give a share from 0 to 1"
            )));
        }
        let summary = self.population.summary();
        if summary.dropped == 0 {
            return Ok(());
        }
        // With weights, rows are not people; so everybody is taken in once more, missing or not.
        let keeping = |feature: &Feature| feature.clone().missing(Missing::Level);
        let keeping = declaration.declared_features().iter().map(keeping);
        let keeping = declaration.clone().with_features(keeping.collect());
        // Fails where a category is called like the level that they would get.
        let everybody = keeping.population(&self.table).ok();
        let (dropped, all) = match &everybody {
            Some((everybody, _)) => {
                let all = everybody.summary().people;
                (all - summary.people, all)
            }
            None => {
                let all = summary.rows - summary.excluded - summary.weightless;
                (summary.dropped, all)
            }
        };
        let share = dropped as f64 / all as f64;
        if share <= allowed {
            return Ok(());
        }
        let columns: Vec<String> = (summary.dropped_for.iter())
            .map(|(column, rows)| format!("{column} ({} rows)", count(*rows)))
            .collect();
        let groups = everybody.iter().flat_map(|(everybody, _)| {
            let groups = everybody.groups().to_vec();
            groups.into_iter().zip(by_group(everybody))
        });
        let groups: Vec<String> = groups
            .map(|(group, all)| {
                let kept = self.population.groups().iter().position(|g| *g == group);
                let kept = kept.map_or(0, |g| by_group(&self.population)[g]);
                format!("{group} {} of {}", count(all - kept.min(all)), count(all))
            })
            .collect();
        Err(Failure::data(format!(
            "{} of {} people ({}) would be dropped for missing values, and {} may be\nthey miss: {}\nby group: {}\nkeep them: missing values as a level of their own, `data.missing` = \"level\"; or leave those columns out with `data.ignore`; or drop them all the same: `audit.allow-dropped` = {:.2}",
            count(dropped),
            count(all),
            percent(share),
            percent(allowed),
            columns.join(", "),
            groups.join(", "),
            (share * 100.0).ceil() / 100.0,
        )))
    }
}

/// Refuses more groups than anybody wants to compare, unless the user says which, or how many.
pub(crate) fn check_groups(config: &Config, population: &Population) -> Result<(), Failure> {
    let audit = &config.audit;
    let least = audit.min_group_size.unwrap_or(1);
    let groups = population.groups().iter().zip(by_group(population));
    let mut groups: Vec<(&String, u64)> = groups.filter(|(_, people)| *people >= least).collect();
    if audit.compare.is_some() || groups.len() <= audit.max_groups.unwrap_or(MAX_GROUPS) {
        return Ok(());
    }
    groups.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let named = groups.iter().take(NAMED_GROUPS);
    let named: Vec<String> = named
        .map(|(name, people)| format!("{name} {}", count(*people)))
        .collect();
    let more = match groups.len().saturating_sub(NAMED_GROUPS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first = config
        .protected
        .keys()
        .next()
        .map_or("COLUMN", String::as_str);
    Err(Failure::usage(format!(
        "there are {} groups to compare, and a subgroup must be frequent in each of them\nthey are: {}{more}\nmerge some with protected.{first}.merge, cut numbers with protected.{first}.quantiles, choose some with `audit.compare`, set small ones aside with `audit.min-group-size`; or compare them all: `audit.max-groups` = {}",
        groups.len(),
        named.join(", "),
        groups.len(),
    )))
}

/// Numbers for texts, the same for the same.
fn number(texts: &[String]) -> Vec<u32> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let number = |text| {
        let next = numbers.len() as u32;
        *numbers.entry(text).or_insert(next)
    };
    texts.iter().map(String::as_str).map(number).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// How many people each group has.
fn by_group(population: &Population) -> Vec<u64> {
    let mut people = vec![0; population.groups().len()];
    for profile in 0..population.profiles() {
        people[population.group(profile)] += population.people(profile);
    }
    people
}
