//! People and models made up by lot, of whom it is known what is true: does a comparison of two audits
//! take chance for a change, does it find a change that was planted, and do bounds of gaps hold?
//!
//! Everybody has a `job` and a `training`, which give points, lives in an `area`, has `luck` from 0 to 99,
//! which models see and the audit does not speak of, and belongs to one of two groups. Who succeeds in
//! truth follows points and luck alone.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, UInt64Array};
use facts_engine::answer::{DELTA, answer, subgroup_gaps};
use facts_engine::comparison::{
    self, Comparison, GapMoved, Moved, Pair, Series, Side, SubgroupCompared,
};
use facts_engine::distribution::Viewpoint;
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Population, Protected};
use facts_engine::{Audit, Individuals, Options, Watch, audit_again, audit_with_individuals};
use rayon::prelude::*;

use crate::simulation::{ALPHA, AREAS, Draw, JOBS, TRAININGS};

/// From 0 to so much less one.
const LUCK: usize = 100;

/// Steps of Newton's method: the last ones change no digit that matters.
const NEWTON: usize = 8;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Weights of a model: a constant, areas, jobs, trainings, luck.
const WEIGHTS: usize = 1 + 4 + 4 + 3 + 1;

/// A model that says yes from 0 on.
#[derive(Clone, Debug)]
pub enum Model {
    /// The rule that all people are judged by in truth.
    Rule,
    /// The same, but people of the second group in the north need so much more luck.
    Planted(i32),
    /// A logistic regression, fitted.
    Fitted(Box<[f64; WEIGHTS]>),
    /// The rule with an error of its own for each distinct person: a learner that follows each example.
    Overfitted(u64),
    /// The rule, but each luck counts as another, which counts as it. As good for everybody there can be, in every
    /// respect, while most people are answered otherwise.
    Swapped(Box<[i32; LUCK]>),
}

/// One person.
#[derive(Clone, Copy)]
struct Person {
    area: usize,
    job: usize,
    training: usize,
    luck: i32,
    second: bool,
}

impl Person {
    fn by_lot(draw: &mut Draw) -> Self {
        Self {
            area: draw.below(4) as usize,
            job: draw.below(4) as usize,
            training: draw.below(3) as usize,
            luck: draw.below(LUCK as u64) as i32,
            second: draw.below(100) < 40,
        }
    }

    /// Above 0, success is likelier than not.
    fn merit(self) -> f64 {
        let points = (self.job + self.training) as f64;
        1.2 * (points - 3.0) - f64::from(self.luck - 50) / 12.0
    }

    fn inputs(self) -> [f64; WEIGHTS] {
        let mut inputs = [0.0; WEIGHTS];
        inputs[0] = 1.0;
        inputs[1 + self.area] = 1.0;
        inputs[5 + self.job] = 1.0;
        inputs[9 + self.training] = 1.0;
        inputs[12] = f64::from(self.luck - 50) / 29.0;
        inputs
    }
}

impl Model {
    /// Fits a logistic regression to so many people, made up by this seed, and to how they did.
    pub fn fitted(people: usize, seed: u64) -> Self {
        let mut draw = Draw(seed ^ 0xf17);
        let examples: Vec<([f64; WEIGHTS], f64)> = (0..people)
            .map(|_| {
                let person = Person::by_lot(&mut draw);
                let likely = 1.0 / (1.0 + (-person.merit()).exp());
                let luckier = draw.below(1 << 32) as f64 / (1_u64 << 32) as f64;
                (person.inputs(), f64::from(luckier < likely))
            })
            .collect();
        // Newton's method; each weight is held back a little, as by one example.
        let mut weights = Box::new([0.0; WEIGHTS]);
        for _ in 0..NEWTON {
            let mut slope = weights.map(|weight| -weight);
            let mut bend = [[0.0; WEIGHTS]; WEIGHTS];
            for (i, row) in bend.iter_mut().enumerate() {
                row[i] = 1.0;
            }
            for (inputs, outcome) in &examples {
                let likely = 1.0 / (1.0 + (-score(&weights, inputs)).exp());
                let spread = likely * (1.0 - likely);
                for ((slope, row), input) in slope.iter_mut().zip(&mut bend).zip(inputs) {
                    *slope += (outcome - likely) * input;
                    if *input != 0.0 {
                        for (bend, other) in row.iter_mut().zip(inputs) {
                            *bend += spread * input * other;
                        }
                    }
                }
            }
            for (weight, step) in weights.iter_mut().zip(solved(bend, slope)) {
                *weight += step;
            }
        }
        Self::Fitted(weights)
    }

    /// Luck swapped in pairs that are drawn by lot.
    pub fn swapped(seed: u64) -> Self {
        let mut draw = Draw(seed ^ 0x5a4b);
        let mut left: Vec<i32> = (0..LUCK as i32).collect();
        let mut luck = Box::new([0; LUCK]);
        while let Some(one) = left.pop() {
            let other = left.swap_remove(draw.below(left.len() as u64) as usize);
            luck[one as usize] = other;
            luck[other as usize] = one;
        }
        Self::Swapped(luck)
    }

    fn says_yes(&self, person: Person) -> bool {
        match self {
            Self::Rule => person.merit() >= 0.0,
            Self::Planted(luck) => {
                let handicap = if person.second && person.area == 0 {
                    *luck
                } else {
                    0
                };
                let luck = person.luck + handicap;
                Person { luck, ..person }.merit() >= 0.0
            }
            Self::Fitted(weights) => score(weights, &person.inputs()) >= 0.0,
            Self::Swapped(luck) => {
                let luck = luck[person.luck as usize];
                Person { luck, ..person }.merit() >= 0.0
            }
            Self::Overfitted(seed) => {
                let cell = ((person.area * 4 + person.job) * 3 + person.training) * 100;
                let cell = (cell as u64 + person.luck as u64) * 2 + u64::from(person.second);
                let error = Draw(seed.wrapping_mul(0x9e37) ^ (cell << 20)).below(2000) as f64;
                person.merit() + error / 1000.0 - 1.0 >= 0.0
            }
        }
    }

    fn answers(&self, rows: &RecordBatch) -> Vec<bool> {
        let text = |name: &str| {
            rows.column_by_name(name)
                .map(|column| column.as_string::<i32>())
        };
        let (areas, jobs) = (text("area"), text("job"));
        let (trainings, groups) = (text("training"), text("group"));
        let luck = rows
            .column_by_name("luck")
            .map(|column| column.as_primitive::<Int32Type>());
        let place = |levels: &[&str], value: &str| levels.iter().position(|one| *one == value);
        let person = |row: usize| {
            Some(Person {
                area: place(&AREAS, areas?.value(row))?,
                job: place(&JOBS, jobs?.value(row))?,
                training: place(&TRAININGS, trainings?.value(row))?,
                luck: luck?.value(row),
                second: groups.is_some_and(|groups| groups.value(row) == "second"),
            })
        };
        let says = |row: usize| person(row).is_some_and(|person| self.says_yes(person));
        (0..rows.num_rows()).map(says).collect()
    }
}

/// Solves equations of which the matrix is symmetric and positive.
fn solved(mut rows: [[f64; WEIGHTS]; WEIGHTS], mut right: [f64; WEIGHTS]) -> [f64; WEIGHTS] {
    for i in 0..WEIGHTS {
        let (pivot, value) = (rows[i], right[i]);
        for (row, right) in rows.iter_mut().zip(&mut right).skip(i + 1) {
            let factor = row[i] / pivot[i];
            for (entry, above) in row.iter_mut().zip(pivot) {
                *entry -= factor * above;
            }
            *right -= factor * value;
        }
    }
    for i in (0..WEIGHTS).rev() {
        let known: f64 = (rows[i].iter().zip(right).skip(i + 1))
            .map(|(entry, known)| entry * known)
            .sum();
        right[i] = (right[i] - known) / rows[i][i];
    }
    right
}

fn score(weights: &[f64; WEIGHTS], inputs: &[f64; WEIGHTS]) -> f64 {
    weights.iter().zip(inputs).map(|(w, x)| w * x).sum()
}

fn batch(people: &[Person], weights: Vec<u64>) -> Result<RecordBatch, Failure> {
    let text = |of: &dyn Fn(&Person) -> &'static str| {
        let values = people.iter().map(of);
        Arc::new(StringArray::from_iter_values(values)) as ArrayRef
    };
    let group = |person: &Person| if person.second { "second" } else { "first" };
    let luck = people.iter().map(|person| person.luck);
    Ok(RecordBatch::try_from_iter([
        ("area", text(&|person| AREAS[person.area])),
        ("job", text(&|person| JOBS[person.job])),
        ("training", text(&|person| TRAININGS[person.training])),
        (
            "luck",
            Arc::new(Int32Array::from_iter_values(luck)) as ArrayRef,
        ),
        ("group", text(&group)),
        ("people", Arc::new(UInt64Array::from(weights)) as ArrayRef),
    ])?)
}

fn population(rows: RecordBatch) -> Result<Population, Failure> {
    Ok(Declaration::new()
        .feature(Feature::categorical("area").immutable())
        .feature(Feature::ordinal("job", JOBS).weight(2.0))
        .feature(Feature::ordinal("training", TRAININGS))
        .context("luck")
        .protected(Protected::attribute("group"))
        .weight("people")
        .read([rows])?)
}

/// So many people, made up by this seed.
fn people(number: usize, seed: u64) -> Result<Population, Failure> {
    let mut draw = Draw(seed);
    let people: Vec<Person> = (0..number).map(|_| Person::by_lot(&mut draw)).collect();
    population(batch(&people, vec![1; number])?)
}

/// Everybody there can be, as often as they are likely.
fn everybody() -> Result<Population, Failure> {
    let mut people = Vec::new();
    for cell in 0..4 * 4 * 3 * LUCK * 2 {
        people.push(Person {
            second: cell % 2 == 1,
            luck: (cell / 2 % LUCK) as i32,
            training: cell / 200 % 3,
            job: cell / 600 % 4,
            area: cell / 2400,
        });
    }
    let weights = people
        .iter()
        .map(|person| if person.second { 2 } else { 3 });
    let weights = weights.collect();
    population(batch(&people, weights)?)
}

/// An audit, with the people behind it.
struct Audited {
    audit: Audit,
    individuals: Individuals,
    people: Vec<facts_engine::answer::GroupPeople>,
}

impl Audited {
    fn new(population: &Population, model: &Model) -> Result<Self, Failure> {
        let asked = FnModel::new(|rows: &RecordBatch| model.answers(rows));
        let (audit, individuals) =
            audit_with_individuals(population, &asked, &options()?, Watch::nobody())?;
        Ok(Self::of(audit, individuals))
    }

    fn of(audit: Audit, individuals: Individuals) -> Self {
        let people = answer(&audit, &individuals, &[], None, DELTA).people;
        Self {
            audit,
            individuals,
            people,
        }
    }

    fn side(&self) -> Side<'_> {
        Side {
            audit: &self.audit,
            people: Some(&self.people),
        }
    }
}

fn options() -> Result<Options, Failure> {
    Ok(Options::new().support("0.02".parse()?).min_members(20))
}

/// How a pair of audits is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Two tables of other people.
    Samples,
    /// The same people.
    SamePeople,
}

/// What the models of a pair are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Models {
    /// Both times the rule.
    Same,
    /// Logistic regressions, each fitted to so many people of its own.
    Fitted(usize),
    /// Learners that follow each example, each in its own way.
    Overfitted,
    /// The rule, then one that is as good for everybody there can be, but answers most people otherwise.
    Swapped,
    /// The rule, then the planted one.
    Planted(i32),
}

impl Models {
    fn of(self, seed: u64, later: bool) -> Model {
        let own = seed * 2 + u64::from(later);
        match self {
            Self::Same => Model::Rule,
            Self::Fitted(people) => Model::fitted(people, own),
            Self::Overfitted => Model::Overfitted(own),
            Self::Swapped if later => Model::swapped(own),
            Self::Planted(luck) if later => Model::Planted(luck),
            Self::Swapped | Self::Planted(_) => Model::Rule,
        }
    }
}

/// Two audits of so many people each.
struct Both<'e> {
    way: Way,
    models: [Model; 2],
    audits: [Audited; 2],
    /// The people of the first audit, and of the second if they are the same.
    first: Population,
    everybody: &'e Population,
}

impl<'e> Both<'e> {
    fn new(
        way: Way,
        models: Models,
        number: usize,
        seed: u64,
        everybody: &'e Population,
    ) -> Result<Self, Failure> {
        let first = people(number, seed * 1000)?;
        let models = [models.of(seed, false), models.of(seed, true)];
        let old = Audited::new(&first, &models[0])?;
        let new = match way {
            Way::Samples => Audited::new(&people(number, seed * 1000 + 1)?, &models[1])?,
            Way::SamePeople => Audited::new(&first, &models[1])?,
        };
        Ok(Self {
            way,
            models,
            audits: [old, new],
            first,
            everybody,
        })
    }

    fn compared(&self) -> Result<Comparison, Failure> {
        compared(self.way, &self.audits, &self.first, &[])
    }

    /// Whether everything that is said to have moved did so, and that way, when everybody there can be is
    /// counted instead.
    fn is_true(&self, found: &Comparison) -> Result<bool, Failure> {
        let again = |place: usize| -> Result<Audited, Failure> {
            let (model, audit) = (&self.models[place], &self.audits[place].audit);
            let asked = FnModel::new(|rows: &RecordBatch| model.answers(rows));
            let nobody = Watch::nobody();
            let (audit, individuals) =
                audit_again(self.everybody, &asked, audit, &options()?, nobody)?;
            Ok(Audited::of(audit, individuals))
        };
        let within = found.subgroups.iter().flat_map(|subgroup| &subgroup.within);
        let mut costs: Vec<f64> = within.map(|within| within.cost).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        let truth = compared(self.way, &[again(0)?, again(1)?], self.everybody, &costs)?;
        let alpha = found.alpha;
        let as_said = |said: &Moved, truth: &Moved| {
            !said.is_shown(alpha) || (said.by * truth.by > 0.0 && truth.by.abs() > 1e-9)
        };
        let of_people = match (&found.people, &truth.people) {
            (Some(said), Some(truth)) => {
                let groups = said.shut_out.iter().chain(&said.open);
                let true_groups = truth.shut_out.iter().chain(&truth.open);
                let gaps = said.gaps.iter().zip(&truth.gaps);
                (groups.zip(true_groups)).all(|(said, truth)| as_said(&said.moved, &truth.moved))
                    && gaps
                        .into_iter()
                        .all(|(said, truth)| as_said(&said.moved, &truth.moved))
            }
            _ => true,
        };
        let of_subgroup = |said: &SubgroupCompared| {
            let known = truth.subgroup(&said.predicate);
            said.within.iter().all(|said| {
                let Some(truth) = known.and_then(|known| known.within(Some(said.cost))) else {
                    return false;
                };
                let groups = said.groups.iter().zip(&truth.groups);
                let gaps = said.gaps.iter().zip(&truth.gaps);
                groups
                    .into_iter()
                    .all(|(said, truth)| as_said(&said.moved, &truth.moved))
                    && gaps
                        .into_iter()
                        .all(|(said, truth)| as_said(&said.moved, &truth.moved))
            })
        };
        Ok(of_people && found.subgroups.iter().all(of_subgroup))
    }
}

fn compared(
    way: Way,
    [old, new]: &[Audited; 2],
    people: &Population,
    budgets: &[f64],
) -> Result<Comparison, Failure> {
    let compared = match way {
        Way::Samples => comparison::compare(old.side(), new.side(), budgets, ALPHA),
        Way::SamePeople => {
            let pair = |profile: usize| Pair {
                now: profile,
                before: profile,
                group: people.group(profile),
                people: people.people(profile),
            };
            let pairs: Vec<Pair> = (0..people.profiles()).map(pair).collect();
            let old = (&old.audit, &old.individuals);
            let new = (&new.audit, &new.individuals);
            comparison::compare_people(&pairs, old, new, budgets, ALPHA)?
        }
    };
    compared.ok_or_else(|| "the audits compare other groups".into())
}

/// What came of many pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Pairs.
    pub pairs: usize,
    /// Those in which anything is said to have moved.
    pub alarms: usize,
    /// Those in which a gap is said to have moved, of all people or of a subgroup.
    pub gaps: usize,
    /// Those in which anything is said that is not true of everybody there can be.
    pub wrong: usize,
    /// Those in which a gap is said to have moved against the second group.
    pub planted: usize,
}

/// Compares so many pairs.
pub fn pairs(way: Way, models: Models, number: usize, times: u64) -> Result<Found, Failure> {
    let everybody = everybody()?;
    let one = |seed: u64| -> Result<Found, Failure> {
        let both = Both::new(way, models, number, seed, &everybody)?;
        let found = both.compared()?;
        let alarm = found.anything_moved();
        Ok(Found {
            pairs: 1,
            alarms: usize::from(alarm),
            gaps: usize::from(gap_moved(&found, |gap| gap.moved.is_shown(ALPHA))),
            wrong: usize::from(alarm && !both.is_true(&found)?),
            planted: usize::from(gap_moved(&found, |gap| gap.moved_against(1, ALPHA))),
        })
    };
    let all: Vec<Found> = (0..times)
        .into_par_iter()
        .map(one)
        .collect::<Result<_, Failure>>()?;
    Ok(all.into_iter().fold(Found::default(), |sum, one| Found {
        pairs: sum.pairs + one.pairs,
        alarms: sum.alarms + one.alarms,
        gaps: sum.gaps + one.gaps,
        wrong: sum.wrong + one.wrong,
        planted: sum.planted + one.planted,
    }))
}

/// Whether some gap, of all people or of a subgroup, is said to have moved as wanted.
fn gap_moved(found: &Comparison, wanted: impl Fn(&GapMoved) -> bool) -> bool {
    let of_people = found.people.iter().flat_map(|people| &people.gaps);
    let within = found.subgroups.iter().flat_map(|subgroup| &subgroup.within);
    let of_subgroups = within.flat_map(|within| &within.gaps);
    of_people.chain(of_subgroups).any(wanted)
}

/// A series of looks, each at other people: with the first and then the later models, and the planted one from a look
/// on.
pub fn looks(
    models: Models,
    number: usize,
    looks: usize,
    planted_from: Option<(usize, i32)>,
    seed: u64,
) -> Result<Series, Failure> {
    let audits = (0..=looks).map(|look| {
        let own = seed * 100 + look as u64;
        let model = match planted_from {
            Some((from, luck)) if look >= from => Model::Planted(luck),
            _ => models.of(own, look > 0),
        };
        Audited::new(&people(number, own * 1000 + 7)?, &model)
    });
    let audits: Vec<Audited> = audits.collect::<Result<_, Failure>>()?;
    let sides: Vec<Side<'_>> = audits.iter().map(Audited::side).collect();
    Ok(comparison::series(&sides, &[], ALPHA))
}

/// What came of bounds in many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Covered {
    /// Runs.
    pub runs: usize,
    /// Those in which the bounds of all subgroups hold.
    pub together: usize,
    /// Bounds of subgroups by themselves.
    pub alone: usize,
    /// Those of them that hold.
    pub alone_hold: usize,
    /// The narrowest distance between a bound and what it bounds, in any run.
    pub narrowest: f64,
}

/// Whether the bounds of gaps hold, in so many runs of so many people under a model that asks the second
/// group in the north for more luck.
pub fn covered(number: usize, luck: i32, runs: u64) -> Result<Covered, Failure> {
    let everybody = everybody()?;
    let model = Model::Planted(luck);
    let run = |seed: u64| -> Result<Covered, Failure> {
        let found = Audited::new(&people(number, seed * 31 + 5)?, &model)?.audit;
        let asked = FnModel::new(|rows: &RecordBatch| model.answers(rows));
        let (truth, _) = audit_again(&everybody, &asked, &found, &options()?, Watch::nobody())?;
        let mut covered = Covered {
            runs: 1,
            narrowest: f64::INFINITY,
            ..Covered::default()
        };
        let mut all = true;
        let gaps = subgroup_gaps(&found, ALPHA);
        for (subgroup, gap) in found.subgroups.iter().zip(gaps) {
            let text = found.text(&subgroup.predicate);
            let mut others = truth.subgroups.iter();
            let same = others.find(|other| truth.text(&other.predicate) == text);
            let (Some(same), Some(gap)) = (same, gap) else {
                return Err(format!("{text} has no truth").into());
            };
            let widest = same.widest_gap(Viewpoint::Micro).ok_or("no gap")?;
            let (best, worst) = (widest.best(), widest.worst());
            let true_gap = widest.shares[best].ratio() - widest.shares[worst].ratio();
            all &= gap.bound >= true_gap;
            covered.alone += 1;
            covered.alone_hold += usize::from(gap.bound_alone >= true_gap);
            covered.narrowest = covered.narrowest.min(gap.bound - true_gap);
        }
        covered.together = usize::from(all);
        Ok(covered)
    };
    let all: Vec<Covered> = (0..runs)
        .into_par_iter()
        .map(run)
        .collect::<Result<_, Failure>>()?;
    Ok(all.into_iter().fold(
        Covered {
            narrowest: f64::INFINITY,
            ..Covered::default()
        },
        |sum, one| Covered {
            runs: sum.runs + one.runs,
            together: sum.together + one.together,
            alone: sum.alone + one.alone,
            alone_hold: sum.alone_hold + one.alone_hold,
            narrowest: sum.narrowest.min(one.narrowest),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fit answers nearly as the rule by which its examples came to be.
    #[test]
    fn a_fit_is_near_the_rule() {
        let fitted = Model::fitted(20_000, 3);
        let mut draw = Draw(11);
        let people = (0..2000).map(|_| Person::by_lot(&mut draw));
        let agree =
            people.filter(|&person| fitted.says_yes(person) == Model::Rule.says_yes(person));
        assert!(agree.count() > 1900);
    }

    #[test]
    fn equations_are_solved() {
        let mut rows = [[0.1; WEIGHTS]; WEIGHTS];
        for (i, row) in rows.iter_mut().enumerate() {
            row[i] = 2.0 + i as f64;
        }
        let truth: [f64; WEIGHTS] = std::array::from_fn(|i| i as f64 - 3.5);
        let right = rows.map(|row| row.iter().zip(truth).map(|(a, b)| a * b).sum());
        let found = solved(rows, right);
        assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
