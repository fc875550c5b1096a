//! SSL: people by score, race, sex and age group as published, and the rest of their row.
//!
//! The score, race and sex of a row, and the person's age group today, are drawn from the published
//! joint counts, exactly. The age at the latest arrest is that age group or the one below. The other
//! columns follow a log-linear model given race, sex and that age. Within each race, sex and age
//! group the published scores are then dealt out in the order of a score that adds up over the
//! columns, with noise: so a logistic regression of "at least 345" finds that score, and those whom
//! it refuses are the affected that the published coverages are about.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use serde::Deserialize;

use crate::SSL_ROWS;
use crate::log_linear::{Effects, Grid, Pair};
use crate::random::{Random, cumulate};
use crate::table::{numbers, table, texts};

const SCORE: &str = "SSL SCORE";
const AGE: &str = "PREDICTOR RAT AGE AT LATEST ARREST";
const GANG: &str = "PREDICTOR RAT GANG AFFILIATION";
const TREND: &str = "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY";
const SEX: &str = "SEX CODE CD";
const RACE: &str = "RACE CODE CD";
/// The features of the log-linear model; between age and sex, those that it draws.
const FEATURES: [&str; 9] = [
    AGE,
    "PREDICTOR RAT VICTIM SHOOTING INCIDENTS",
    "PREDICTOR RAT VICTIM BATTERY OR ASSAULT",
    "PREDICTOR RAT ARRESTS VIOLENT OFFENSES",
    GANG,
    "PREDICTOR RAT NARCOTIC ARRESTS",
    TREND,
    "PREDICTOR RAT UUW ARRESTS",
    SEX,
];
const TREND_PLACE: usize = 6;
const DRAWN: std::ops::Range<usize> = 1..8;

const AGES: [&str; 7] = [
    "less than 20",
    "20-30",
    "30-40",
    "40-50",
    "50-60",
    "60-70",
    "70-80",
];
const SEXES: [&str; 3] = ["M", "F", "X"];
const RACES: [&str; 7] = ["BLK", "WHI", "WBH", "WWH", "API", "I", "U"];
const BLK: usize = 0;
const WHI: usize = 1;
const WBH: usize = 2;
const WWH: usize = 3;
const API: usize = 4;
const I: usize = 5;
const U: usize = 6;
/// The races that the model tells apart.
const MODELLED: [&str; 2] = ["BLK", "WHI"];

/// The deviation of logistic noise, π/√3, in millionths.
const NOISE: i64 = 1_813_799;

#[derive(Deserialize)]
struct Parameters {
    rows: usize,
    black_hispanic: usize,
    without_age_group: usize,
    unknown_race: usize,
    features: BTreeMap<String, Vec<String>>,
    values: BTreeMap<String, BTreeMap<String, u64>>,
    younger: BTreeMap<String, u64>,
    effects: BTreeMap<String, Effects>,
    pairs: Vec<Pair>,
    score: Score,
    strata: Vec<PublishedStratum>,
}

#[derive(Deserialize)]
struct Score {
    levels: Effects,
    numbers: BTreeMap<String, i64>,
    race: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
struct PublishedStratum {
    race: String,
    sex: String,
    age: String,
    scores: Vec<(i64, usize)>,
}

/// People of one published race, sex and age group today.
struct Stratum {
    race: PublishedRace,
    sex: usize,
    age: usize,
    scores: Vec<(i64, usize)>,
}

/// A race as the joint counts have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PublishedRace {
    /// A race with a code of its own.
    Code(usize),
    /// Black and white Hispanic together.
    Hispanic,
}

/// The values that share a level.
struct Values {
    known: Vec<i64>,
    /// Their cumulated weights.
    cumulated: Vec<u64>,
}

/// The parameters, worked out.
struct Model {
    strata: Vec<Stratum>,
    black_hispanic: usize,
    hispanic: usize,
    without_age_group: usize,
    unknown_race: usize,
    /// The chance, in millionths, that the latest arrest was in the age group below.
    younger: Vec<u64>,
    /// For each modelled race, sex and modelled age: cumulated weights of the drawn features' cells.
    cells: Vec<Vec<u64>>,
    /// The drawn features' levels in each of those cells.
    levels: Vec<Vec<usize>>,
    /// What each drawn feature and level stands for.
    values: Vec<Vec<Values>>,
    /// What a drawn feature's value adds to the score: by level for the trend, else by one.
    trend_scores: Vec<i64>,
    slopes: Vec<i64>,
    age_scores: Vec<i64>,
    sex_scores: Vec<i64>,
    race_scores: Vec<i64>,
}

// The file is part of the crate, and the tests read it.
static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::read().unwrap_or_else(|why| panic!("ssl.json: {why}")));

impl Model {
    fn read() -> Result<Self, String> {
        let text = include_str!("../parameters/ssl.json");
        let given: Parameters = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if given.rows != SSL_ROWS {
            return Err(format!("{} rows", given.rows));
        }
        let grid = Grid::new(&FEATURES, &given.features)?;
        let drawn = Grid::new(&FEATURES[DRAWN], &given.features)?;
        let (ages, sexes) = (grid.levels[0].len(), grid.levels[8].len());
        let mut cells = Vec::new();
        for race in MODELLED {
            let effects = given
                .effects
                .get(race)
                .ok_or(format!("no effects of {race}"))?;
            let pairs = given.pairs.iter();
            let pairs = pairs.filter(|p| p.race.as_deref().is_none_or(|r| r == race));
            let weights = grid.weights(effects, pairs)?;
            // Sex runs fastest in the grid, age slowest.
            for sex in 0..sexes {
                for age in 0..ages {
                    let first = age * drawn.cells();
                    let inside = first..first + drawn.cells();
                    cells.push(cumulate(inside.map(|cell| weights[cell * sexes + sex])));
                }
            }
        }
        let strata: Vec<Stratum> = given
            .strata
            .into_iter()
            .map(Stratum::read)
            .collect::<Result<_, _>>()?;
        let hispanic = strata.iter().filter(|s| s.race == PublishedRace::Hispanic);
        let hispanic: usize = hispanic.map(Stratum::people).sum();
        let slope = |name: &&str| given.score.numbers.get(*name).copied().unwrap_or(0);
        let by_level = |name: &str, levels: &[String]| -> Result<Vec<i64>, String> {
            let known = given.score.levels.get(name);
            let of = |level: &String| known.and_then(|k| k.get(level)).copied();
            let scores: Option<Vec<i64>> = levels.iter().map(of).collect();
            scores.ok_or(format!("no score of {name}"))
        };
        let race_score = |race: &&str| given.score.race.get(*race).copied().unwrap_or(0);
        let younger = |age: &&str| {
            let published = if *age == AGES[0] { "<20" } else { age };
            given.younger.get(published).copied().unwrap_or(0)
        };
        Ok(Self {
            values: values(&drawn, &given.values)?,
            trend_scores: by_level(TREND, &grid.levels[TREND_PLACE])?,
            slopes: FEATURES[DRAWN].iter().map(slope).collect(),
            age_scores: by_level(AGE, &grid.levels[0])?,
            sex_scores: by_level(SEX, &grid.levels[8])?,
            race_scores: MODELLED.iter().map(race_score).collect(),
            younger: AGES.iter().map(younger).collect(),
            levels: (0..drawn.cells())
                .map(|cell| drawn.levels_of(cell))
                .collect(),
            black_hispanic: given.black_hispanic,
            hispanic: hispanic + given.without_age_group,
            without_age_group: given.without_age_group,
            unknown_race: given.unknown_race,
            strata,
            cells,
        })
    }

    /// All the people of the published list: stratum and score; those without an age group, and
    /// those of unknown race, are like somebody drawn from all the others.
    fn people(&self, random: &mut Random) -> Vec<(PublishedRace, usize, i64)> {
        let mut people: Vec<(PublishedRace, usize, i64)> = Vec::with_capacity(SSL_ROWS);
        for (s, stratum) in self.strata.iter().enumerate() {
            for &(score, count) in &stratum.scores {
                people.extend(std::iter::repeat_n((stratum.race, s, score), count));
            }
        }
        let listed = people.len();
        let more = [
            (PublishedRace::Hispanic, self.without_age_group),
            (PublishedRace::Code(U), self.unknown_race),
        ];
        for (race, count) in more {
            for _ in 0..count {
                let (_, stratum, score) = people[random.below(listed as u64) as usize];
                people.push((race, stratum, score));
            }
        }
        people
    }

    fn rows(&self, rows: usize, seed: u64) -> Vec<Row> {
        let people = self.people(&mut Random::new(seed, 1));
        // Every so-many-th of the list: all of it, once, when all rows are asked for.
        let mut random = Random::new(seed, 2);
        let start = random.below(people.len() as u64) as u128;
        let taken = (0..rows as u128)
            .map(|i| ((i * people.len() as u128 + start) / rows as u128) as usize % people.len());
        let mut strata: BTreeMap<(PublishedRace, usize), Vec<i64>> = BTreeMap::new();
        for person in taken {
            let (race, stratum, score) = people[person];
            strata.entry((race, stratum)).or_default().push(score);
        }
        let mut found = Vec::with_capacity(rows);
        let mut hispanic = random.below(self.hispanic as u64) as usize;
        for ((race, stratum), mut scores) in strata {
            let Stratum { sex, age, .. } = self.strata[stratum];
            let mut drawn: Vec<(i64, Row)> = scores
                .iter()
                .map(|_| {
                    let race = match race {
                        PublishedRace::Code(race) => race,
                        PublishedRace::Hispanic => {
                            hispanic += 1;
                            self.hispanic_race(hispanic)
                        }
                    };
                    self.draw(race, sex, age, &mut random)
                })
                .collect();
            // The highest scores to those in whom most speaks for one. Ties keep their order.
            drawn.sort_by_key(|(latent, _)| *latent);
            scores.sort_unstable();
            let dealt = drawn.into_iter().zip(scores);
            found.extend(dealt.map(|((_, row), score)| Row { score, ..row }));
        }
        random.shuffle(&mut found);
        found
    }

    /// Black for so many in so many of the Hispanic, evenly spread.
    fn hispanic_race(&self, number: usize) -> usize {
        let black = |n: usize| n * self.black_hispanic / self.hispanic;
        if black(number + 1) > black(number) {
            WBH
        } else {
            WWH
        }
    }

    /// A row without its score, and what speaks for a high one.
    fn draw(&self, race: usize, sex: usize, today: usize, random: &mut Random) -> (i64, Row) {
        let age = today - usize::from(random.below(1_000_000) < self.younger[today]);
        let modelled_race = usize::from(!matches!(race, BLK | WBH));
        // The few without a known sex are drawn like men.
        let modelled_sex = if sex == 1 { 1 } else { 0 };
        let modelled_age = age.min(self.age_scores.len() - 1);
        let table = (modelled_race * 2 + modelled_sex) * self.age_scores.len() + modelled_age;
        let levels = &self.levels[random.pick(&self.cells[table])];
        let mut latent = self.race_scores[modelled_race]
            + self.sex_scores[modelled_sex]
            + self.age_scores[modelled_age]
            + self.trend_scores[levels[TREND_PLACE - 1]]
            + random.normal() * NOISE / 1_000_000;
        let mut values = [0; 7];
        for (f, (&level, value)) in levels.iter().zip(&mut values).enumerate() {
            let Values { known, cumulated } = &self.values[f][level];
            *value = known[random.pick(cumulated)];
            // The trend's slope is 0: its levels have been counted.
            latent += self.slopes[f] * *value;
        }
        let row = Row {
            score: 0,
            age,
            values,
            sex,
            race,
        };
        (latent, row)
    }
}

impl Stratum {
    fn read(published: PublishedStratum) -> Result<Self, String> {
        let race = match published.race.as_str() {
            "Black" => PublishedRace::Code(BLK),
            "White" => PublishedRace::Code(WHI),
            "Asian" => PublishedRace::Code(API),
            "Unknown-Not-Listed" => PublishedRace::Code(I),
            "Hispanic" => PublishedRace::Hispanic,
            other => return Err(format!("unknown race {other}")),
        };
        let sex = ["Men", "Women", "Other"];
        let sex = sex.iter().position(|sex| *sex == published.sex);
        let age = if published.age == "<20" {
            AGES[0]
        } else {
            &published.age
        };
        let age = AGES.iter().position(|known| *known == age);
        Ok(Self {
            race,
            sex: sex.ok_or(format!("unknown sex {}", published.sex))?,
            age: age.ok_or(format!("unknown age {}", published.age))?,
            scores: published.scores,
        })
    }

    fn people(&self) -> usize {
        self.scores.iter().map(|(_, count)| count).sum()
    }
}

/// For each feature and level the values that share it, with cumulated weights.
fn values(
    drawn: &Grid,
    published: &BTreeMap<String, BTreeMap<String, u64>>,
) -> Result<Vec<Vec<Values>>, String> {
    let features = FEATURES[DRAWN].iter().zip(&drawn.levels);
    let level = |name: &str, levels: usize, value: i64| match name {
        // The upper edges of the quantile bins but the last, in tenths.
        TREND => [-3, -2, -1, 1, 3].partition_point(|&edge| edge < value),
        _ => (value.max(0) as usize).min(levels - 1),
    };
    features
        .map(|(name, levels)| {
            let gang = || BTreeMap::from([("0".to_owned(), 1), ("1".to_owned(), 1)]);
            let known = published.get(*name).cloned().unwrap_or_else(gang);
            let known: Result<BTreeMap<i64, u64>, _> = known
                .into_iter()
                .map(|(value, weight)| value.parse().map(|value| (value, weight)))
                .collect();
            let known = known.map_err(|_| format!("{name} has a value that is no number"))?;
            let of = |wanted: usize| {
                let inside = known.iter().filter(|(value, weight)| {
                    level(name, levels.len(), **value) == wanted && **weight > 0
                });
                let (known, weights): (Vec<i64>, Vec<u64>) = inside.unzip();
                Values {
                    known,
                    cumulated: cumulate(weights),
                }
            };
            Ok((0..levels.len()).map(of).collect())
        })
        .collect()
}

#[derive(Clone, Copy)]
struct Row {
    score: i64,
    age: usize,
    /// The drawn features; the trend in tenths.
    values: [i64; 7],
    sex: usize,
    race: usize,
}

/// A stand-in for SSL: one person a row, in random order.
///
/// With [`SSL_ROWS`] rows the published joint counts of score, race, sex and age group today are met
/// exactly. The form is that of the list before the authors' cleaning: races with `WBH`, `WWH`, `I`,
/// `API` and `U`, sex with `X`, ages with `less than 20`, the trend in tenths.
pub fn ssl(rows: usize, seed: u64) -> RecordBatch {
    let rows = MODEL.rows(rows, seed);
    let mut columns = vec![
        (SCORE, numbers(rows.iter().map(|row| row.score))),
        (AGE, texts(&AGES, rows.iter().map(|row| row.age))),
    ];
    for (f, name) in FEATURES[DRAWN].iter().enumerate() {
        let values = rows.iter().map(|row| row.values[f]);
        let array: ArrayRef = match *name {
            TREND => Arc::new(Float64Array::from_iter_values(
                values.map(|v| v as f64 / 10.0),
            )),
            _ => numbers(values),
        };
        columns.push((name, array));
    }
    columns.push((SEX, texts(&SEXES, rows.iter().map(|row| row.sex))));
    columns.push((RACE, texts(&RACES, rows.iter().map(|row| row.race))));
    table(columns)
}
