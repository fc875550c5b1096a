//! The configuration: what `facts.toml` may say.
//!
//! Flags win over the file; both end up in one [`Config`]. `declare.rs` turns it into what the
//! engine is told about the columns, after `guess.rs` has filled in what was left open.

mod declare;
mod guess;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;

pub(crate) use self::declare::{Declared, declare, is_train};
pub(crate) use self::guess::{Guess, Guessed, guess};
use crate::failure::Failure;

/// Everything that can be said about an audit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) data: Data,
    pub(crate) model: Model,
    pub(crate) train: Train,
    pub(crate) label: Label,
    /// Protected attributes, in the order in which they are crossed.
    pub(crate) protected: IndexMap<String, Protected>,
    pub(crate) features: IndexMap<String, Feature>,
    pub(crate) audit: Audit,
    pub(crate) report: Report,
    /// What flags say about single features. They do not decide which columns are features.
    #[serde(skip)]
    pub(crate) overrides: IndexMap<String, Feature>,
}

/// How the table is read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Data {
    pub(crate) path: Option<PathBuf>,
    pub(crate) format: Option<Format>,
    pub(crate) delimiter: Option<String>,
    pub(crate) quote: Option<String>,
    pub(crate) header: Option<bool>,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) duplicates: Option<Duplicates>,
    pub(crate) encoding: Option<String>,
    pub(crate) trim: Option<bool>,
    pub(crate) nulls: Vec<String>,
    pub(crate) types: BTreeMap<String, ColumnType>,
    /// Missing codes of every column.
    pub(crate) missing_codes: Vec<String>,
    pub(crate) weight: Option<String>,
    /// Columns that neither the audit nor the model is to see.
    pub(crate) ignore: Vec<String>,
    /// Columns that the model sees and the audit does not speak of.
    pub(crate) context: Vec<String>,
    /// Values to replace before anything else sees them, by column.
    pub(crate) replace: BTreeMap<String, BTreeMap<String, String>>,
}

/// The format of the table, when it is not to be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    Csv,
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// What to do about two columns of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Duplicates {
    /// Stop.
    Refuse,
    /// Call them score, score.1, score.2.
    Number,
}

/// The type of a CSV column, when it is not to be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ColumnType {
    Boolean,
    Integer,
    Float,
    Text,
}

/// Which model is asked, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Model {
    pub(crate) spec: Option<String>,
    pub(crate) favourable: Option<Text>,
    pub(crate) threshold: Option<f64>,
    pub(crate) columns: BTreeMap<String, String>,
    pub(crate) order: Vec<String>,
    pub(crate) output: Option<String>,
    pub(crate) timeout: Option<f64>,
    pub(crate) workers: Option<usize>,
    pub(crate) batch_rows: Option<usize>,
    /// Sent with each request; a value `env:NAME` is taken from the environment.
    pub(crate) headers: BTreeMap<String, String>,
    /// The column that holds what the original of an exported model answered.
    pub(crate) check: Option<String>,
    /// Who is trusted to vouch for an https server, besides the usual authorities.
    pub(crate) ca: Option<PathBuf>,
    /// Where answers are kept, so that an audit that was cut short goes on where it stopped.
    pub(crate) answers: Option<PathBuf>,
}

/// How the default model is fitted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Train {
    pub(crate) test_percent: Option<u8>,
    pub(crate) seed: Option<u64>,
    pub(crate) c: Option<f64>,
    pub(crate) class_weights: Option<ClassWeights>,
    /// Columns that the model is not to see.
    pub(crate) exclude: Vec<String>,
    pub(crate) save: Option<PathBuf>,
}

/// How heavily each class counts while a model is fitted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected equal, balanced, or [unfavourable, favourable] such as [1, 10]"
)]
pub(crate) enum ClassWeights {
    Named(ClassWeightsName),
    Given(f64, f64),
}

/// Class weights by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClassWeightsName {
    Equal,
    Balanced,
}

/// The column that holds what really happened.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Label {
    pub(crate) column: Option<String>,
    pub(crate) favourable: Option<Text>,
}

/// A protected attribute.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Protected {
    /// Groups of several values: `Non-White = ["Black", "*"]`.
    pub(crate) merge: IndexMap<String, Vec<Text>>,
    pub(crate) quantiles: Option<usize>,
    pub(crate) equal_width: Option<usize>,
    pub(crate) edges: Option<Vec<f64>>,
    pub(crate) labels: Option<Vec<String>>,
    pub(crate) missing_codes: Vec<String>,
}

/// A column that people differ in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Feature {
    pub(crate) kind: Option<Kind>,
    pub(crate) order: Option<Vec<Text>>,
    pub(crate) quantiles: Option<usize>,
    pub(crate) equal_width: Option<usize>,
    pub(crate) edges: Option<Vec<f64>>,
    pub(crate) labels: Option<Vec<String>>,
    pub(crate) model_sees: Option<ModelSees>,
    #[serde(rename = "move")]
    pub(crate) moves: Option<Move>,
    pub(crate) missing: Option<Missing>,
    pub(crate) missing_codes: Vec<String>,
    pub(crate) immutable: bool,
    pub(crate) only: Option<Direction>,
    pub(crate) max_step: Option<usize>,
    pub(crate) max_step_units: Option<f64>,
    pub(crate) not_a_target: Vec<Text>,
    pub(crate) forbidden: Vec<(Text, Text)>,
    pub(crate) linked: Vec<String>,
    pub(crate) cost: Option<Cost>,
    pub(crate) weight: Option<f64>,
}

impl Feature {
    /// What is said here, and where nothing is, what `other` says.
    pub(crate) fn or(self, other: Self) -> Self {
        let bins_said = self.quantiles.or(self.equal_width).is_some() || self.edges.is_some();
        let bins = if bins_said {
            (self.quantiles, self.equal_width, self.edges)
        } else if self.order.is_some() {
            (None, None, None)
        } else {
            (other.quantiles, other.equal_width, other.edges)
        };
        let kind_said = bins_said || self.order.is_some();
        Self {
            kind: self.kind.or(if kind_said { None } else { other.kind }),
            order: self.order.or(if bins_said { None } else { other.order }),
            quantiles: bins.0,
            equal_width: bins.1,
            edges: bins.2,
            labels: self.labels.or(if kind_said { None } else { other.labels }),
            model_sees: self.model_sees.or(other.model_sees),
            moves: self.moves.or(other.moves),
            missing: self.missing.or(other.missing),
            missing_codes: [self.missing_codes, other.missing_codes].concat(),
            immutable: self.immutable || other.immutable,
            only: self.only.or(other.only),
            max_step_units: self
                .max_step_units
                .or(other.max_step_units.filter(|_| self.max_step.is_none())),
            max_step: self.max_step.or(other.max_step),
            not_a_target: [self.not_a_target, other.not_a_target].concat(),
            forbidden: [self.forbidden, other.forbidden].concat(),
            linked: [self.linked, other.linked].concat(),
            cost: self.cost.or(other.cost),
            weight: self.weight.or(other.weight),
        }
    }
}

/// How a column becomes levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Categorical,
    Ordinal,
    Numeric,
    Binned,
}

/// What the model sees of a binned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ModelSees {
    Number,
    Label,
}

/// How an action into a bin moves a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Move {
    Linear,
    Median,
    Nearest,
}

/// What to do with rows where a feature is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Missing {
    Error,
    Drop,
    Level,
}

/// Which way a feature may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    Increase,
    Decrease,
}

/// What a change costs before the weight.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected categorical, ordinal, numeric, numeric-raw, or a list of [from, to, cost]"
)]
pub(crate) enum Cost {
    Named(CostName),
    Table(Vec<(Text, Text, f64)>),
}

/// A cost by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CostName {
    Categorical,
    Ordinal,
    Numeric,
    NumericRaw,
}

/// How the audit is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Audit {
    pub(crate) support: Option<Text>,
    pub(crate) validity: Option<Validity>,
    pub(crate) ranges: Option<bool>,
    pub(crate) max_length: Option<usize>,
    pub(crate) max_subgroups: Option<usize>,
    pub(crate) max_memory_mib: Option<u64>,
    pub(crate) min_group_size: Option<u64>,
    pub(crate) compare: Option<Vec<String>>,
    pub(crate) threads: Option<usize>,
    pub(crate) suppress_below: Option<u64>,
}

/// Which actions are valid for a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Validity {
    /// What changes and what stays must together be common among those who succeed.
    Joint,
    /// Only what changes must be.
    Subset,
}

/// What is reported.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Report {
    pub(crate) definitions: Vec<String>,
    pub(crate) phi: Vec<Text>,
    pub(crate) budgets: Vec<f64>,
    pub(crate) top: Option<usize>,
    pub(crate) out: Option<PathBuf>,
}

/// A value of a column or a decimal, as text or as the number it looks like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "Scalar")]
pub(crate) struct Text(pub(crate) String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected text, a number, true or false")]
enum Scalar {
    Text(String),
    Whole(i64),
    Number(f64),
    Boolean(bool),
}

impl From<Scalar> for Text {
    fn from(scalar: Scalar) -> Self {
        Self(match scalar {
            Scalar::Text(text) => text,
            Scalar::Whole(number) => number.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Boolean(boolean) => boolean.to_string(),
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Config {
    /// Reads a file, if there is one, and applies `KEY=VALUE` settings to it.
    pub(crate) fn load(path: Option<&Path>, settings: &[String]) -> Result<Self, Failure> {
        let text = match path {
            None => String::new(),
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?,
        };
        let name = path.map_or_else(String::new, |path| path.display().to_string());
        let mut config = Self::parse(&name, &text, settings)?;
        if let Some(folder) = path.and_then(Path::parent) {
            config.resolve(folder);
        }
        Ok(config)
    }

    /// Reads a configuration from its text.
    pub(crate) fn parse(name: &str, text: &str, settings: &[String]) -> Result<Self, Failure> {
        let config: Self = toml::from_str(text)
            .map_err(|error| Failure::usage(format!("{name}: {}", error.to_string().trim_end())))?;
        if settings.is_empty() {
            return Ok(config);
        }
        let mut table: toml::Table =
            toml::from_str(text).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        let mut config = config;
        for setting in settings {
            let refuse = |why: String| Failure::usage(format!("--set {setting}: {why}"));
            let wanted = setting_table(setting).map_err(refuse)?;
            make_room(&mut table, &wanted);
            merge(&mut table, wanted);
            // After each, so that the error names the one that is wrong.
            config = Self::deserialize(table.clone())
                .map_err(|error| refuse(error.to_string().trim_end().replace('\n', " ")))?;
        }
        Ok(config)
    }

    /// Files named in a configuration lie beside it.
    fn resolve(&mut self, folder: &Path) {
        let beside = |path: &mut Option<PathBuf>| {
            if let Some(path) = path
                && path.is_relative()
            {
                *path = folder.join(&*path);
            }
        };
        beside(&mut self.data.path);
        beside(&mut self.model.answers);
        beside(&mut self.model.ca);
        beside(&mut self.train.save);
        beside(&mut self.report.out);
        if let Some(spec) = &mut self.model.spec {
            let (prefix, rest) = spec.split_once(':').unwrap_or(("", spec));
            let path = folder.join(rest);
            if path.is_file() {
                let colon = if prefix.is_empty() { "" } else { ":" };
                *spec = format!("{prefix}{colon}{}", path.display());
            }
        }
    }

    /// The φ asked for, or the paper's two.
    pub(crate) fn phis(&self) -> Result<Vec<facts_engine::Phi>, Failure> {
        let given = self.report.phi.iter().map(|phi| phi.0.as_str());
        let phis: Vec<&str> = if self.report.phi.is_empty() {
            vec!["0.3", "0.7"]
        } else {
            given.collect()
        };
        let read = phis.iter().map(|phi| phi.parse());
        read.collect::<Result<_, _>>()
            .map_err(Failure::engine_usage)
    }
}

/// `KEY=VALUE` as a table; a value that is not TOML is taken as text.
fn setting_table(setting: &str) -> Result<toml::Table, String> {
    let (key, value) = setting
        .split_once('=')
        .ok_or("write KEY=VALUE, such as features.age.weight=10")?;
    let text = format!("{key} = {value}");
    toml::from_str(&text).or_else(|_| {
        let quoted = toml::Value::String(value.trim().to_owned());
        toml::from_str(&format!("{key} = {quoted}")).map_err(|error| error.message().to_owned())
    })
}

/// Keys of which a table can have one only: setting one takes the place of the others.
const RIVALS: [&[&str]; 2] = [
    &["quantiles", "equal-width", "edges"],
    &["max-step", "max-step-units"],
];

/// Takes away what would stand in the way of new entries.
fn make_room(table: &mut toml::Table, wanted: &toml::Table) {
    for rivals in RIVALS {
        if rivals.iter().any(|key| wanted.contains_key(*key)) {
            table.retain(|key, _| !rivals.contains(&key));
        }
    }
    for (key, value) in wanted {
        if let (Some(toml::Value::Table(inside)), toml::Value::Table(value)) =
            (table.get_mut(key), value)
        {
            make_room(inside, value);
        }
    }
}

/// Puts the entries of one table into another; tables inside are merged too.
fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(from)) => merge(into, from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_win_over_the_file() {
        let text = "[features.age]\nweight = 10\nquantiles = 5\n";
        let settings = [
            "features.age.weight=2".to_owned(),
            "model.spec=train".to_owned(),
        ];
        let config = Config::parse("facts.toml", text, &settings).unwrap();
        assert_eq!(config.features["age"].weight, Some(2.0));
        assert_eq!(config.features["age"].quantiles, Some(5));
        assert_eq!(config.model.spec.as_deref(), Some("train"));
        let settings = ["features.age.edges=[0, 30, 99]".to_owned()];
        let config = Config::parse("facts.toml", text, &settings).unwrap();
        assert_eq!(config.features["age"].quantiles, None);
        assert_eq!(config.features["age"].edges, Some(vec![0.0, 30.0, 99.0]));
    }

    #[test]
    fn a_wrong_key_is_named_with_its_place() {
        let message = |text: &str, settings: &[String]| {
            Config::parse("facts.toml", text, settings)
                .unwrap_err()
                .to_string()
        };
        let error = message("[features.age]\nwieght = 10\n", &[]);
        assert!(
            error.starts_with("facts.toml: TOML parse error at line 2, column 1"),
            "{error}"
        );
        assert!(error.contains("unknown field `wieght`"), "{error}");
        let error = message("", &["features.age.wieght=1".to_owned()]);
        assert!(
            error.starts_with("--set features.age.wieght=1: unknown field"),
            "{error}"
        );
        let error = message("", &["weight".to_owned()]);
        assert!(error.contains("write KEY=VALUE"), "{error}");
    }

    #[test]
    fn the_reference_is_a_configuration() {
        let text = include_str!("reference.toml");
        let config = Config::parse("reference.toml", text, &[]).unwrap();
        assert_eq!(config.features["age"].quantiles, Some(5));
        assert_eq!(config.protected.len(), 3);
        // Whoever adds a key must explain it: each appears in the reference.
        for line in include_str!("mod.rs").lines() {
            let field = line.strip_prefix("    pub(crate) ");
            let Some((name, _)) = field.and_then(|field| field.split_once(": ")) else {
                continue;
            };
            if name.contains('(') {
                continue;
            }
            let name = match name {
                "overrides" => continue,
                "moves" => "move".to_owned(),
                name => name.replace('_', "-"),
            };
            assert!(text.contains(&name), "{name} is not in reference.toml");
        }
    }

    #[test]
    fn values_may_be_numbers_or_text() {
        let text = "[audit]\nsupport = 0.07\n[features.x]\norder = [1, 2.5, \"high\", true]\n";
        let config = Config::parse("facts.toml", text, &[]).unwrap();
        assert_eq!(config.audit.support, Some("0.07".into()));
        let order: Vec<Text> = ["1", "2.5", "high", "true"].map(Text::from).to_vec();
        assert_eq!(config.features["x"].order, Some(order));
    }
}
