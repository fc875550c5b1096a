//! The measurement itself, for the example and for the test that watches over it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::DataType;
use arrow_select::take::take_record_batch;
use facts_engine::flips::Model;
use facts_engine::population::Column;
use facts_models::AdditiveModel;
use facts_models::train::{ClassWeights, Examples, Splitting, Training, split};
use facts_stand_in::{AD_CAMPAIGN_ROWS, AD_CAMPAIGN_TEST_ROWS, PEOPLE, SSL_ROWS};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

/// Whether each row has this outcome.
fn outcomes(table: &RecordBatch, label: &str, favourable: &str) -> Result<Vec<bool>, Failure> {
    let array = table.column_by_name(label).ok_or("no label")?;
    let (column, codes) = Column::of(label, array)?;
    let is_it = |&code: &u32| column.values()[code as usize].reads_as(favourable);
    Ok(codes.iter().map(is_it).collect())
}

/// The errors of some published figures, in percentage points.
pub(crate) struct Errors {
    /// Whether they were kept from the fit.
    pub(crate) held_out: bool,
    /// How many items their itemsets have; all lengths together if none.
    pub(crate) length: Option<usize>,
    /// How many there are.
    pub(crate) figures: usize,
    /// The mean of their errors.
    pub(crate) mean: f64,
    /// The greatest of their errors.
    pub(crate) greatest: f64,
    /// The mean of their errors as parts of what was published, figures below 0.1 % left out.
    pub(crate) relative: f64,
}

/// How many a fitted model refuses.
pub(crate) struct Outcome {
    /// The protected group.
    pub(crate) group: &'static str,
    /// Its people in the test part.
    pub(crate) people: f64,
    /// Those refused.
    pub(crate) affected: f64,
    /// Those refused in the paper's run.
    pub(crate) published: f64,
}

/// The rule that was fixed before anything was fitted: FNV-1a (64 bits) of the itemset's text as
/// published, modulo 5.
fn is_held_out(itemset: &str) -> bool {
    let hash = itemset
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
    hash.is_multiple_of(5)
}

/// One published figure beside what the stand-in gives.
struct Figure {
    held_out: bool,
    length: usize,
    published: f64,
    here: f64,
}

fn summarise(figures: &[Figure]) -> Vec<Errors> {
    let lengths: BTreeSet<usize> = figures.iter().map(|f| f.length).collect();
    let lengths: Vec<Option<usize>> = std::iter::once(None)
        .chain(lengths.into_iter().map(Some))
        .collect();
    let mut found = Vec::new();
    for held_out in [false, true] {
        for &length in &lengths {
            let inside =
                |f: &&Figure| f.held_out == held_out && length.is_none_or(|l| l == f.length);
            let inside: Vec<&Figure> = figures.iter().filter(inside).collect();
            if inside.is_empty() {
                continue;
            }
            let errors: Vec<f64> = inside
                .iter()
                .map(|f| 100.0 * (f.here - f.published).abs())
                .collect();
            let relative = inside.iter().filter(|f| f.published >= 0.001);
            let relative: Vec<f64> = relative
                .map(|f| (f.here / f.published - 1.0).abs())
                .collect();
            found.push(Errors {
                held_out,
                length,
                figures: inside.len(),
                mean: errors.iter().sum::<f64>() / errors.len() as f64,
                greatest: errors.iter().copied().fold(0.0, f64::max),
                relative: relative.iter().sum::<f64>() / relative.len().max(1) as f64,
            });
        }
    }
    found
}

/// People with their columns as text, which of them are refused, and how many each stands for.
struct Tested {
    columns: BTreeMap<String, Vec<String>>,
    affected: Vec<bool>,
    weights: Vec<f64>,
}

impl Tested {
    fn new(table: &RecordBatch, model: &AdditiveModel, weights: Vec<f64>) -> Result<Self, Failure> {
        let names = table
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect::<Vec<_>>();
        let columns = names
            .into_iter()
            .zip(table.columns().iter().map(texts))
            .collect();
        let affected = favourable(model, table)?.into_iter().map(|f| !f).collect();
        Ok(Self {
            columns,
            affected,
            weights,
        })
    }

    fn members(&self, items: &[(String, String)]) -> Result<Vec<usize>, Failure> {
        let columns: Option<Vec<_>> = items
            .iter()
            .map(|(name, _)| self.columns.get(name))
            .collect();
        let columns = columns.ok_or_else(|| format!("no such column among {items:?}"))?;
        let inside = |&row: &usize| {
            self.affected[row]
                && columns
                    .iter()
                    .zip(items)
                    .all(|(c, (_, level))| c[row] == *level)
        };
        Ok((0..self.affected.len()).filter(inside).collect())
    }

    fn weight(&self, rows: &[usize]) -> f64 {
        rows.iter().map(|&row| self.weights[row]).sum()
    }

    fn outcome(&self, group: &'static str, column: &str, published: f64) -> Outcome {
        let rows: Vec<usize> = (0..self.weights.len())
            .filter(|&r| self.columns[column][r] == group)
            .collect();
        let affected: Vec<usize> = rows.iter().copied().filter(|&r| self.affected[r]).collect();
        Outcome {
            group,
            people: self.weight(&rows),
            affected: self.weight(&affected),
            published,
        }
    }
}

fn favourable(model: &AdditiveModel, table: &RecordBatch) -> Result<Vec<bool>, Failure> {
    let answer = model.predict(table)?;
    Ok(answer
        .as_boolean()
        .iter()
        .map(|a| a == Some(true))
        .collect())
}

fn texts(array: &ArrayRef) -> Vec<String> {
    match array.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let values = texts(dictionary.values());
            dictionary
                .normalized_keys()
                .into_iter()
                .map(|key| values[key].clone())
                .collect()
        }
        DataType::Utf8 => array
            .as_string::<i32>()
            .iter()
            .map(|t| t.unwrap_or("").to_owned())
            .collect(),
        DataType::Int64 => {
            let numbers = array.as_primitive::<Int64Type>();
            numbers
                .iter()
                .map(|n| n.map_or(String::new(), |n| n.to_string()))
                .collect()
        }
        _ => vec![String::new(); array.len()],
    }
}

/// A line of a CSV file, cells in quotes or not.
fn cells(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quoted = false;
    for character in line.trim_end_matches('\r').chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(String::new()),
            other => found
                .last_mut()
                .into_iter()
                .for_each(|cell| cell.push(other)),
        }
    }
    found
}

fn rows(path: &Path) -> Result<Vec<BTreeMap<String, String>>, Failure> {
    let text = fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let mut lines = text.lines().map(cells);
    let header = lines.next().unwrap_or_default();
    Ok(lines
        .map(|line| header.iter().cloned().zip(line).collect())
        .collect())
}

fn items(itemset: &str) -> Vec<(String, String)> {
    let item = |item: &str| {
        let (name, level) = item.split_once('=').unwrap_or((item, ""));
        (column(name), level.to_owned())
    };
    itemset.split(" & ").map(item).collect()
}

/// The authors' notebooks rename one column of Ad Campaign.
fn column(name: &str) -> String {
    if name == "ages" {
        "age".to_owned()
    } else {
        name.to_owned()
    }
}

/// Ad Campaign: two tables drawn apart, the authors' model fitted to one, the other refused by it.
pub(crate) struct AdCampaign {
    test: RecordBatch,
    tested: Tested,
    model: AdditiveModel,
    /// Affected men and women beside the published numbers.
    pub(crate) outcomes: Vec<Outcome>,
}

impl AdCampaign {
    const GROUPS: [(&str, &str); 2] = [("M", "Male"), ("F", "Female")];

    /// Draws, fits and predicts.
    pub(crate) fn fit(seed: u64) -> Result<Self, Failure> {
        let train = facts_stand_in::ad_campaign(AD_CAMPAIGN_ROWS - AD_CAMPAIGN_TEST_ROWS, seed);
        let test = facts_stand_in::ad_campaign_profiles(AD_CAMPAIGN_TEST_ROWS, seed + 1);
        let training = Training {
            class_weights: ClassWeights::Given {
                unfavourable: 0.5,
                favourable: 265.0,
            },
            exclude: vec![
                "true_conversion".into(),
                "predicted_conversion".into(),
                "predicted_probability".into(),
            ],
            ..Training::default()
        };
        let converted = outcomes(&train, "true_conversion", "1")?;
        let model = training.fit(Examples::new(&train, &converted))?;
        let people = test.column_by_name(PEOPLE).ok_or("no people")?;
        let weights = people
            .as_primitive::<Int64Type>()
            .values()
            .iter()
            .map(|&n| n as f64)
            .collect();
        let tested = Tested::new(&test, &model, weights)?;
        let outcomes = vec![
            tested.outcome("M", "gender", 76_769.0),
            tested.outcome("F", "gender", 160_992.0),
        ];
        Ok(Self {
            test,
            tested,
            model,
            outcomes,
        })
    }

    /// Supports of itemsets among the affected of each gender.
    pub(crate) fn supports(&self, folder: &Path) -> Result<Vec<Errors>, Failure> {
        let mut figures = Vec::new();
        for row in rows(&folder.join("itemset_supports_paper_run.csv"))? {
            let itemset = &row["itemset"];
            for (k, (code, name)) in Self::GROUPS.into_iter().enumerate() {
                let mut wanted = items(itemset);
                let length = wanted.len();
                wanted.push(("gender".to_owned(), code.to_owned()));
                let here = self.tested.weight(&self.tested.members(&wanted)?);
                figures.push(Figure {
                    held_out: is_held_out(itemset),
                    length,
                    published: row[&format!("support_{name}")].parse()?,
                    here: here / self.outcomes[k].affected,
                });
            }
        }
        Ok(summarise(&figures))
    }

    /// Effectivenesses of the authors' actions, by gender.
    pub(crate) fn effectivenesses(&self, rules: &Path) -> Result<Vec<Errors>, Failure> {
        let mut text = String::new();
        flate2::read::GzDecoder::new(fs::File::open(rules)?).read_to_string(&mut text)?;
        let rules: Value = serde_json::from_str(&text)?;
        let mut asked: BTreeMap<Vec<(String, String)>, Vec<bool>> = BTreeMap::new();
        let mut figures = Vec::new();
        for rule in rules["subgroups"].as_array().ok_or("no subgroups")? {
            let condition = rule["if"].as_object().ok_or("no condition")?;
            let condition: Vec<(String, String)> = condition
                .iter()
                .map(|(name, level)| (name.clone(), level.as_str().unwrap_or("").to_owned()))
                .collect();
            let text: Vec<String> = condition.iter().map(|(n, l)| format!("{n}={l}")).collect();
            let held_out = is_held_out(&text.join(" & "));
            for (code, name) in Self::GROUPS {
                let mut wanted: Vec<(String, String)> = condition
                    .iter()
                    .map(|(n, l)| (column(n), l.clone()))
                    .collect();
                wanted.push(("gender".to_owned(), code.to_owned()));
                let members = self.tested.members(&wanted)?;
                for then in rule["thens"].as_array().ok_or("no actions")? {
                    let levels = then[0].as_array().ok_or("no levels")?;
                    let change: Vec<(String, String)> = condition
                        .iter()
                        .zip(levels)
                        .filter(|((_, from), to)| to.as_str() != Some(from))
                        .map(|((name, _), to)| (column(name), to.as_str().unwrap_or("").to_owned()))
                        .collect();
                    if !asked.contains_key(&change) {
                        asked.insert(
                            change.clone(),
                            favourable(&self.model, &self.changed(&change)?)?,
                        );
                    }
                    let flipped = &asked[&change];
                    let flipped: Vec<usize> =
                        members.iter().copied().filter(|&m| flipped[m]).collect();
                    figures.push(Figure {
                        held_out,
                        length: condition.len(),
                        published: then[1][name].as_f64().ok_or("no effectiveness")?.max(0.0),
                        here: self.tested.weight(&flipped) / self.tested.weight(&members).max(1.0),
                    });
                }
            }
        }
        Ok(summarise(&figures))
    }

    /// The test part as if everybody had made a change.
    fn changed(&self, change: &[(String, String)]) -> Result<RecordBatch, Failure> {
        let schema = self.test.schema();
        let columns = schema
            .fields()
            .iter()
            .zip(self.test.columns())
            .map(|(field, array)| {
                let to = change.iter().find(|(name, _)| name == field.name());
                let array: ArrayRef = match to {
                    None => array.clone(),
                    Some((_, level)) if field.data_type().is_numeric() => {
                        Arc::new(Int64Array::from(vec![level.parse::<i64>()?; array.len()]))
                    }
                    Some((_, level)) => {
                        Arc::new(StringArray::from(vec![level.as_str(); array.len()]))
                    }
                };
                Ok::<_, Failure>((field.name().clone(), array))
            });
        Ok(RecordBatch::try_from_iter(
            columns.collect::<Result<Vec<_>, _>>()?,
        )?)
    }
}

/// SSL: cleaned as the authors do, split, their model fitted to one part, the other refused by it.
pub(crate) struct Ssl {
    tested: Tested,
    /// Affected Black and White beside the published numbers.
    pub(crate) outcomes: Vec<Outcome>,
    /// Rows after cleaning, by race.
    pub(crate) cleaned: BTreeMap<String, usize>,
    /// The inner edges of the trend's six quantile bins.
    pub(crate) edges: Vec<f64>,
}

impl Ssl {
    /// Draws, cleans, splits, fits and predicts.
    pub(crate) fn fit(seed: u64) -> Result<Self, Failure> {
        let (table, edges) = clean(&facts_stand_in::ssl(SSL_ROWS, seed))?;
        let mut cleaned = BTreeMap::new();
        let races = table.column_by_name("RACE CODE CD").ok_or("no race")?;
        texts(races)
            .into_iter()
            .for_each(|race| *cleaned.entry(race).or_default() += 1);
        let training = Training {
            exclude: vec!["outcome".into()],
            ..Training::default()
        };
        let favourable = outcomes(&table, "outcome", "favourable")?;
        let (train, test) = split(&favourable, Splitting::Own, 30, seed)?;
        let part = |rows: &[usize]| {
            let rows = UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64));
            take_record_batch(&table, &rows)
        };
        let (train, test) = (part(&train)?, part(&test)?);
        let outcomes_of_train = outcomes(&train, "outcome", "favourable")?;
        let model = training.fit(Examples::new(&train, &outcomes_of_train))?;
        let weights = vec![1.0; test.num_rows()];
        let tested = Tested::new(&test, &model, weights)?;
        let outcomes = vec![
            tested.outcome("BLK", "RACE CODE CD", 7_972.0),
            tested.outcome("WHI", "RACE CODE CD", 2_193.0),
        ];
        Ok(Self {
            tested,
            outcomes,
            cleaned,
            edges,
        })
    }

    /// Coverages of itemsets among the affected of each race, from the notebooks of the paper's run:
    /// those that share itemsets with the experiment's own notebook and agree on all of them.
    pub(crate) fn coverages(&self, folder: &Path) -> Result<Vec<Errors>, Failure> {
        let mut notebooks: BTreeMap<String, BTreeMap<String, [Option<f64>; 2]>> = BTreeMap::new();
        for row in rows(&folder.join("ssl_itemset_coverage.csv"))? {
            let pair = ["cover_pct_BLK", "cover_pct_WHI"].map(|name| row[name].parse().ok());
            notebooks
                .entry(row["notebook"].clone())
                .or_default()
                .insert(row["itemset"].clone(), pair);
        }
        for row in rows(&folder.join("ssl_history_coverage.csv"))? {
            let of = notebooks.entry(row["notebook_blob"].clone()).or_default();
            let place = ["BLK", "WHI"]
                .iter()
                .position(|race| *race == row["protected_value"]);
            if let Some(place) = place {
                let pair = of.entry(row["itemset"].clone()).or_default();
                pair[place] = Some(row["coverage_pct_of_affected"].parse()?);
            }
        }
        let paper = notebooks
            .get("examples_SSL_SSL-Experiments.ipynb")
            .cloned()
            .ok_or("no notebook of the paper's run")?;
        let mut published: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for known in notebooks.values() {
            let mut common = known
                .iter()
                .filter(|(itemset, _)| paper.contains_key(*itemset))
                .peekable();
            if common.peek().is_some() && common.all(|(itemset, pair)| paper[itemset] == *pair) {
                for (itemset, pair) in known {
                    if let [Some(black), Some(white)] = pair {
                        published.insert(itemset.clone(), [black / 100.0, white / 100.0]);
                    }
                }
            }
        }
        let mut figures = Vec::new();
        for (itemset, pair) in &published {
            for (k, published) in pair.iter().enumerate() {
                let mut wanted = items(itemset);
                let length = wanted.len();
                wanted.push(("RACE CODE CD".to_owned(), self.outcomes[k].group.to_owned()));
                let here = self.tested.weight(&self.tested.members(&wanted)?);
                figures.push(Figure {
                    held_out: is_held_out(itemset),
                    length,
                    published: *published,
                    here: here / self.outcomes[k].affected,
                });
            }
        }
        Ok(summarise(&figures))
    }
}

/// The authors' cleaning: races merged, unknown and rare ones dropped, the trend in six quantile
/// bins, the label from the score.
fn clean(raw: &RecordBatch) -> Result<(RecordBatch, Vec<f64>), Failure> {
    let column = |name: &str| raw.column_by_name(name).ok_or(format!("no {name}"));
    let races: Vec<Option<&str>> = texts(column("RACE CODE CD")?)
        .iter()
        .map(|race| match race.as_str() {
            "BLK" | "WBH" => Some("BLK"),
            "WHI" | "WWH" => Some("WHI"),
            _ => None,
        })
        .collect();
    let sexes = texts(column("SEX CODE CD")?);
    let kept: Vec<usize> = (0..raw.num_rows())
        .filter(|&row| races[row].is_some() && sexes[row] != "X")
        .collect();

    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    let mut edges = Vec::new();
    for (field, array) in raw.schema().fields().iter().zip(raw.columns()) {
        let array: ArrayRef = match field.name().as_str() {
            "SSL SCORE" => {
                let scores = array.as_primitive::<Int64Type>();
                let outcome = |&row: &usize| {
                    if scores.value(row) >= 345 {
                        "unfavourable"
                    } else {
                        "favourable"
                    }
                };
                let outcomes = StringArray::from_iter_values(kept.iter().map(outcome));
                columns.push(("outcome".to_owned(), Arc::new(outcomes)));
                continue;
            }
            "RACE CODE CD" => Arc::new(StringArray::from_iter_values(
                kept.iter().filter_map(|&row| races[row]),
            )),
            "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY" => {
                let trends = array.as_primitive::<Float64Type>();
                let trends: Vec<f64> = kept.iter().map(|&row| trends.value(row)).collect();
                let mut sorted = trends.clone();
                sorted.sort_by(f64::total_cmp);
                // No quantile falls between two different values here: nothing to interpolate.
                edges = (1..6)
                    .map(|sixth| sorted[(sorted.len() - 1) * sixth / 6])
                    .collect();
                let names = [
                    "(-8.200999999999999, -0.3]",
                    "(-0.3, -0.2]",
                    "(-0.2, -0.1]",
                    "(-0.1, 0.1]",
                    "(0.1, 0.3]",
                    "(0.3, 7.3]",
                ];
                let bin = |trend: &f64| names[edges.partition_point(|edge| edge < trend)];
                Arc::new(StringArray::from_iter_values(trends.iter().map(bin)))
            }
            _ if field.data_type().is_numeric() => {
                let numbers = array.as_primitive::<Int64Type>();
                Arc::new(Int64Array::from_iter_values(
                    kept.iter().map(|&row| numbers.value(row)),
                ))
            }
            _ => {
                let texts = texts(array);
                let renamed = |text: &str| {
                    if text == "less than 20" {
                        "10-20"
                    } else {
                        text
                    }
                    .to_owned()
                };
                Arc::new(StringArray::from_iter_values(
                    kept.iter().map(|&row| renamed(&texts[row])),
                ))
            }
        };
        columns.push((field.name().clone(), array));
    }
    Ok((RecordBatch::try_from_iter(columns)?, edges))
}
