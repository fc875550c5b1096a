//! People made up by lot, of whom it is known what is true: is chance taken for a finding, and is
//! what was planted found?
//!
//! Everybody has a `job` and a `training`, which give points, lives in an `area`, and has `luck`,
//! which the model sees and the audit does not speak of. The model says yes to three points or more
//! with enough luck; an action that brings the points therefore helps some and not others, whatever
//! the subgroup. Nothing but what is planted depends on the group.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use facts_engine::definitions::{self, Definition};
use facts_engine::evidence::{Gathering, Tested, Tests, test};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Protected};
use facts_engine::{Audit, Options, Watch, audit_with_individuals};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// All definitions from both viewpoints, with parameters for which the made-up people differ.
pub const DEFINITIONS: [&str; 14] = [
    "equal-effectiveness:micro",
    "equal-effectiveness:macro",
    "equal-choice:0.3",
    "equal-choice:0.5",
    "equal-effectiveness-within-budget:micro:2",
    "equal-effectiveness-within-budget:macro:2",
    "equal-cost-of-effectiveness:micro:0.3",
    "equal-cost-of-effectiveness:micro:0.5",
    "equal-cost-of-effectiveness:macro:0.3",
    "equal-cost-of-effectiveness:macro:0.5",
    "fair-trade-off:micro:0.05",
    "fair-trade-off:macro",
    "equal-mean-recourse",
    "equal-mean-recourse:10",
];

/// The subgroup that is fixed before anybody is made up, and in which effects are planted.
pub const FIXED: &str = "job = none";

pub(crate) const AREAS: [&str; 4] = ["north", "east", "south", "west"];
pub(crate) const JOBS: [&str; 4] = ["none", "clerk", "expert", "chief"];
pub(crate) const TRAININGS: [&str; 3] = ["school", "college", "university"];

/// The level at which all is tested.
pub const ALPHA: f64 = 0.05;

/// How groups and luck are handed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Truth {
    /// Groups by lot, whoever one is.
    Shuffled,
    /// Groups by area: the share of the second group goes from 10 % to 90 %. Luck by lot.
    SharesDiffer,
    /// As `Shuffled`, but what helps anybody helps three of ten, whoever they are: scores of φ = 0.3 are
    /// infinite by chance in every subgroup, and tie.
    NearPhi,
    /// As `Shuffled`, but those without a job in the second group have less luck: what helps
    /// somebody of the first group helps somebody of the second with a chance that is less by so
    /// many percentage points.
    Planted(i32),
    /// Three groups by lot. What helps somebody of the first two helps somebody of the third with a chance
    /// that is less by so many percentage points, whoever they are.
    ThirdDiffers(i32),
}

/// How many people are made up, and how often they are dealt out.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// People.
    pub people: usize,
    /// Shuffles of each repeat.
    pub shuffles: usize,
    /// What is true.
    pub truth: Truth,
}

/// What came of one repeat.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// Subgroups that were mined.
    pub subgroups: usize,
    /// Members of the fixed subgroup by group; none if it was not mined.
    pub fixed_members: Option<Vec<u64>>,
    /// By definition.
    pub tests: Vec<RepeatTests>,
    /// The least p-value for all definitions together, of all subgroups and of the fixed one: by one
    /// step-down over all, and by the family-wise p-value times their number.
    pub together: [[f64; 2]; 2],
}

/// What came of one repeat under one definition.
#[derive(Clone, Copy, Debug)]
pub struct RepeatTests {
    /// The least p-value after correction, family-wise and by false discovery rate.
    pub least: [f64; 2],
    /// That of the fixed subgroup: alone, family-wise, false discovery; none if it was not mined.
    pub fixed: Option<[f64; 3]>,
}

impl World {
    /// Makes people up, mines and tests, so often.
    pub fn repeats(self, times: u64) -> Result<Vec<Repeat>, Failure> {
        (0..times)
            .into_par_iter()
            .map(|seed| self.repeat(seed))
            .collect()
    }

    fn repeat(self, seed: u64) -> Result<Repeat, Failure> {
        let definitions = DEFINITIONS.map(definitions::parse);
        let definitions: Vec<Box<dyn Definition>> =
            definitions.into_iter().collect::<Result<_, _>>()?;
        let gathering = Gathering {
            seed,
            alpha: ALPHA,
            shuffles: self.shuffles,
            ..Gathering::default()
        };
        let (audit, tests) = self.tested(seed, &definitions, &gathering)?;
        let fixed = audit
            .subgroups
            .iter()
            .position(|subgroup| audit.text(&subgroup.predicate) == FIXED);
        let all = tests.iter().flat_map(|tests| tests.tested.iter().flatten());
        let of_fixed = tests.iter().filter_map(|tests| tests.tested[fixed?]);
        let together = [least_together(all.copied()), least_together(of_fixed)];
        let tests = tests.iter().map(|tests| {
            let tested = tests.tested.iter().flatten();
            let of_fixed = fixed.and_then(|place| tests.tested[place]);
            RepeatTests {
                least: tested.fold([1.0, 1.0], |[family, rate], t| {
                    [t.family_wise.min(family), t.false_discovery.min(rate)]
                }),
                fixed: of_fixed.map(|t| [t.p, t.family_wise, t.false_discovery]),
            }
        });
        Ok(Repeat {
            together,
            tests: tests.collect(),
            subgroups: audit.subgroups.len(),
            fixed_members: fixed.map(|place| audit.subgroups[place].members.clone()),
        })
    }

    pub(crate) fn tested(
        self,
        seed: u64,
        definitions: &[Box<dyn Definition>],
        gathering: &Gathering,
    ) -> Result<(Audit, Vec<Tests>), Failure> {
        let population = Declaration::new()
            .feature(Feature::categorical("area").immutable())
            .feature(Feature::ordinal("job", JOBS).weight(2.0))
            .feature(Feature::ordinal("training", TRAININGS))
            .context("luck")
            .protected(Protected::attribute("group"))
            .read([self.people(seed)?])?;
        let options = Options::new().support("0.02".parse()?);
        let (audit, individuals) = audit_with_individuals(
            &population,
            &FnModel::new(answers),
            &options,
            Watch::nobody(),
        )?;
        let tests = test(
            &audit,
            &individuals,
            definitions,
            gathering,
            Watch::nobody(),
        )?;
        Ok((audit, tests))
    }

    /// The made-up people of a seed, as a table.
    pub fn people(self, seed: u64) -> Result<RecordBatch, Failure> {
        let mut draw = Draw(seed);
        let mut areas = Vec::with_capacity(self.people);
        let (mut jobs, mut trainings) = (areas.clone(), areas.clone());
        let (mut groups, mut luck) = (areas.clone(), Vec::with_capacity(self.people));
        for _ in 0..self.people {
            let area = draw.below(4) as usize;
            let job = JOBS[draw.below(4) as usize];
            let percent = match self.truth {
                Truth::SharesDiffer => [10, 35, 65, 90][area],
                Truth::Shuffled | Truth::NearPhi | Truth::Planted(_) => 40,
                Truth::ThirdDiffers(_) => 60,
            };
            let second = draw.below(100) < percent;
            let mut lucky = draw.below(100) as i32;
            if self.truth == Truth::NearPhi {
                lucky = if lucky < 30 { 0 } else { 99 };
            }
            if let Truth::Planted(gap) = self.truth
                && second
                && job == "none"
                // So many of those with enough luck lose it.
                && lucky < LUCKY
                && (draw.below(LUCKY as u64) as i32) < gap
            {
                lucky = 99;
            }
            let mut group = if second { "second" } else { "first" };
            if let Truth::ThirdDiffers(gap) = self.truth
                && second
                && draw.below(2) == 0
            {
                group = "third";
                let loses = lucky < LUCKY && (draw.below(LUCKY as u64) as i32) < gap;
                lucky = if loses { 99 } else { lucky };
            }
            areas.push(AREAS[area]);
            jobs.push(job);
            trainings.push(TRAININGS[draw.below(3) as usize]);
            groups.push(group);
            luck.push(lucky);
        }
        let text = |values: Vec<&str>| Arc::new(StringArray::from(values)) as ArrayRef;
        Ok(RecordBatch::try_from_iter([
            ("area", text(areas)),
            ("job", text(jobs)),
            ("training", text(trainings)),
            ("luck", Arc::new(Int32Array::from(luck)) as ArrayRef),
            ("group", text(groups)),
        ])?)
    }
}

/// Who has less than this has enough luck for three points.
const LUCKY: i32 = 50;

/// What the model says of rows: yes to three points or more with enough luck.
pub fn answers(rows: &RecordBatch) -> Vec<bool> {
    let level = |column: usize, levels: &[&str], row: usize| {
        let value = rows.column(column).as_string::<i32>().value(row);
        levels.iter().position(|level| *level == value).unwrap_or(0)
    };
    let luck = rows.column(3).as_primitive::<Int32Type>();
    let says = |row: usize| {
        let points = level(1, &JOBS, row) + level(2, &TRAININGS, row);
        points >= 3 && luck.value(row) < LUCKY + 10 * (points as i32 - 3)
    };
    (0..rows.num_rows()).map(says).collect()
}

/// Pseudo-random numbers for making people up: SplitMix64.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        ((u128::from(x) * u128::from(bound)) >> 64) as u64
    }
}

/// One cell of the table of power: how many people, and how large the gap is.
#[derive(Clone, Copy, Debug)]
pub struct Power {
    /// People in all; about a quarter of them is in the subgroup with the effect.
    pub people: usize,
    /// The gap in percentage points.
    pub gap: i32,
}

/// The cells of the table of power.
pub const POWER: [Power; 8] = [
    Power::new(800, 20),
    Power::new(800, 30),
    Power::new(800, 40),
    Power::new(800, 50),
    Power::new(3200, 10),
    Power::new(3200, 15),
    Power::new(3200, 20),
    Power::new(3200, 30),
];

impl Power {
    const fn new(people: usize, gap: i32) -> Self {
        Self { people, gap }
    }

    /// The made-up people of this cell.
    pub fn world(self) -> World {
        World {
            people: self.people,
            shuffles: 199,
            truth: Truth::Planted(self.gap),
        }
    }

    /// How the table names the cell.
    pub fn heading(self) -> String {
        format!("### {} people, a gap of {} points", self.people, self.gap)
    }
}

/// What one definition has to find in a cell of the table of power: how far the truth lies from no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The number that is compared, in the first and in the second group.
    pub truth: [f64; 2],
    /// How many people of each group the number is about, on average.
    pub people: [f64; 2],
    /// How many standard errors the two lie apart.
    pub errors: f64,
}

impl Effect {
    fn new(truth: [f64; 2], people: [f64; 2], variance: [f64; 2]) -> Self {
        let error = (variance[0] / people[0] + variance[1] / people[1]).sqrt();
        Self {
            truth,
            people,
            errors: (truth[0] - truth[1]).abs() / error,
        }
    }

    fn of_shares(shares: [f64; 2], people: [f64; 2]) -> Self {
        Self::new(shares, people, shares.map(|p| p * (1.0 - p)))
    }

    /// About how often a test that asks for so many standard errors finds it.
    pub fn power(self, asked: f64) -> f64 {
        normal(self.errors - asked)
    }
}

/// The standard normal distribution: its density added up in small steps.
pub fn normal(z: f64) -> f64 {
    const STEPS: u32 = 4000;
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let width = z.abs().min(10.0) / f64::from(STEPS);
    let middle = |i: u32| (f64::from(i) + 0.5) * width;
    let area: f64 = (0..STEPS).map(|i| density(middle(i)) * width).sum();
    0.5 + area.copysign(z)
}

/// The number up to which the standard normal distribution has this probability.
pub fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

impl Power {
    /// The share of a group's members without a job whom the way to each better job helps, from the constants of the
    /// world; whoever one job helps, the next one does too. Their trainings are by lot, and one more point asks for so
    /// much less luck.
    fn helped(self, second: bool) -> [f64; 3] {
        let lucky = f64::from(LUCKY) / 100.0;
        let lost = if second {
            f64::from(self.gap) / 100.0
        } else {
            0.0
        };
        [1, 2, 3].map(|job: i32| {
            let of_training = |training: i32| match job + training - 3 {
                short if short < 0 => 0.0,
                more => lucky - lost + 0.1 * f64::from(more),
            };
            (0..3).map(of_training).sum::<f64>() / 3.0
        })
    }

    /// Members of the planted subgroup by group, on average.
    fn members(self) -> [f64; 2] {
        let without_job = self.people as f64 / JOBS.len() as f64;
        [0.6 * without_job, 0.4 * without_job]
    }

    /// What Equal Effectiveness has to find: the shares that have a way at any cost.
    pub fn of_effectiveness(self) -> Effect {
        let shares = [false, true].map(|second| self.helped(second)[2]);
        Effect::of_shares(shares, self.members())
    }

    /// What Equal Cost of Effectiveness has to find: the shares within the least cost at which the first group reaches
    /// φ.
    pub fn of_cost(self, phi: f64) -> Effect {
        let job = self.helped(false).iter().position(|&share| share >= phi);
        let job = job.unwrap_or(2);
        let shares = [false, true].map(|second| self.helped(second)[job]);
        Effect::of_shares(shares, self.members())
    }

    /// What Equal (Conditional) Mean Recourse has to find: the mean costs of those who have a way.
    pub fn of_means(self) -> Effect {
        let moments = [false, true].map(|second| {
            let [clerk, expert, chief] = self.helped(second);
            // Each better job is two steps of cost farther.
            let first = [(2.0, clerk), (4.0, expert - clerk), (6.0, chief - expert)];
            let sum = |power: i32| -> f64 {
                let terms = first
                    .iter()
                    .map(|(cost, share): &(f64, f64)| cost.powi(power) * share);
                terms.sum::<f64>() / chief
            };
            (sum(1), sum(2) - sum(1) * sum(1), chief)
        });
        let members = self.members();
        let helped = [0, 1].map(|g| members[g] * moments[g].2);
        Effect::new(moments.map(|m| m.0), helped, moments.map(|m| m.1))
    }
}

/// What a row of the table of power says: how often the effect is found alone, family-wise and by
/// false discovery rate.
pub fn stated_power(docs: &str, cell: Power, definition: &str) -> Option<[f64; 3]> {
    let (_, after) = docs.split_once(&cell.heading())?;
    let start = format!("| {definition} |");
    let row = after
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with('#'));
    let row = row.into_iter().find_map(|line| line.strip_prefix(&start))?;
    let mut shares = row.split('|').map(|share| share.trim().parse());
    let mut next = || shares.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// In how many of some repeats chance was taken for a finding, by definition: family-wise and by
/// false discovery rate. Where nothing is to be found, whatever is found is false, so that both
/// promise at most α.
pub fn false_findings(repeats: &[Repeat]) -> Vec<[usize; 2]> {
    let wrong = |d: usize, by: usize| {
        let wrong = repeats.iter().filter(|r| r.tests[d].least[by] <= ALPHA);
        wrong.count()
    };
    let both = |d: usize| [wrong(d, 0), wrong(d, 1)];
    (0..DEFINITIONS.len()).map(both).collect()
}

/// The least p-value for all definitions together: by one step-down, and by multiplication.
fn least_together(tested: impl Iterator<Item = Tested>) -> [f64; 2] {
    let all = DEFINITIONS.len();
    tested.fold([1.0, 1.0], |[joint, times]: [f64; 2], tested| {
        let multiplied = tested.family_wise * all as f64;
        [joint.min(tested.together(all)), times.min(multiplied)]
    })
}

/// In how many of some repeats something passes by any of the definitions: each at α, all of them by
/// one step-down, and each at α over their number.
pub fn found_by_any(repeats: &[Repeat]) -> [usize; 3] {
    let any = |r: &&Repeat| r.tests.iter().any(|tests| tests.least[0] <= ALPHA);
    let together = |by: usize| {
        let passes = repeats.iter().filter(|r| r.together[0][by] <= ALPHA);
        passes.count()
    };
    [repeats.iter().filter(any).count(), together(0), together(1)]
}

/// In how many of some repeats the fixed subgroup passes by any of the definitions, for all of them
/// together: by one step-down, and by multiplication.
pub fn fixed_together(repeats: &[Repeat]) -> [usize; 2] {
    [0, 1].map(|by| {
        let passes = repeats.iter().filter(|r| r.together[1][by] <= ALPHA);
        passes.count()
    })
}

/// How often the fixed subgroup's numbers are at most `limit`, among the repeats that mined it: by
/// definition, alone, family-wise and by false discovery rate.
pub fn fixed_at_most(repeats: &[Repeat], limit: f64) -> Vec<[f64; 3]> {
    let share = |d: usize| {
        let found: Vec<[f64; 3]> = repeats.iter().filter_map(|r| r.tests[d].fixed).collect();
        let at_most = |i: usize| {
            let small = found.iter().filter(|p| p[i] <= limit).count();
            small as f64 / found.len().max(1) as f64
        };
        [0, 1, 2].map(at_most)
    };
    (0..DEFINITIONS.len()).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the constants come to is what is made up.
    #[test]
    fn what_is_planted_is_what_is_made_up() {
        let cell = Power::new(200_000, 20);
        let rows = cell.world().people(7).unwrap();
        let text = |column: usize, row: usize| rows.column(column).as_string::<i32>().value(row);
        let luck = rows.column(3).as_primitive::<Int32Type>();
        let mut counts = [[0.0; 4]; 2];
        for row in (0..rows.num_rows()).filter(|&row| text(1, row) == "none") {
            let training = TRAININGS
                .iter()
                .position(|one| *one == text(2, row))
                .unwrap();
            let counts = &mut counts[usize::from(text(4, row) == "second")];
            counts[3] += 1.0;
            for job in 1..4 {
                let points = job + training;
                let enough = points >= 3 && luck.value(row) < LUCKY + 10 * (points as i32 - 3);
                counts[job - 1] += f64::from(u8::from(enough));
            }
        }
        for (g, counts) in counts.iter().enumerate() {
            assert!((counts[3] / cell.members()[g] - 1.0).abs() < 0.02);
            for (share, helped) in counts.iter().zip(cell.helped(g == 1)) {
                assert!(
                    (share / counts[3] - helped).abs() < 0.01,
                    "{share} {helped}"
                );
            }
        }
    }

    #[test]
    fn effects_are_as_counted_by_hand() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.05, "{a} {b}");
        let cell = POWER[0];
        near(cell.of_effectiveness().errors, 2.8);
        near(cell.of_cost(0.3).errors, 2.1);
        near(cell.of_means().errors, 0.3);
        near(cell.of_means().people[1], 32.0);
        near(POWER[3].of_means().errors, 2.9);
        assert!(
            (normal(1.959_964) - 0.975).abs() < 1e-6 && (normal(-1.0) - 0.158_655).abs() < 1e-5
        );
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-4);
    }
}
