//! Which counterfactual rows can be equal.
//!
//! Two rows that differ in a column are two rows. So all questions are divided by the values that they lead to,
//! column by column, until few rows are met in each part: in a column that a change assigns, that is the value
//! assigned, and in any other the person's own. Parts are looked at one after the other, and only the rows of one
//! have to be kept at a time.

use super::Counterfactuals;
use crate::bits::{self, Words};
use crate::error::Error;

/// So many rows are met in a part at most, if they differ enough: as many as a processor has at hand. Looking a
/// row up among millions takes three times as long.
pub(super) const ROWS: usize = 1 << 17;

/// Questions none of which leads to a row that a question of another part leads to.
#[derive(Debug)]
pub(super) struct Part<'p> {
    ask: &'p Counterfactuals<'p>,
    /// What all rows of this part have in common.
    within: &'p [Within],
    /// The changes that lead to one of them for somebody.
    pub(super) changes: &'p [u32],
}

/// A column in which rows have one of a few values.
#[derive(Debug)]
struct Within {
    column: usize,
    /// By code: whether it is one of these.
    values: Vec<bool>,
    /// The positions that have one of them before any change.
    members: Words,
}

impl Part<'_> {
    /// For whom a change leads here, among those for whom it must be decided; false if for nobody.
    pub(super) fn asked(&self, change: usize, asked: &mut Words) -> bool {
        asked.copy_from_slice(self.ask.needed_words(change));
        for within in self.within {
            match assigned_to(self.ask, change, within.column) {
                None => bits::intersect(asked, &within.members),
                Some(value) if within.values[value as usize] => {}
                Some(_) => return false,
            }
        }
        asked.iter().any(|&word| word != 0)
    }

    /// The profiles of the population, affected or not, whose rows belong here.
    pub(super) fn profiles(&self) -> impl Iterator<Item = usize> + '_ {
        let population = self.ask.population;
        (0..population.profiles()).filter(move |&profile| {
            let row = population.row(profile);
            let mut within = self.within.iter();
            within.all(|within| within.values[row[within.column] as usize])
        })
    }
}

/// The value that a change assigns to a column.
fn assigned_to(ask: &Counterfactuals<'_>, change: usize, column: usize) -> Option<u32> {
    let mut assigned = ask.assigned(change);
    assigned.find(|a| a.column == column).and_then(|a| a.same())
}

/// Divides all questions into parts in which about `rows` rows are met at most, and has `work` look at each.
pub(super) fn each_part(
    ask: &Counterfactuals<'_>,
    rows: usize,
    work: &mut dyn FnMut(&Part<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let changes: Vec<u32> = (0..ask.changes() as u32).collect();
    let dividing = Dividing {
        ask,
        columns: columns(ask),
        most: rows,
    };
    dividing.divide(&mut Vec::new(), &changes, ask.decisions, 0, work)
}

/// Columns to divide by: those that no change assigns come first, since dividing by them looks at no change twice,
/// and those in which people differ most come before others. A column in which a change leads to more than one
/// value is none.
fn columns(ask: &Counterfactuals<'_>) -> Vec<usize> {
    let mut assigned = vec![false; ask.columns().len()];
    let mut moved = assigned.clone();
    for change in 0..ask.changes() {
        for to in ask.assigned(change) {
            assigned[to.column] = true;
            moved[to.column] |= to.same().is_none();
        }
    }
    let pairs_alike = |column: usize| {
        let mut people = vec![0_u64; ask.columns()[column].values().len()];
        for position in ask.positions() {
            people[ask.row(position)[column] as usize] += 1;
        }
        people.iter().map(|people| people * people).sum::<u64>()
    };
    let mut columns: Vec<usize> = (0..moved.len()).filter(|&c| !moved[c]).collect();
    columns.sort_by_cached_key(|&column| (assigned[column], pairs_alike(column)));
    columns
}

struct Dividing<'a> {
    ask: &'a Counterfactuals<'a>,
    columns: Vec<usize>,
    most: usize,
}

impl Dividing<'_> {
    /// Divides questions that lead to rows `within` some values, by the columns from the `next` on.
    fn divide(
        &self,
        within: &mut Vec<Within>,
        changes: &[u32],
        questions: usize,
        next: usize,
        work: &mut dyn FnMut(&Part<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let part = Part {
            ask: self.ask,
            within,
            changes,
        };
        let Some(&column) = self.columns.get(next).filter(|_| questions > self.most) else {
            return work(&part);
        };
        let own = self.own(column);
        let by_value = self.by_value(&part, column, &own);
        let group_of = filled(&by_value.questions, self.most);
        let groups = group_of.last().map_or(0, |last| last + 1);
        if groups < 2 {
            return self.divide(within, changes, questions, next + 1, work);
        }
        for group in 0..groups {
            let values: Vec<bool> = group_of.iter().map(|&of| of == group).collect();
            let (changes, questions) = by_value.of(&values);
            let mut members = self.ask.nobody();
            for position in self.ask.positions() {
                if values[own[position] as usize] {
                    bits::insert(&mut members, position);
                }
            }
            within.push(Within {
                column,
                values,
                members,
            });
            let done = self.divide(within, &changes, questions, next + 1, work);
            within.pop();
            done?;
        }
        Ok(())
    }

    /// By position: the value that a person has in a column.
    fn own(&self, column: usize) -> Vec<u32> {
        let mut own = vec![0; self.ask.end()];
        for position in self.ask.positions() {
            own[position] = self.ask.row(position)[column];
        }
        own
    }

    /// How many questions of a part lead to each value of a column, of which people have their `own`.
    fn by_value(&self, part: &Part<'_>, column: usize, own: &[u32]) -> ByValue {
        let mut by_value = ByValue {
            questions: vec![0; self.ask.columns()[column].values().len()],
            changes: Vec::with_capacity(part.changes.len()),
        };
        let mut asked = self.ask.nobody();
        for &change in part.changes {
            if !part.asked(change as usize, &mut asked) {
                continue;
            }
            let assigned = assigned_to(self.ask, change as usize, column);
            by_value.changes.push((change, assigned));
            match assigned {
                Some(value) => by_value.questions[value as usize] += bits::len(&asked),
                None => {
                    for position in bits::iter(&asked) {
                        by_value.questions[own[position] as usize] += 1;
                    }
                }
            }
        }
        by_value
    }
}

/// The questions of a part, by the value of a column that they lead to.
struct ByValue {
    questions: Vec<usize>,
    /// The changes that lead into the part, and what they assign.
    changes: Vec<(u32, Option<u32>)>,
}

impl ByValue {
    /// The changes that may lead to one of these values, and how many questions do.
    fn of(&self, values: &[bool]) -> (Vec<u32>, usize) {
        let leads_here = |value: Option<u32>| value.is_none_or(|value| values[value as usize]);
        let changes = self.changes.iter().filter(|change| leads_here(change.1));
        let questions = self.questions.iter().zip(values);
        let questions = questions.filter(|(_, here)| **here);
        (
            changes.map(|&(change, _)| change).collect(),
            questions.map(|(questions, _)| questions).sum(),
        )
    }
}

/// Fills groups with so many questions, value by value: the group of each value.
fn filled(questions: &[usize], enough: usize) -> Vec<usize> {
    let (mut group, mut inside) = (0, 0);
    let of_value = questions.iter().map(|&questions| {
        if inside > 0 && inside + questions > enough {
            group += 1;
            inside = 0;
        }
        inside += questions;
        group
    });
    of_value.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::{Arc, Mutex};

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::filled;
    use crate::bits::Words;
    use crate::error::Error;
    use crate::flips::{Counterfactuals, Model, ModelError};
    use crate::population::{Declaration, Edges, Feature, Move, Population, Protected, View};
    use crate::{Audit, Options, Watch, audit};

    /// Nobody may change where they were born; income is moved between bins, by as much as each person's own.
    fn population() -> Population {
        let number = |row: usize, column: usize, below: usize| {
            (row * 2_654_435_761 + column * 40_503) % 1_000_003 % below
        };
        let texts = |column: usize, below: usize| {
            let text = |row| Some(format!("{}", number(row, column, below)));
            Arc::new((0..600).map(text).collect::<StringArray>()) as ArrayRef
        };
        let hours = (0..600).map(|row| Some(number(row, 4, 9) as i64));
        let income = (0..600).map(|row| Some(number(row, 5, 40) as f64));
        let columns = [
            ("born", texts(1, 3)),
            ("job", texts(2, 5)),
            ("area", texts(3, 4)),
            ("hours", Arc::new(hours.collect::<Int64Array>())),
            ("income", Arc::new(income.collect::<Float64Array>())),
            ("sex", texts(6, 2)),
        ];
        let income = Feature::binned("income", Edges::Quantiles(4));
        Declaration::new()
            .feature(Feature::categorical("born").immutable())
            .feature(Feature::categorical("job"))
            .feature(Feature::categorical("area"))
            .feature(Feature::numeric("hours"))
            .feature(income.view(View::Raw(Move::Linear)))
            .protected(Protected::attribute("sex"))
            .read([RecordBatch::try_from_iter(columns).unwrap()])
            .unwrap()
    }

    /// A model that answers one in three rows with yes, and is asked by parts of so many rows.
    struct InParts {
        rows: usize,
        asked: Mutex<HashSet<String>>,
    }

    impl Model for InParts {
        fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
            let mut asked = self.asked.lock().unwrap();
            let answers = (0..rows.num_rows()).map(|row| {
                let text = format!("{:?}", rows.slice(row, 1).columns());
                let digits = text.bytes().filter(u8::is_ascii_digit);
                let sum = digits.fold(0, |sum, digit| (sum * 7 + u64::from(digit)) % 1009);
                assert!(asked.insert(text), "asked twice");
                Some(sum % 3 == 0)
            });
            Ok(Arc::new(answers.collect::<BooleanArray>()))
        }

        fn flips(&self, ask: &Counterfactuals<'_>) -> Result<Vec<Words>, Error> {
            let mut parts = 0;
            let mut met = HashMap::new();
            super::each_part(ask, self.rows, &mut |part| {
                parts += 1;
                let mut asked = ask.nobody();
                for &change in part.changes {
                    if part.asked(change as usize, &mut asked) {
                        *met.entry(change as usize).or_insert(0) += crate::bits::len(&asked);
                    }
                }
                Ok(())
            })?;
            // Each question is in one part.
            assert_eq!(met.values().sum::<usize>(), ask.decisions);
            assert!(parts * self.rows >= ask.decisions / 50, "{parts} parts");
            assert_eq!(parts == 1, self.rows >= ask.decisions, "{parts} parts");
            ask.each_row_once_in_parts(self, self.rows)
        }
    }

    #[test]
    fn however_questions_are_divided_each_row_is_asked_once() {
        let population = population();
        let of = |rows: usize| -> (Audit, HashSet<String>) {
            let asked = Mutex::default();
            let model = InParts { rows, asked };
            let options = Options::new().support("0.02".parse().unwrap());
            let found = audit(&population, &model, &options, Watch::nobody()).unwrap();
            (found, model.asked.into_inner().unwrap())
        };
        let (whole, asked) = of(usize::MAX);
        assert!(asked.len() > 3000, "{}", asked.len());
        for rows in [1, 100, 2000] {
            let (divided, again) = of(rows);
            assert_eq!(format!("{divided:?}"), format!("{whole:?}"));
            assert!(again == asked);
        }
    }

    #[test]
    fn groups_are_filled_value_by_value() {
        assert_eq!(filled(&[3, 3, 3, 10, 1, 1], 6), [0, 0, 1, 2, 3, 3]);
        assert_eq!(filled(&[7], 1), [0]);
        assert!(filled(&[], 1).is_empty());
    }
}
