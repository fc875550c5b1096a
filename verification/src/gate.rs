//! The gate on made-up people of whom the truth is known: does it fail when nothing changed, and does it
//! find a regression that was planted?
//!
//! A pair is two audits of the made-up people of [`simulation`](crate::simulation): the first is accepted as
//! the baseline, the second is judged beside it. The rule is the one that is judged when none is written.

use arrow_array::RecordBatch;
use facts_engine::flips::FnModel;
use facts_report::{ModelOrigin, Origin, Record, Report};
use facts_run::gate::{Baseline, judge};
use facts_run::{Config, FromCode, Silent, Table, run_with};

use crate::simulation::{FIXED, Truth, World, answers};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How audits are made: the paper's definitions, and enough shuffles for a finding to pass for
/// all twelve of them together.
const CONFIG: &str = r#"
[data]
context = ["luck"]
[model]
favourable = 1
[protected.group]
[features.area]
immutable = true
[features.job]
order = ["none", "clerk", "expert", "chief"]
weight = 2
[features.training]
order = ["school", "college", "university"]
[audit]
support = 0.02
threads = 1
[evidence]
shuffles = 499
resamples = 0
"#;

/// What is different the second time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    /// How many people each audit has.
    pub people: usize,
    /// The gap of those without a job in the baseline, in percentage points.
    pub before: i32,
    /// The same in the audit that is judged.
    pub now: i32,
    /// Whether the people are the same and only the model was retrained: one in ten gets other luck.
    pub same_people: bool,
}

/// What the gate said of one pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Whether it failed.
    pub failed: bool,
    /// Whether the subgroup in which the gap was planted, or one inside, was named as new or grown.
    pub named: bool,
}

/// Pairs in which nothing changed: whoever fails is a false alarm.
pub const EQUAL: [Pairs; 4] = [
    Pairs::new(800, 0, 0, false),
    Pairs::new(800, 30, 30, false),
    Pairs::new(800, 30, 30, true),
    Pairs::new(3200, 20, 20, false),
];

/// Pairs in which the gap grew.
pub const WORSE: [Pairs; 5] = [
    Pairs::new(3200, 0, 15, false),
    Pairs::new(3200, 0, 20, false),
    Pairs::new(3200, 0, 30, false),
    Pairs::new(3200, 15, 30, false),
    Pairs::new(3200, 15, 40, false),
];

impl Pairs {
    const fn new(people: usize, before: i32, now: i32, same_people: bool) -> Self {
        Self {
            people,
            before,
            now,
            same_people,
        }
    }

    /// How a table names these pairs.
    pub fn heading(self) -> String {
        let people = if self.same_people {
            "the same people"
        } else {
            "other people"
        };
        format!(
            "{} people, {} → {} points, {people}",
            self.people, self.before, self.now
        )
    }

    /// Judges so many pairs.
    pub fn judged(self, times: u64) -> Result<Vec<Judged>, Failure> {
        let config = Config::parse("the simulation", CONFIG, &[])?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // Plain threads: an audit waits for its own pool, and a worker of another that waits would take up
        // the next pair inside of this one.
        let done: Vec<Result<Vec<Judged>, Failure>> = std::thread::scope(|scope| {
            let part = |first: usize| {
                let config = &config;
                let pairs = (first as u64..times).step_by(threads);
                scope.spawn(move || pairs.map(|pair| self.judge(config, pair)).collect())
            };
            let parts: Vec<_> = (0..threads).map(part).collect();
            let join = |part: std::thread::ScopedJoinHandle<'_, _>| {
                part.join()
                    .unwrap_or_else(|_| Err("a pair could not be judged".into()))
            };
            parts.into_iter().map(join).collect()
        });
        let parts = done.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        Ok(parts.concat())
    }

    fn judge(self, config: &Config, pair: u64) -> Result<Judged, Failure> {
        let old = self.world(self.before).people(2 * pair)?;
        let new = if self.same_people {
            retrained(&old, pair)?
        } else {
            self.world(self.now).people(2 * pair + 1)?
        };
        let (old, new) = (audited(config, old)?, audited(config, new)?);
        let today = "2026-01-31";
        let accepted = judge(&Report::new(&old)?, config, None, today)?;
        let baseline = Baseline::new(&old, String::new(), &accepted.rules);
        let gate = judge(&Report::new(&new)?, config, Some(&(baseline, old)), today)?;
        let mut counting = gate.rules.iter().flat_map(|rule| rule.counting());
        let names = |predicate: &Option<String>| {
            let predicate = predicate.as_deref().unwrap_or("");
            predicate.split(", ").any(|item| item == FIXED)
        };
        Ok(Judged {
            failed: !gate.passed,
            named: counting.any(|finding| names(&finding.predicate)),
        })
    }

    fn world(self, gap: i32) -> World {
        World {
            people: self.people,
            shuffles: 0,
            truth: Truth::Planted(gap),
        }
    }
}

/// The same people under a model that was trained again: one in ten has the luck of somebody else of the
/// same group and job, so that as many have a way out as before, give or take chance.
fn retrained(people: &RecordBatch, seed: u64) -> Result<RecordBatch, Failure> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    let luck = people.column(3).as_primitive::<Int32Type>();
    let text = |column: usize, row: usize| people.column(column).as_string::<i32>().value(row);
    let mut new: Vec<i32> = luck.values().to_vec();
    let mut last: std::collections::HashMap<(&str, &str), i32> = std::collections::HashMap::new();
    for (row, new) in new.iter_mut().enumerate() {
        let alike = (text(1, row), text(4, row));
        let mixed = (row as u64)
            .wrapping_add(seed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            >> 32;
        if mixed.is_multiple_of(10)
            && let Some(&other) = last.get(&alike)
        {
            *new = other;
        }
        last.insert(alike, luck.value(row));
    }
    let mut columns = people.columns().to_vec();
    columns[3] = std::sync::Arc::new(arrow_array::Int32Array::from(new));
    Ok(RecordBatch::try_new(people.schema(), columns)?)
}

fn audited(config: &Config, people: RecordBatch) -> Result<Record, Failure> {
    let origin = Origin {
        name: "made up".to_owned(),
        sha256: None,
        files: Vec::new(),
    };
    let table = Table::of(&[people], origin)?;
    let model = ModelOrigin {
        spec: "made up".to_owned(),
        description: "points and luck".to_owned(),
        sha256: None,
        reads_protected: None,
        training: None,
    };
    let code = FromCode {
        model: Some((Box::new(FnModel::new(by_name)), model)),
        ..FromCode::default()
    };
    Ok(run_with(config, &table, code, &Silent)?.0)
}

/// The model, for rows whose columns may come in any order.
fn by_name(rows: &RecordBatch) -> Vec<bool> {
    let wanted = ["area", "job", "training", "luck"];
    let places = wanted.map(|name| rows.schema().index_of(name).ok());
    let places: Option<Vec<usize>> = places.into_iter().collect();
    let sorted = places.and_then(|places| rows.project(&places).ok());
    sorted.map_or_else(Vec::new, |sorted| answers(&sorted))
}

/// What a row of the table in `docs/check.md` says: how often the gate names what was planted.
pub fn stated_power(docs: &str, pairs: Pairs) -> Option<f64> {
    let start = format!("| {} | {} | {} |", pairs.people, pairs.before, pairs.now);
    let row = docs.lines().find_map(|line| line.strip_prefix(&start))?;
    row.trim()
        .trim_end_matches(" |")
        .trim_end_matches('%')
        .trim()
        .parse()
        .ok()
}
