//! A table in which nobody stands alone: every row is shared by at least k people of a group.
//!
//! People who are much alike are put together, at least k of each group that is among them or none of it,
//! and all of them get one row. Whatever is then computed is computed from rows of at least k people: every
//! count, every difference of counts and every complement is 0 or at least k, in one file and in all files
//! together, because there is nothing else in the table.
//!
//! Who is put together depends on what people are and on what the model answers them, not on their group
//! beyond that k of it must be there; and the row that they get is that of all of them, whatever their group.
//! So a test of whether groups differ means what it meant before.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::column::{Column, Value};
use super::declare::Declaration;
use super::table::Table;
use crate::error::Error;
use crate::rows::Rows;

/// A table whose rows are shared, and what that took.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The people of the audit, each with a row that at least k people of the group have.
    pub table: Table,
    /// Which row of the table that was given each row of this one was.
    pub was: Vec<usize>,
    /// People who are not in the table: the audit leaves them out, or their group has fewer than k.
    pub left_out: u64,
}

impl Declaration {
    /// The people of a table with rows that at least `k` people of their group have. `answers` tells what the
    /// model answers each profile of the table's population, as any number: columns that go with it are
    /// kept apart longest.
    pub fn shared(&self, table: &Table, k: u64, answers: &[u32]) -> Result<Shared, Error> {
        let people = People::of(self, table, k, answers)?;
        let regions = people.regions(k);
        people.table(table, &regions, k)
    }
}

impl Table {
    /// The table with numbers that at least `k` rows hold: what fewer hold becomes, together with its
    /// neighbours, their mean to three digits, or the number beside it that enough hold. Then no number that
    /// is told, such as the least, the greatest or the edge of a bin, is that of one person.
    pub fn with_shared_numbers(&self, columns: &[&str], k: u64) -> Result<Self, Error> {
        let mut shared = self.clone();
        for name in columns {
            let place = self.place(name)?;
            let Ok(encoded) = self.at(place) else {
                continue;
            };
            let column = encoded.column();
            let counts = encoded.counts();
            let mut codes: Vec<(u32, f64)> = (0..)
                .zip(column.values())
                .filter(|(_, value)| matches!(value, Value::Integer(_) | Value::Float(_)))
                .filter_map(|(code, value)| Some((code, value.number()?)))
                .filter(|&(code, number)| number.is_finite() && counts[code as usize] > 0)
                .collect();
            codes.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            let counted = codes
                .iter()
                .map(|&(code, number)| (number, counts[code as usize] as u64));
            let counted: Vec<(f64, u64)> = counted.collect();
            let mut becomes: Vec<Option<f64>> = vec![None; column.values().len()];
            for (&(code, _), number) in codes.iter().zip(shared_numbers(&counted, k)) {
                becomes[code as usize] = Some(number);
            }
            shared.renumber(place, |code, value| match (becomes[code], value) {
                (Some(number), Value::Integer(_)) => Value::Integer(number.round() as i64),
                (Some(number), Value::Float(_)) => Value::Float(number),
                (_, other) => other.clone(),
            });
        }
        Ok(shared)
    }
}

/// Numbers, given ascending with how many rows hold each, as [`Table::with_shared_numbers`] has them: one for each.
pub fn shared_numbers(counted: &[(f64, u64)], k: u64) -> Vec<f64> {
    let runs = runs(counted, k).into_iter();
    runs.flat_map(|run| std::iter::repeat_n(one_for(run, k), run.len()))
        .collect()
}

/// Numbers in order, with the rows of each, in runs that at least k rows hold, as short as can be.
fn runs(numbers: &[(f64, u64)], k: u64) -> Vec<&[(f64, u64)]> {
    let mut ends = Vec::new();
    let mut rows = 0;
    for (place, &(_, more)) in numbers.iter().enumerate() {
        rows += more;
        if rows >= k {
            ends.push(place + 1);
            rows = 0;
        }
    }
    // What is left at the end goes with the last run.
    ends.pop();
    ends.push(numbers.len());
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let runs = starts.zip(&ends).map(|(start, &end)| &numbers[start..end]);
    runs.filter(|run| !run.is_empty()).collect()
}

/// The number that stands for a run: one that enough rows hold, else the mean to three digits.
fn one_for(run: &[(f64, u64)], k: u64) -> f64 {
    if let Some(&(number, _)) = run.iter().find(|(_, rows)| *rows >= k) {
        return number;
    }
    let all: u64 = run.iter().map(|(_, rows)| rows).sum();
    let share = |rows: u64| rows as f64 / all as f64;
    let mean: f64 = run.iter().map(|&(number, rows)| number * share(rows)).sum();
    if mean == 0.0 {
        return mean;
    }
    // Towards 0, so that it still fits the column's type. Written and read again, because arithmetic
    // leaves more digits than three.
    let unit = 10_f64.powf(mean.abs().log10().floor() - 2.0);
    let cut = (mean / unit).trunc() * unit;
    format!("{cut:.2e}").parse().unwrap_or(cut)
}

/// The people of an audit, as distinct rows of all columns that it or the model reads.
struct People {
    /// The columns that describe people, and after them those that say which group they belong to.
    columns: Vec<Described>,
    /// How many of the columns describe.
    describing: usize,
    distinct: Rows,
    /// Group and number of people of each distinct row.
    group_of: Vec<usize>,
    weights: Vec<u64>,
    groups: usize,
    /// The distinct row of each row of the table; none for those left out.
    of_row: Vec<Option<usize>>,
    left_out: u64,
}

/// One column of those people.
struct Described {
    place: usize,
    /// People who hold each value, by code.
    people: Vec<u64>,
    /// Where each value stands among all people, from 0 to 1, if values are numbers.
    standing: Option<Vec<f64>>,
    /// The place of each value in the order of values, by code.
    rank: Vec<usize>,
    /// How much it has to do with what the model answers, from nearly 0 to 1.
    matters: f64,
}

/// What a column counts that has nothing to do with the model's answers.
const LEAST: f64 = 0.01;

/// Parts of many numbers, to see what they have to do with the model's answers.
const PARTS: usize = 10;

impl Described {
    fn new(place: usize, column: &Column, people: Vec<u64>) -> Self {
        let values = column.values();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| by_value(&values[a], &values[b]));
        let mut rank = vec![0; values.len()];
        for (place, &code) in order.iter().enumerate() {
            rank[code] = place;
        }
        let numbers = |value: &Value| *value == Value::Null || value.number().is_some();
        let standing = values.iter().all(numbers).then(|| {
            let all = people.iter().sum::<u64>().max(1) as f64;
            let mut standing = vec![0.0; values.len()];
            let mut below = 0;
            for &code in &order {
                standing[code] = (below as f64 + people[code] as f64 / 2.0) / all;
                below += people[code];
            }
            standing
        });
        Self {
            place,
            people,
            standing,
            rank,
            matters: 1.0,
        }
    }

    /// The share of the variance of an answer that lies between the values of the column.
    fn explains(&self, held: impl Iterator<Item = (usize, u64, bool)>) -> f64 {
        let mut parts: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        let (mut all, mut yes) = (0.0, 0.0);
        for (code, people, answer) in held {
            let part = match &self.standing {
                Some(standing) => (standing[code] * PARTS as f64) as usize,
                None => self.rank[code],
            };
            let (people, answered) = (people as f64, f64::from(u8::from(answer)) * people as f64);
            let part = parts.entry(part).or_default();
            *part = (part.0 + people, part.1 + answered);
            (all, yes) = (all + people, yes + answered);
        }
        let mean = yes / all;
        let between = parts.values().map(|(n, yes)| n * (yes / n - mean).powi(2));
        between.sum::<f64>() / (all * mean * (1.0 - mean)).max(LEAST)
    }
}

/// Missing values first, numbers by size, the rest by text.
fn by_value(a: &Value, b: &Value) -> Ordering {
    let number = |value: &Value| value.number().unwrap_or(f64::NEG_INFINITY);
    let missing_first = (*a != Value::Null).cmp(&(*b != Value::Null));
    let by_number = || number(a).total_cmp(&number(b));
    missing_first
        .then_with(by_number)
        .then_with(|| a.label().cmp(&b.label()))
}

impl People {
    fn of(
        declaration: &Declaration,
        table: &Table,
        k: u64,
        answers: &[u32],
    ) -> Result<Self, Error> {
        let (population, profiles) = declaration.population(table)?;
        let place = |name: &String| table.place(name);
        let features = declaration.features.iter().map(|feature| &feature.name);
        let protected = declaration
            .protected
            .iter()
            .map(|attribute| &attribute.name);
        let mut places = features
            .chain(&declaration.context)
            .map(place)
            .collect::<Result<Vec<_>, _>>()?;
        places.sort_unstable();
        let describing = places.len();
        places.extend(protected.map(place).collect::<Result<Vec<_>, _>>()?);
        let encoded = places.iter().map(|&place| table.at(place));
        let encoded = encoded.collect::<Result<Vec<_>, _>>()?;

        let groups = population.groups().len();
        let mut in_group = vec![0_u64; groups];
        for (_, profile, weight) in profiles.kept() {
            in_group[population.group(profile)] += weight;
        }
        let mut people = Self {
            columns: Vec::new(),
            describing,
            distinct: Rows::new(places.len()),
            group_of: Vec::new(),
            weights: Vec::new(),
            groups,
            of_row: vec![None; table.distinct_rows()],
            left_out: 0,
        };
        let mut answer_of = Vec::new();
        let mut row = vec![0; places.len()];
        let mut holders: Vec<Vec<u64>> = (encoded.iter())
            .map(|column| vec![0; column.column().values().len()])
            .collect();
        for (place, profile, weight) in profiles.kept() {
            let group = population.group(profile);
            if in_group[group] < k {
                continue;
            }
            for ((code, column), holders) in row.iter_mut().zip(&encoded).zip(&mut holders) {
                *code = column.codes()[place];
                holders[*code as usize] += weight;
            }
            let (distinct, new) = people.distinct.insert(&row);
            if new {
                people.group_of.push(group);
                answer_of.push(answers.get(profile) == answers.first());
                people.weights.push(0);
            }
            people.weights[distinct] += weight;
            people.of_row[place] = Some(distinct);
        }
        let kept: u64 = people.weights.iter().sum();
        people.left_out = profiles.people_in_all() - kept;
        let described = places.iter().zip(&encoded).zip(holders);
        people.columns = described
            .map(|((&place, column), holders)| Described::new(place, column.column(), holders))
            .collect();
        if kept == 0 {
            return Err(Error::NobodyShares { k });
        }
        let matters: Vec<f64> = (0..describing)
            .map(|column| {
                let held = answer_of.iter().enumerate().map(|(person, &answer)| {
                    (people.code(person, column), people.weights[person], answer)
                });
                people.columns[column].explains(held).max(LEAST)
            })
            .collect();
        for (column, matters) in people.columns.iter_mut().zip(matters) {
            column.matters = matters;
        }
        Ok(people)
    }

    fn code(&self, person: usize, column: usize) -> usize {
        self.distinct.row(person)[column] as usize
    }

    /// Everybody, divided as long as each part has of each group nobody or at least k.
    fn regions(&self, k: u64) -> Vec<Vec<usize>> {
        let mut divided = Vec::new();
        let mut whole = vec![(0..self.distinct.len()).collect::<Vec<usize>>()];
        let mut tally = Tally::new(self);
        while let Some(region) = whole.pop() {
            let divisions = (0..self.describing).filter_map(|column| {
                tally.count(self, &region, column);
                let division = tally.division(&self.columns[column], k);
                tally.clear();
                division.map(|mut division| {
                    division.gain *= self.columns[column].matters;
                    (division, column)
                })
            });
            // The first of the best, so that the order of columns decides ties.
            let best = divisions.reduce(|best, next| {
                if next.0.gain > best.0.gain {
                    next
                } else {
                    best
                }
            });
            let Some((division, column)) = best else {
                divided.push(region);
                continue;
            };
            let first = |&person: &usize| {
                let rank = self.columns[column].rank[self.code(person, column)];
                division.first.contains(&rank)
            };
            let (first, second): (Vec<usize>, Vec<usize>) = region.into_iter().partition(first);
            whole.extend([second, first]);
        }
        divided
    }

    /// The table in which each region has one row, groups apart.
    fn table(&self, table: &Table, regions: &[Vec<usize>], k: u64) -> Result<Shared, Error> {
        let mut shared = table.clone();
        let mut new = vec![vec![None; self.distinct.len()]; self.columns.len()];
        for region in regions {
            for (column, new) in new.iter_mut().enumerate().take(self.describing) {
                let code = self.columns[column].typical(self.held(region, column), k);
                for &person in region {
                    new[person] = code;
                }
            }
            for group in 0..self.groups {
                let members = region.iter().copied();
                let members: Vec<usize> = members.filter(|&p| self.group_of[p] == group).collect();
                let Some(most) = self.most_common(&members) else {
                    continue;
                };
                for (column, new) in new.iter_mut().enumerate().skip(self.describing) {
                    for &person in &members {
                        new[person] = Some(self.code(most, column) as u32);
                    }
                }
            }
        }
        for (column, new) in self.columns.iter().zip(&new) {
            let of_row = self.of_row.iter().map(|&person| new[person?]);
            shared.recode(column.place, of_row)?;
        }
        let was = (0..self.of_row.len()).filter(|&row| self.of_row[row].is_some());
        Ok(Shared {
            was: was.collect(),
            table: shared.filter(|row| self.of_row[row].is_some()),
            left_out: self.left_out,
        })
    }

    /// One of these people whose protected attributes are those that most of them have.
    fn most_common(&self, members: &[usize]) -> Option<usize> {
        // By ranks, because codes go by the order of rows.
        let protected = |person: usize| -> Vec<usize> {
            let columns = self.describing..self.columns.len();
            columns
                .map(|column| self.columns[column].rank[self.code(person, column)])
                .collect()
        };
        let mut together: BTreeMap<Vec<usize>, (u64, usize)> = BTreeMap::new();
        for &person in members {
            let (people, _) = together.entry(protected(person)).or_insert((0, person));
            *people += self.weights[person];
        }
        let most = together
            .into_values()
            .reduce(|most, next| if next.0 > most.0 { next } else { most });
        most.map(|(_, person)| person)
    }

    /// What the people of a region hold in a column: value and weight of each distinct row.
    fn held<'a>(
        &'a self,
        region: &'a [usize],
        column: usize,
    ) -> impl Iterator<Item = (usize, u64)> + 'a {
        let held = move |&person: &usize| (self.code(person, column), self.weights[person]);
        region.iter().map(held)
    }
}

impl Described {
    /// The value that stands for those that people hold: the one in the middle of numbers, else the most
    /// common. Only values that at least k people of the table hold may: none if there is no such value.
    fn typical(&self, held: impl Iterator<Item = (usize, u64)>, k: u64) -> Option<u32> {
        let mut held: Vec<(usize, u64)> = held.collect();
        held.sort_unstable_by_key(|&(code, _)| self.rank[code]);
        let common = |code: &usize| self.people[*code] >= k;
        let mut together: Vec<(usize, u64)> = Vec::new();
        for (code, weight) in held {
            match together.last_mut() {
                Some((last, sum)) if *last == code => *sum += weight,
                _ => together.push((code, weight)),
            }
        }
        let found = if self.standing.is_some() {
            let all: u64 = together.iter().map(|(_, weight)| weight).sum();
            let mut below = 0;
            let middle = together.iter().find(|(_, weight)| {
                below += weight;
                2 * below >= all
            });
            let middle = middle.map(|&(code, _)| self.rank[code])?;
            let codes = (0..self.rank.len()).filter(common);
            codes.min_by_key(|&code| (self.rank[code].abs_diff(middle), self.rank[code]))
        } else {
            let among = together.into_iter().filter(|(code, _)| common(code));
            let most =
                among.max_by_key(|&(code, weight)| (weight, std::cmp::Reverse(self.rank[code])));
            let anywhere = || {
                let codes = (0..self.rank.len()).filter(common);
                codes.max_by_key(|&code| (self.people[code], std::cmp::Reverse(self.rank[code])))
            };
            most.map(|(code, _)| code).or_else(anywhere)
        };
        found.map(|code| code as u32)
    }
}

/// How a region can be divided by a column.
#[derive(Debug)]
struct Division {
    /// The ranks of the values of one part.
    first: std::ops::Range<usize>,
    /// How many people's values one value for each part tells better than one for both.
    gain: f64,
}

/// How many people of a region hold each value of a column, by group.
struct Tally {
    groups: usize,
    /// By rank of the value, then by group.
    counts: Vec<u64>,
    /// The ranks that somebody holds.
    held: Vec<usize>,
}

impl Tally {
    fn new(people: &People) -> Self {
        let values = people.columns.iter().map(|column| column.rank.len());
        Self {
            groups: people.groups,
            counts: vec![0; values.max().unwrap_or(0) * people.groups],
            held: Vec::new(),
        }
    }

    fn count(&mut self, people: &People, region: &[usize], column: usize) {
        for &person in region {
            let rank = people.columns[column].rank[people.code(person, column)];
            let at = rank * self.groups;
            if self.counts[at..at + self.groups].iter().all(|&n| n == 0) {
                self.held.push(rank);
            }
            self.counts[at + people.group_of[person]] += people.weights[person];
        }
        self.held.sort_unstable();
    }

    fn clear(&mut self) {
        for rank in self.held.drain(..) {
            let at = rank * self.groups;
            self.counts[at..at + self.groups].fill(0);
        }
    }

    fn of(&self, rank: usize) -> &[u64] {
        &self.counts[rank * self.groups..(rank + 1) * self.groups]
    }

    /// The best division of those that are allowed.
    fn division(&self, column: &Described, k: u64) -> Option<Division> {
        if self.held.len() < 2 {
            return None;
        }
        let mut all = vec![0; self.groups];
        for &rank in &self.held {
            add(&mut all, self.of(rank));
        }
        let allowed = |part: &[u64]| {
            let enough = |n: u64| n == 0 || n >= k;
            (part.iter().zip(&all)).all(|(&n, &all)| enough(n) && enough(all - n))
        };
        match &column.standing {
            Some(standing) => {
                let mut by_rank = vec![0.0; column.rank.len()];
                for (&rank, &standing) in column.rank.iter().zip(standing) {
                    by_rank[rank] = standing;
                }
                self.in_two(&by_rank, &all, allowed)
            }
            None => self.one_and_the_rest(allowed),
        }
    }

    /// Numbers are cut where the parts are most equal.
    fn in_two(
        &self,
        standing: &[f64],
        all: &[u64],
        allowed: impl Fn(&[u64]) -> bool,
    ) -> Option<Division> {
        let total: u64 = all.iter().sum();
        let mut below = vec![0; self.groups];
        let mut best: Option<(u64, usize)> = None;
        for (place, &rank) in self.held[..self.held.len() - 1].iter().enumerate() {
            add(&mut below, self.of(rank));
            let uneven = (2 * below.iter().sum::<u64>()).abs_diff(total);
            if allowed(&below) && best.is_none_or(|(least, _)| uneven < least) {
                best = Some((uneven, place + 1));
            }
        }
        let (_, cut) = best?;
        let (low, high) = self.held.split_at(cut);
        let spread = |ranks: &[usize]| self.spread(ranks, standing);
        Some(Division {
            first: 0..low[cut - 1] + 1,
            // Twice, because two halves of evenly spread people are told half as well as two values are.
            gain: 2.0 * (spread(&self.held) - spread(low) - spread(high)),
        })
    }

    /// How far people stand from the one in the middle, all together.
    fn spread(&self, ranks: &[usize], standing: &[f64]) -> f64 {
        let weight = |rank: usize| self.of(rank).iter().sum::<u64>();
        let all: u64 = ranks.iter().map(|&rank| weight(rank)).sum();
        let mut below = 0;
        let middle = ranks.iter().find(|&&rank| {
            below += weight(rank);
            2 * below >= all
        });
        let Some(&middle) = middle else { return 0.0 };
        let far = |&rank: &usize| weight(rank) as f64 * (standing[rank] - standing[middle]).abs();
        ranks.iter().map(far).sum()
    }

    /// One value is taken apart from all others.
    fn one_and_the_rest(&self, allowed: impl Fn(&[u64]) -> bool) -> Option<Division> {
        let weight = |rank: usize| self.of(rank).iter().sum::<u64>();
        let mut most: Vec<u64> = self.held.iter().map(|&rank| weight(rank)).collect();
        most.sort_unstable_by(|a, b| b.cmp(a));
        let mut best: Option<Division> = None;
        for &rank in self.held.iter().filter(|&&rank| allowed(self.of(rank))) {
            // Without the most common value the others are told by the second.
            let gain = weight(rank).min(most[1]) as f64;
            if best.as_ref().is_none_or(|best| gain > best.gain) {
                best = Some(Division {
                    first: rank..rank + 1,
                    gain,
                });
            }
        }
        best
    }
}

fn add(sum: &mut [u64], more: &[u64]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}
