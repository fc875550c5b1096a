//! What shows that the engine is right and fast.
//!
//! The set-up of the paper's main experiment, Adult with sex protected, from the reference data in
//! `data/adult-sex`: the tests compare the engine with the reference results there, the benchmarks
//! time it, and the example shows what it finds.

pub mod gate;
pub mod pairs;
pub mod peers;
pub mod reference;
pub mod retrained;
pub mod simulation;

use std::io::{Cursor, Read};

use arrow_array::RecordBatch;
use facts_engine::flips::Model;
use facts_engine::population::{
    Declaration, Direction, Distance, Feature, Population, Protected, Step,
};
use facts_engine::{Audit, Watch};
use facts_input::{Options, Source};
use facts_models::AdditiveModel;

/// The age bins of the reference data, youngest first.
pub const AGES: [&str; 5] = [
    "(16.999, 26.0]",
    "(26.0, 34.0]",
    "(34.0, 41.0]",
    "(41.0, 50.0]",
    "(50.0, 90.0]",
];

/// The working hours of the reference data, fewest first.
pub const HOURS: [&str; 5] = ["PartTime", "MidTime", "FullTime", "OverTime", "BrainDrain"];

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The test part of the reference split: 13,567 rows, as the model sees them.
pub fn adult_rows() -> Result<Vec<RecordBatch>, Failure> {
    let bytes = include_bytes!("../data/adult-sex/X_test.csv.gz").as_slice();
    let source = Source::reader("X_test.csv.gz", Cursor::new(bytes));
    let table = facts_input::open(source, &Options::default())?;
    Ok(table.collect::<Result<_, _>>()?)
}

/// The authors' declarations for Adult with sex protected.
pub fn adult_declaration() -> Declaration {
    let ages = Feature::ordinal("age", AGES)
        .distance(Distance::Categorical)
        .only(Direction::Increase)
        .max_step(Step::Levels(2))
        .weight(10.0);
    let education = Feature::numeric("education-num")
        .distance(Distance::Numeric { normalised: false })
        .only(Direction::Increase)
        .max_step(Step::Units(2.0))
        .weight(3.0);
    Declaration::new()
        .feature(ages)
        .feature(education)
        .feature(Feature::ordinal("hours-per-week", HOURS).weight(2.0))
        .feature(Feature::numeric("capital-gain"))
        .feature(Feature::numeric("capital-loss"))
        .feature(Feature::categorical("Workclass").weight(2.0))
        .feature(Feature::categorical("marital-status").weight(5.0))
        .feature(Feature::categorical("native-country").weight(4.0))
        .feature(Feature::categorical("occupation").weight(4.0))
        .feature(Feature::categorical("race").weight(100.0))
        .feature(Feature::categorical("relationship").weight(5.0))
        .protected(Protected::attribute("sex"))
}

/// The population of the reference audit.
pub fn adult_population() -> Result<Population, Failure> {
    Ok(adult_declaration().read(adult_rows()?)?)
}

/// The reference audit of a model, at a support.
pub fn adult_audit(model: &dyn Model, support: &str) -> Result<Audit, Failure> {
    let options = facts_engine::Options::new().support(support.parse()?);
    let population = adult_population()?;
    Ok(facts_engine::audit(
        &population,
        model,
        &options,
        Watch::nobody(),
    )?)
}

/// The reference model: the authors' logistic regression.
pub fn adult_model() -> Result<AdditiveModel, Failure> {
    Ok(facts_reproduce::experiments::authors_model()?)
}

/// The text of a gzip-compressed file of the reference data.
pub fn unpack(bytes: &[u8]) -> Result<String, Failure> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

/// The greatest resident size of this process so far, in MB.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1000.0)
}

/// The processor time, user and system, that this process has taken so far and that its children have
/// taken that have ended, in seconds.
pub fn processor_time() -> Option<[f64; 2]> {
    /// Linux counts it in hundredths of a second wherever programs look.
    const TICKS: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold spaces; what follows it begins with the third field.
    let (_, after) = status.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let sum = |first: usize| -> Option<f64> {
        let ticks = fields.get(first..first + 2)?.iter();
        let ticks = ticks.map(|ticks| ticks.parse::<f64>().ok());
        Some(ticks.sum::<Option<f64>>()? / TICKS)
    };
    Some([sum(11)?, sum(13)?])
}

/// The processor that a record is made on, as far as it tells.
pub fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let name = name.map_or("an unknown processor", |name| {
        name.trim_start_matches([' ', '\t', ':'])
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores")
}
