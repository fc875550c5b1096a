//! Two models on the same people: who is who in two audits.
//!
//! Both audits read the same table, but each may see other columns of it, leave out other rows, or, if it
//! fits its own model, keep other rows for the audit. People are known by their whole row: whoever has the
//! same row in both is the same person, or one who is told apart by nothing that the table holds.

use std::collections::{BTreeMap, HashMap};

use facts_engine::comparison::{self, Comparison, Pair};
use facts_engine::population::{Table, Value};
use facts_engine::{Audit, Individuals};
use facts_report::Record;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::people::People;

/// The people behind an audit, kept to compare it with another of the same people.
#[derive(Debug)]
pub struct Kept {
    /// The people behind its counts.
    pub individuals: Individuals,
    persons: Persons,
}

/// The people of an audit, by what is known of their rows.
#[derive(Debug)]
struct Persons {
    /// Profile and number of people by the row.
    by_row: HashMap<u128, (usize, u64)>,
    /// By profile: its group among those compared; none if it is set aside.
    groups: Vec<Option<usize>>,
}

impl Kept {
    pub(crate) fn new(
        individuals: Individuals,
        people: &People<'_>,
        audit: &Audit,
    ) -> Result<Self, Failure> {
        let persons = Persons::new(people, audit)?;
        Ok(Self {
            individuals,
            persons,
        })
    }
}

/// Compares two audits of the same people by those whose answer changed; also, how many people are in both.
/// No comparison if the audits compare other groups.
pub fn compare_people(
    old: (&Record, &Kept),
    new: (&Record, &Kept),
    budgets: &[f64],
    alpha: f64,
) -> Result<(Option<Comparison>, u64), Failure> {
    let (was, is) = (&old.0.data, &new.0.data);
    if let (Some(before), Some(now)) = (&was.sha256, &is.sha256)
        && before != now
    {
        return Err(Failure::usage(format!(
            "{} and {} are different tables; save an audit of each and compare those",
            was.name, is.name
        )));
    }
    let pairs = new.1.persons.pairs(&old.1.persons);
    let people = pairs.iter().map(|pair| pair.people).sum();
    let compared = comparison::compare_people(
        &pairs,
        (&old.0.audit, &old.1.individuals),
        (&new.0.audit, &new.1.individuals),
        budgets,
        alpha,
    )?;
    Ok((compared, people))
}

impl Persons {
    fn new(people: &People<'_>, audit: &Audit) -> Result<Self, Failure> {
        let rows = fingerprints(&people.table)?;
        let mut by_row: HashMap<u128, (usize, u64)> = HashMap::new();
        for (row, profile, number) in people.rows.kept() {
            by_row.entry(rows[row]).or_insert((profile, 0)).1 += number;
        }
        let population = &people.population;
        let compared: HashMap<&str, usize> = (audit.groups.iter().enumerate())
            .map(|(g, group)| (group.name.as_str(), g))
            .collect();
        let group = |profile: usize| {
            let name = &population.groups()[population.group(profile)];
            compared.get(name.as_str()).copied()
        };
        Ok(Self {
            by_row,
            groups: (0..population.profiles()).map(group).collect(),
        })
    }

    /// Whoever is in both, and of the same group in both.
    fn pairs(&self, older: &Self) -> Vec<Pair> {
        let mut pairs: BTreeMap<(usize, usize, usize), u64> = BTreeMap::new();
        for (row, &(now, people)) in &self.by_row {
            let Some(&(before, others)) = older.by_row.get(row) else {
                continue;
            };
            if let Some(group) = self.groups[now]
                && older.groups[before] == Some(group)
            {
                *pairs.entry((now, before, group)).or_default() += people.min(others);
            }
        }
        let pair = |((now, before, group), people)| Pair {
            now,
            before,
            group,
            people,
        };
        pairs.into_iter().map(pair).collect()
    }
}

/// A number for each distinct row of a table, by all that it holds. That two rows share one is as likely
/// as guessing a number of 128 binary digits.
fn fingerprints(table: &Table) -> Result<Vec<u128>, Failure> {
    let mut rows = vec![0_u128; table.repeats().len()];
    for name in table.names() {
        let encoded = table.column(name)?;
        let of_value = |value: &Value| {
            let digest = Sha256::digest(format!("{name}\0{value:?}"));
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&digest[..16]);
            u128::from_le_bytes(bytes)
        };
        let values: Vec<u128> = encoded.column().values().iter().map(of_value).collect();
        for (row, &code) in rows.iter_mut().zip(encoded.codes()) {
            *row = row.wrapping_add(values[code as usize]);
        }
    }
    Ok(rows)
}
