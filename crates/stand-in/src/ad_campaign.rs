//! Ad Campaign: people by gender and eight features, and who converts.
//!
//! How common a profile is follows a log-linear model with an effect for each level, by gender, and
//! for each pair of levels. The chance of a conversion is logistic in a score that adds up over
//! levels, with the authors' class weights taken out again: so a logistic regression with those
//! class weights, fitted to the rows, finds that score, and those whom it refuses are the affected
//! that the published supports are about.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use serde::Deserialize;

use crate::balance::{Balance, ONE};
use crate::log_linear::{Effects, Grid, Pair, exp};
use crate::random::Random;
use crate::table::{numbers, table, texts};
use crate::{AD_CAMPAIGN_ROWS, PEOPLE};

const GENDERS: [&str; 3] = ["F", "M", "Unknown"];
const FEATURES: [&str; 8] = [
    "religion",
    "politics",
    "college_educated",
    "parents",
    "homeowner",
    "age",
    "income",
    "area",
];
const POLITICS: usize = 1;
/// The level of politics that stands for every known one.
const KNOWN: usize = 1;

#[derive(Deserialize)]
struct Parameters {
    rows: usize,
    people: BTreeMap<String, BTreeMap<String, i64>>,
    conversions: i64,
    class_odds: u32,
    politics: Vec<String>,
    features: BTreeMap<String, Vec<String>>,
    effects: BTreeMap<String, Effects>,
    pairs: Vec<Pair>,
    score: Score,
}

#[derive(Deserialize)]
struct Score {
    intercept: i64,
    gender: BTreeMap<String, i64>,
    levels: Effects,
}

/// The parameters, worked out: all that does not depend on the number of rows.
struct Model {
    grid: Grid,
    politics: Vec<String>,
    /// For each gender and cell of the grid: the share of all people, in parts of 2⁶⁰.
    shares: Vec<u64>,
    /// The margins that each of them counts in, and their published counts.
    margins: Vec<Vec<usize>>,
    published: Vec<Option<i64>>,
    /// The chance of a conversion.
    chances: Vec<f64>,
    conversions: i64,
}

// The file is part of the crate, and the tests read it.
static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::read().unwrap_or_else(|why| panic!("ad_campaign.json: {why}")));

impl Model {
    fn read() -> Result<Self, String> {
        let text = include_str!("../parameters/ad_campaign.json");
        let given: Parameters = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if given.rows != AD_CAMPAIGN_ROWS {
            return Err(format!("{} rows", given.rows));
        }
        let grid = Grid::new(&FEATURES, &given.features)?;
        let scores = grid.lay_out(&given.score.levels)?;
        let mut model = Self {
            politics: std::iter::once("Unknown".to_owned())
                .chain(given.politics)
                .collect(),
            shares: Vec::new(),
            margins: Vec::new(),
            published: Vec::new(),
            chances: Vec::new(),
            conversions: given.conversions,
            grid,
        };
        let grid = &model.grid;
        let mut first = vec![GENDERS.len()];
        let known = |name: &str, level: &str| Some(*given.people.get(name)?.get(level)?);
        model
            .published
            .extend(GENDERS.iter().map(|gender| known("gender", gender)));
        for (name, levels) in FEATURES.iter().zip(&grid.levels) {
            let counts = levels.iter().map(|level| known(name, level));
            model.published.extend(counts);
            first.push(model.published.len());
        }
        for (g, gender) in GENDERS.into_iter().enumerate() {
            let missing = || format!("nothing of gender {gender}");
            let people = known("gender", gender).ok_or_else(missing)?;
            let effects = given.effects.get(gender).ok_or_else(missing)?;
            let own = given.score.gender.get(gender).ok_or_else(missing)?;
            let weights = grid.weights(effects, given.pairs.iter())?;
            let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
            for (cell, weight) in weights.into_iter().enumerate() {
                let part = (u128::from(weight) * people as u128) << 60;
                let share = part / (total * AD_CAMPAIGN_ROWS as u128);
                model.shares.push(share as u64);
                let levels = grid.levels_of(cell);
                let places = levels
                    .iter()
                    .zip(&first)
                    .map(|(level, first)| first + level);
                model
                    .margins
                    .push(std::iter::once(g).chain(places).collect());
                let score: i64 = levels.iter().zip(&scores).map(|(&l, s)| s[l]).sum();
                let odds = exp(given.score.intercept + own + score) / f64::from(given.class_odds);
                model.chances.push(odds / (1.0 + odds));
            }
        }
        Ok(model)
    }

    /// The distinct rows and how many people each stands for.
    fn profiles(&self, rows: usize, seed: u64) -> Vec<(Profile, u32)> {
        // In parts of the whole; exact when all rows are asked for.
        let scaled = |count: i64| {
            (count as i128 * ONE as i128 * rows as i128 / AD_CAMPAIGN_ROWS as i128) as i64
        };
        let expected: Vec<i64> = self
            .shares
            .iter()
            .map(|&share| ((u128::from(share) * rows as u128 * ONE as u128) >> 60) as i64)
            .collect();
        let wanted: Vec<Option<i64>> = self.published.iter().map(|p| p.map(scaled)).collect();
        let people = Balance {
            expected: &expected,
            at_most: &vec![i64::MAX; expected.len()],
            margins: &self.margins,
            wanted: &wanted,
            total: rows as i64,
            least: ONE / 64,
        }
        .round(&mut Random::new(seed, 1));
        let hoped: Vec<i64> = people
            .iter()
            .zip(&self.chances)
            .map(|(&people, chance)| (people as f64 * chance * ONE as f64) as i64)
            .collect();
        let converted = Balance {
            expected: &hoped,
            at_most: &people,
            margins: &self.margins,
            wanted: &vec![None; self.published.len()],
            total: (scaled(self.conversions) + ONE / 2) / ONE,
            least: 1,
        }
        .round(&mut Random::new(seed, 2));

        let mut random = Random::new(seed, 3);
        let mut found: BTreeMap<Profile, u32> = BTreeMap::new();
        for (place, (&people, &converted)) in people.iter().zip(&converted).enumerate() {
            let (gender, cell) = (place / self.grid.cells(), place % self.grid.cells());
            let levels = self.grid.levels_of(cell);
            for (conversion, count) in [(true, converted), (false, people - converted)] {
                let profile = |politics: usize| Profile {
                    gender: gender as u8,
                    cell: cell as u16,
                    politics: politics as u8,
                    conversion,
                };
                if levels[POLITICS] == KNOWN {
                    for _ in 0..count {
                        let politics = 1 + random.below(self.politics.len() as u64 - 1) as usize;
                        *found.entry(profile(politics)).or_default() += 1;
                    }
                } else if count > 0 {
                    found.insert(profile(0), count as u32);
                }
            }
        }
        found.into_iter().collect()
    }

    fn columns(&self, profiles: &[Profile]) -> Vec<(&'static str, ArrayRef)> {
        let levels: Vec<Vec<usize>> = (0..self.grid.cells())
            .map(|cell| self.grid.levels_of(cell))
            .collect();
        let feature = |f: usize| {
            let places = profiles.iter().map(|p| levels[usize::from(p.cell)][f]);
            match FEATURES[f] {
                "politics" => {
                    let places = profiles.iter().map(|p| usize::from(p.politics));
                    texts(&self.politics, places)
                }
                // Their levels are 0 and 1, in this order.
                "college_educated" | "parents" | "homeowner" => numbers(places.map(|l| l as i64)),
                _ => texts(&self.grid.levels[f], places),
            }
        };
        let gender = texts(&GENDERS, profiles.iter().map(|p| usize::from(p.gender)));
        let mut columns: Vec<_> = (0..FEATURES.len())
            .map(|f| (FEATURES[f], feature(f)))
            .collect();
        // Where the real file has it.
        columns.insert(5, ("gender", gender));
        columns.push((
            "true_conversion",
            numbers(profiles.iter().map(|p| i64::from(p.conversion))),
        ));
        // IBM's own predictions, of which no joint figures are published, and which no audit reads.
        let nothing: ArrayRef = Arc::new(Int64Array::new_null(profiles.len()));
        columns.push(("predicted_conversion", nothing));
        let nothing: ArrayRef = Arc::new(Float64Array::new_null(profiles.len()));
        columns.push(("predicted_probability", nothing));
        columns
    }
}

/// A distinct row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Profile {
    gender: u8,
    cell: u16,
    politics: u8,
    conversion: bool,
}

/// A stand-in for Ad Campaign: one person a row, in random order.
///
/// With [`AD_CAMPAIGN_ROWS`] rows the published margins (gender, age, college, homeowner,
/// conversions) are met exactly; otherwise as nearly as whole people allow. The columns
/// `predicted_conversion` and `predicted_probability` are there as in the real file, but empty.
pub fn ad_campaign(rows: usize, seed: u64) -> RecordBatch {
    let profiles = MODEL.profiles(rows, seed);
    let mut people: Vec<Profile> = profiles
        .iter()
        .flat_map(|&(profile, count)| std::iter::repeat_n(profile, count as usize))
        .collect();
    Random::new(seed, 4).shuffle(&mut people);
    table(MODEL.columns(&people))
}

/// The same people as [`ad_campaign`] with the same arguments, each distinct row once, with the
/// number of people it stands for in the column [`PEOPLE`].
pub fn ad_campaign_profiles(rows: usize, seed: u64) -> RecordBatch {
    let (profiles, counts): (Vec<Profile>, Vec<u32>) =
        MODEL.profiles(rows, seed).into_iter().unzip();
    let mut columns = MODEL.columns(&profiles);
    columns.push((PEOPLE, numbers(counts.into_iter().map(i64::from))));
    table(columns)
}
