//! The configuration: what `facts.toml` may say.
//!
//! Flags win over the file; both end up in one [`Config`]. `columns/` turns it into what the engine
//! is told about the columns, and fills in what was left open.
//!
//! [`REFERENCE`] explains every key.

#![expect(
    missing_docs,
    reason = "REFERENCE shows every key, and a test sees to it"
)]

mod secrets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use facts_engine::actions::Validity;
use facts_engine::population::{Direction, Missing, Move};
use facts_input::Format;
use facts_input::csv::{ColumnType, Duplicates};
use facts_models::ModelSpec;
use facts_models::train::{ClassWeights, Splitting};
use indexmap::IndexMap;
use serde::Deserialize;

pub use self::secrets::shown_setting;
pub(crate) use self::secrets::{refuse as refuse_secrets, toml_error, without_value};
use crate::failure::Failure;
use crate::in_database;

/// A configuration that uses every key, with what each is for.
pub const REFERENCE: &str = include_str!("reference.toml");

/// Everything that can be said about an audit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    pub data: Data,
    pub model: Model,
    pub train: Train,
    pub label: Label,
    /// Protected attributes, in the order in which they are crossed.
    pub protected: IndexMap<String, Protected>,
    pub features: IndexMap<String, Feature>,
    pub audit: Audit,
    pub evidence: Evidence,
    pub report: Report,
    pub check: facts_check::Settings,
    /// What flags say about single features. They do not decide which columns are features.
    #[serde(skip)]
    pub overrides: IndexMap<String, Feature>,
}

/// One path, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "OneOrMore")]
pub struct Paths(pub Vec<PathBuf>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a path, or a list of paths")]
enum OneOrMore {
    One(PathBuf),
    More(Vec<PathBuf>),
}

impl From<OneOrMore> for Paths {
    fn from(paths: OneOrMore) -> Self {
        match paths {
            OneOrMore::One(path) => Self(vec![path]),
            OneOrMore::More(paths) => Self(paths),
        }
    }
}

/// How the table is read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Data {
    /// Files, folders and globs; addresses of objects; a query of a database.
    pub path: Option<Paths>,
    /// The database that a query in the place of a path is sent to; `env:NAME` is taken from the environment.
    pub database: Option<String>,
    pub format: Option<Format>,
    pub delimiter: Option<String>,
    pub quote: Option<String>,
    pub header: Option<bool>,
    pub names: Option<Vec<String>>,
    pub duplicates: Option<Duplicates>,
    pub encoding: Option<String>,
    pub trim: Option<bool>,
    pub nulls: Vec<String>,
    pub types: BTreeMap<String, ColumnType>,
    /// Missing codes of every column; an empty list says that no column has any.
    pub missing_codes: Option<Vec<String>>,
    /// What to do with rows where a feature is missing, unless the feature says otherwise.
    pub missing: Option<Missing>,
    pub weight: Option<String>,
    /// Columns that neither the audit nor the model is to see.
    pub ignore: Vec<String>,
    /// Columns that the model sees and the audit does not speak of.
    pub context: Vec<String>,
    /// Values to replace before anything else sees them, by column.
    pub replace: BTreeMap<String, BTreeMap<String, String>>,
    /// By column, the values of the rows to keep; the others are nobody's.
    pub keep: BTreeMap<String, Keep>,
    /// Numbers that become the labels of bins before anything else sees them, by column.
    pub cut: BTreeMap<String, Cut>,
}

impl Data {
    /// Whether the values of a column are replaced, cut or chosen from before anything else sees them.
    pub(crate) fn prepares(&self, column: &str) -> bool {
        self.replace.contains_key(column)
            || self.keep.contains_key(column)
            || self.cut.contains_key(column)
    }
}

/// Bins of a column of numbers, which are then the column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    pub edges: Vec<f64>,
    pub labels: Vec<String>,
}

/// Which values of a column its rows are kept for; never a missing one.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of values, [\"*\"] for all that are not missing, or { from = 0, to = 9 }"
)]
pub enum Keep {
    Values(Vec<Text>),
    Range { from: f64, to: f64 },
}

/// Which model is asked, and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Model {
    pub spec: Option<ModelSpec>,
    pub favourable: Option<Text>,
    pub threshold: Option<f64>,
    pub columns: BTreeMap<String, String>,
    pub order: Vec<String>,
    pub output: Option<String>,
    pub timeout: Option<f64>,
    pub workers: Option<usize>,
    pub batch_rows: Option<usize>,
    /// Sent with each request; a value `env:NAME` is taken from the environment.
    pub headers: BTreeMap<String, String>,
    /// The column that holds what the original of an exported model answered.
    pub check: Option<String>,
    /// Who is trusted to vouch for an https server, besides the usual authorities.
    pub ca: Option<PathBuf>,
    /// Where answers are kept, so that an audit that was cut short goes on where it stopped.
    pub answers: Option<PathBuf>,
}

impl Model {
    /// What is said here, and for the rest what `base` says.
    pub fn or(self, base: &Self) -> Self {
        fn either<T: Clone>(own: Vec<T>, base: &[T]) -> Vec<T> {
            if own.is_empty() { base.to_vec() } else { own }
        }
        let maps = |own: BTreeMap<String, String>, base: &BTreeMap<String, String>| {
            let mut all = base.clone();
            all.extend(own);
            all
        };
        let base = base.clone();
        Self {
            spec: self.spec.or(base.spec),
            favourable: self.favourable.or(base.favourable),
            threshold: self.threshold.or(base.threshold),
            columns: maps(self.columns, &base.columns),
            order: either(self.order, &base.order),
            output: self.output.or(base.output),
            timeout: self.timeout.or(base.timeout),
            workers: self.workers.or(base.workers),
            batch_rows: self.batch_rows.or(base.batch_rows),
            headers: maps(self.headers, &base.headers),
            check: self.check.or(base.check),
            ca: self.ca.or(base.ca),
            // Each model keeps its own.
            answers: self.answers,
        }
    }

    /// Files that it names lie in this folder.
    pub(crate) fn beside(&mut self, folder: &Path) {
        for path in [&mut self.answers, &mut self.ca].into_iter().flatten() {
            if path.is_relative() {
                *path = folder.join(&*path);
            }
        }
        self.spec = self.spec.take().map(|spec| spec.beside(folder));
    }
}

/// How the default model is fitted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Train {
    pub test_percent: Option<u8>,
    pub seed: Option<u64>,
    pub split: Option<Splitting>,
    pub c: Option<f64>,
    pub class_weights: Option<ClassWeights>,
    /// Columns that the model is not to see.
    pub exclude: Vec<String>,
    pub save: Option<PathBuf>,
}

/// The column that holds what really happened.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Label {
    pub column: Option<String>,
    pub favourable: Option<Text>,
}

/// A protected attribute.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Protected {
    /// Groups of several values: `Non-White = ["Black", "*"]`.
    pub merge: IndexMap<String, Vec<Text>>,
    pub quantiles: Option<usize>,
    pub equal_width: Option<usize>,
    #[serde(deserialize_with = "edges")]
    pub edges: Option<Vec<f64>>,
    pub labels: Option<Vec<String>>,
    pub missing_codes: Vec<String>,
}

/// A column that people differ in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Feature {
    pub kind: Option<KindName>,
    pub order: Option<Vec<Text>>,
    pub quantiles: Option<usize>,
    pub equal_width: Option<usize>,
    #[serde(deserialize_with = "edges")]
    pub edges: Option<Vec<f64>>,
    pub labels: Option<Vec<String>>,
    pub model_sees: Option<ModelSees>,
    #[serde(rename = "move")]
    pub moves: Option<Move>,
    pub missing: Option<Missing>,
    pub missing_codes: Vec<String>,
    pub immutable: bool,
    pub only: Option<Only>,
    pub max_step: Option<usize>,
    pub max_step_units: Option<f64>,
    pub not_a_target: Vec<Text>,
    pub forbidden: Vec<(Text, Text)>,
    pub linked: Vec<String>,
    pub cost: Option<Cost>,
    pub weight: Option<f64>,
}

impl Feature {
    /// What is said here, and where nothing is, what `other` says.
    pub fn or(self, other: Self) -> Self {
        let bins_said = self.quantiles.or(self.equal_width).is_some() || self.edges.is_some();
        let kind_said = bins_said || self.order.is_some() || self.kind.is_some();
        let bins = if kind_said {
            (self.quantiles, self.equal_width, self.edges)
        } else {
            (other.quantiles, other.equal_width, other.edges)
        };
        Self {
            kind: self.kind.or(if kind_said { None } else { other.kind }),
            order: self.order.or(if kind_said { None } else { other.order }),
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

/// Which way a feature may change, as it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    Any,
    Increase,
    Decrease,
}

impl Only {
    /// The one way that it may go, if there is one.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Self::Any => None,
            Self::Increase => Some(Direction::Increase),
            Self::Decrease => Some(Direction::Decrease),
        }
    }
}

/// How a column becomes levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KindName {
    Categorical,
    Ordinal,
    Numeric,
    Binned,
}

/// What the model sees of a binned number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelSees {
    Number,
    Label,
}

/// What a change costs before the weight.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected categorical, ordinal, numeric, numeric-raw, or a list of [from, to, cost]"
)]
pub enum Cost {
    Named(CostName),
    Table(Vec<(Text, Text, f64)>),
}

/// A cost by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostName {
    Categorical,
    Ordinal,
    Numeric,
    NumericRaw,
}

/// How the audit is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Audit {
    pub support: Option<Text>,
    pub validity: Option<Validity>,
    pub ranges: Option<bool>,
    pub max_length: Option<usize>,
    pub max_subgroups: Option<usize>,
    pub max_memory_mib: Option<u64>,
    /// The least number of people that a subgroup must have in each group.
    pub min_members: Option<u64>,
    pub min_group_size: Option<u64>,
    pub compare: Option<Vec<String>>,
    /// The most groups that are compared without being asked back.
    pub max_groups: Option<usize>,
    pub threads: Option<usize>,
    pub suppress_below: Option<u64>,
    /// The share of the people that may be dropped for missing values.
    pub allow_dropped: Option<f64>,
}

/// What is done to tell findings from chance.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Evidence {
    pub seed: Option<u64>,
    pub alpha: Option<f64>,
    /// The gap that does not matter.
    pub delta: Option<f64>,
    pub shuffles: Option<usize>,
    pub resamples: Option<usize>,
    pub detailed: Option<usize>,
    pub stability: Option<bool>,
    /// The share of the people among whom findings are made; they are tested among the rest.
    pub hold_out: Option<f64>,
}

impl Evidence {
    /// None is gathered.
    pub fn none() -> Self {
        Self {
            shuffles: Some(0),
            resamples: Some(0),
            stability: Some(false),
            hold_out: None,
            ..Self::default()
        }
    }
}

/// What is reported.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Report {
    pub definitions: Vec<String>,
    pub phi: Vec<Text>,
    pub budgets: Vec<f64>,
    pub top: Option<usize>,
    pub out: Option<PathBuf>,
    pub profiles: Option<PathBuf>,
}

/// Edges of bins. JSON has no infinite numbers, so there they are text: `"inf"`.
fn edges<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<f64>>, D::Error> {
    let edges = Option::<Vec<Text>>::deserialize(from)?;
    let Some(edges) = edges else {
        return Ok(None);
    };
    let number = |text: &Text| {
        let refuse = || serde::de::Error::custom(format!("`{}` is no number", text.0));
        text.0.trim().parse().map_err(|_| refuse())
    };
    edges.iter().map(number).collect::<Result<_, _>>().map(Some)
}

/// A value of a column or a decimal, as text or as the number it looks like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "Scalar")]
pub struct Text(pub String);

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
    pub fn load(path: Option<&Path>, settings: &[String]) -> Result<Self, Failure> {
        let text = match path {
            None => String::new(),
            Some(path) => facts_guard::read_text(path, facts_guard::LARGEST_TEXT)
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
    pub fn parse(name: &str, text: &str, settings: &[String]) -> Result<Self, Failure> {
        let mut config: Self =
            toml::from_str(text).map_err(|error| toml_error(name, text, &error))?;
        config.locate(text);
        if settings.is_empty() {
            return Ok(config);
        }
        let mut table = table_of(name, text)?;
        for setting in settings {
            put(&mut table, setting)?;
            // After each, so that the error names the one that is wrong.
            config = Self::deserialize(table.clone()).map_err(|error| {
                let why = without_value(&error.to_string());
                refused_setting(setting, &why.trim_end().replace('\n', " "))
            })?;
            config.locate(text);
        }
        Ok(config)
    }

    /// The text of a configuration with `KEY=VALUE` settings in it, without what may be secret. Comments are lost.
    pub fn text_with(name: &str, text: &str, settings: &[String]) -> Result<String, Failure> {
        let mut table = table_of(name, text)?;
        settings.iter().try_for_each(|one| put(&mut table, one))?;
        let hidden = secrets::hide(&mut table);
        let text = toml::to_string_pretty(&table)
            .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        Ok(match hidden.is_empty() {
            true => text,
            false => format!(
                "# What may be secret is left out of {}: take it from where it was, or write env:NAME.\n\n{text}",
                hidden.join(", ")
            ),
        })
    }

    /// Notes the lines at which rules and waivers start: other programs point at them.
    fn locate(&mut self, text: &str) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Located {
            check: LocatedCheck,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct LocatedCheck {
            rule: Vec<toml::Spanned<toml::Value>>,
            waive: Vec<toml::Spanned<toml::Value>>,
        }
        let Ok(Located { check }) = toml::from_str(text) else {
            return;
        };
        let line = |at: &toml::Spanned<toml::Value>| {
            let before = &text.as_bytes()[..at.span().start.min(text.len())];
            Some(before.iter().filter(|&&byte| byte == b'\n').count() + 1)
        };
        // Settings may have put others in the place of those of the file.
        if check.rule.len() == self.check.rule.len() {
            let rules = self.check.rule.iter_mut().zip(&check.rule);
            rules.for_each(|(rule, at)| rule.line = line(at));
        }
        if check.waive.len() == self.check.waive.len() {
            let waivers = self.check.waive.iter_mut().zip(&check.waive);
            waivers.for_each(|(waiver, at)| waiver.line = line(at));
        }
    }

    /// Reads a configuration from JSON, for programs that build one. `overrides` is a table of
    /// features, as flags give it. Files that are named lie in `folder`, if there is one.
    pub fn from_json(text: &str, overrides: &str, folder: Option<&Path>) -> Result<Self, Failure> {
        let mut config: Self = of_json(text, "")?;
        config.overrides = of_json(overrides, "features.")?;
        if let Some(folder) = folder {
            config.resolve(folder);
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
        for path in self.data.path.iter_mut().flat_map(|paths| &mut paths.0) {
            if path.is_relative() && !in_database::is_elsewhere(path) {
                *path = folder.join(&*path);
            }
        }
        if let Some(database) = &mut self.data.database {
            *database = in_database::beside(database, folder);
        }
        beside(&mut self.train.save);
        beside(&mut self.report.out);
        beside(&mut self.report.profiles);
        beside(&mut self.check.baseline);
        self.model.beside(folder);
    }

    /// Whether the model is to be fitted here.
    pub fn is_train(&self) -> bool {
        self.model.spec == Some(ModelSpec::Train)
    }

    /// The φ asked for, or the paper's two.
    pub fn phis(&self) -> Result<Vec<facts_engine::Phi>, Failure> {
        if self.report.phi.is_empty() {
            return Ok(facts_engine::Phi::PAPER.to_vec());
        }
        let read = self.report.phi.iter().map(|phi| phi.0.parse());
        read.collect::<Result<_, _>>()
            .map_err(facts_engine::Error::into)
    }
}

/// A setting, or the environment variable that it names as `env:NAME`. `what` says whose it is, in errors.
pub(crate) fn or_environment(value: &str, what: &str) -> Result<String, Failure> {
    let Some(variable) = value.strip_prefix("env:") else {
        return Ok(value.to_owned());
    };
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if variable.is_empty() || !variable.chars().all(is_name) {
        return Err(Failure::usage(format!(
            "{what} is to be taken from an environment variable, and what follows env: is no name of one"
        )));
    }
    std::env::var(variable).map_err(|_| {
        Failure::usage(format!(
            "{what} is taken from the environment variable {variable}, which is not set"
        ))
    })
}

/// Part of a configuration from JSON; an error names the key.
fn of_json<T: serde::de::DeserializeOwned>(text: &str, part: &str) -> Result<T, Failure> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner().to_string());
        // Where in the text it stands is of no use to whoever did not write the text.
        let why = why
            .rsplit_once(" at line ")
            .map_or(why.as_str(), |(why, _)| why);
        Failure::usage(format!("{part}{path}: {}", without_value(why)))
    })
}

/// A configuration file as JSON, for programs that add to it. What it says is checked by
/// [`Config::from_json`].
pub fn as_json(path: &Path) -> Result<String, Failure> {
    let refuse = |error: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "{}: {}",
            path.display(),
            error.to_string().trim_end()
        ))
    };
    let text = facts_guard::read_text(path, facts_guard::LARGEST_TEXT);
    let text = text.map_err(|error| refuse(&error))?;
    let table = table_of(&path.display().to_string(), &text)?;
    serde_json::to_string(&AsJson(&toml::Value::Table(table))).map_err(|error| refuse(&error))
}

/// A value of TOML as JSON can hold it: in the same order, with infinite numbers as text.
struct AsJson<'a>(&'a toml::Value);

impl serde::Serialize for AsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            toml::Value::Float(number) if !number.is_finite() => serializer.collect_str(number),
            toml::Value::Datetime(date) => serializer.collect_str(date),
            toml::Value::Array(cells) => serializer.collect_seq(cells.iter().map(AsJson)),
            toml::Value::Table(table) => {
                serializer.collect_map(table.iter().map(|(key, value)| (key, AsJson(value))))
            }
            plain => plain.serialize(serializer),
        }
    }
}

/// A configuration as a table.
fn table_of(name: &str, text: &str) -> Result<toml::Table, Failure> {
    toml::from_str(text).map_err(|error| toml_error(name, text, &error))
}

/// A message about a setting names its key only: the value may be a secret.
fn refused_setting(setting: &str, why: &str) -> Failure {
    Failure::usage(format!("--set {}: {why}", secrets::key_of(setting)))
}

/// Puts a `KEY=VALUE` setting into a configuration.
fn put(table: &mut toml::Table, setting: &str) -> Result<(), Failure> {
    let wanted = setting_table(setting).map_err(|why| refused_setting(setting, &why))?;
    make_room(table, &wanted);
    merge(table, wanted);
    Ok(())
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
    use std::collections::BTreeSet;

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
        assert!(config.is_train());
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
            error.starts_with("facts.toml: TOML parse error at line 2, column 1: unknown"),
            "{error}"
        );
        assert!(error.contains("unknown field `wieght`"), "{error}");
        let error = message("", &["features.age.wieght=1".to_owned()]);
        assert!(
            error.starts_with("--set features.age.wieght: unknown field"),
            "{error}"
        );
        let error = message("", &["weight".to_owned()]);
        assert!(error.contains("write KEY=VALUE"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_told_without_values() {
        for text in [
            "[data]\ndatabase = \"postgresql://me:hush@h/d\n",
            "[data]\ndatabse = \"hush\"\n",
            "[data]\npaths = \"https://h/a?sig=hush\"\n",
            "[data]\npath = [\n\"https://h/a?sig=hush\",\n",
            "[model]\nheaders = \"hush\"\n",
            "[model]\nspec = \"exc:m --token hush\"\n",
            "[model.headers]\nTenant = 12345 # hush\n",
            "data = \"hush\"\n",
        ] {
            let error = Config::parse("facts.toml", text, &[]).unwrap_err();
            let error = error.to_string();
            assert!(
                !error.contains("hush") && !error.contains("12345"),
                "{error}"
            );
            assert!(
                error.starts_with("facts.toml: TOML parse error at line "),
                "{error}"
            );
        }
        for setting in [
            "data.databse=hush",
            "data=hush",
            "data.database.x=hush",
            "model.headers=hush",
            "postgresql://me:hush@h/d",
        ] {
            let error = Config::parse("", "", &[setting.to_owned()]).unwrap_err();
            assert!(!error.to_string().contains("hush"), "{error}");
        }
        let text = r#"{"model": {"headers": "hush"}}"#;
        let error = Config::from_json(text, "{}", None).unwrap_err().to_string();
        assert_eq!(error, "model.headers: invalid type: string, expected a map");
        let error = or_environment("env:hush!", "it").unwrap_err().to_string();
        assert!(!error.contains("hush"), "{error}");
    }

    #[test]
    fn a_configuration_that_is_handed_out_holds_no_secret() {
        let text = "[data]\ndatabase = \"postgresql://me:hush@h/d\"\n";
        let settings = ["model.headers.Tenant=hush", "audit.support=0.1"].map(str::to_owned);
        let text = Config::text_with("facts.toml", text, &settings).unwrap();
        assert!(!text.contains("hush"), "{text}");
        assert!(
            text.contains("out of data.database, model.headers.Tenant:"),
            "{text}"
        );
        Config::parse("facts.toml", &text, &[]).unwrap();
    }

    /// The keys that the types of a configuration know, and those that a table shows, by place.
    /// `*` stands for a name that the user chooses.
    #[derive(Default)]
    struct Keys {
        known: BTreeMap<String, BTreeSet<String>>,
        shown: BTreeMap<String, BTreeSet<String>>,
    }

    impl Keys {
        fn gather(&mut self, root: &toml::Table, path: &[&str], place: &str) {
            // A type that is given a key it does not know names all that it knows. A table with
            // keys of the user's choice accepts the key, or finds fault with its value.
            let mut changed = root.clone();
            let table = path.iter().fold(&mut changed, |table, key| {
                table[*key].as_table_mut().expect("a path of tables")
            });
            let keys = std::mem::take(table);
            *table = keys.clone();
            table.insert("unheard-of".into(), toml::Table::new().into());
            let error = Config::deserialize(changed).err();
            let message = error.map_or_else(String::new, |error| error.message().to_owned());
            let fields = message.strip_prefix("unknown field `unheard-of`, expected ");
            if let Some(fields) = fields {
                let fields = fields.split('`').skip(1).step_by(2).map(str::to_owned);
                self.known
                    .entry(place.to_owned())
                    .or_default()
                    .extend(fields);
                let shown = self.shown.entry(place.to_owned()).or_default();
                shown.extend(keys.keys().cloned());
            }
            for (key, value) in &keys {
                if value.is_table() {
                    let name = if fields.is_some() { key } else { "*" };
                    let path = [path, &[key]].concat();
                    self.gather(root, &path, &format!("{place}/{name}"));
                }
                // One table of a list stands for all of them, as if it were the only one.
                if let Some(first) = value.as_array().and_then(|list| list.first()?.as_table()) {
                    let known = unknown_in_list(root, path, key);
                    let place = format!("{place}/{key}");
                    self.known.entry(place.clone()).or_default().extend(known);
                    let shown = self.shown.entry(place).or_default();
                    shown.extend(first.keys().cloned());
                    let others = value.as_array().into_iter().flatten().skip(1);
                    let others = others.filter_map(toml::Value::as_table);
                    shown.extend(others.flat_map(|table| table.keys().cloned()));
                }
            }
        }
    }

    /// The keys that a table in a list may have.
    fn unknown_in_list(root: &toml::Table, path: &[&str], key: &str) -> Vec<String> {
        let mut changed = root.clone();
        let table = path.iter().fold(&mut changed, |table, key| {
            table[*key].as_table_mut().expect("a path of tables")
        });
        let strange: toml::Table = [("unheard-of".to_owned(), 1.into())].into_iter().collect();
        table.insert(key.to_owned(), vec![toml::Value::from(strange)].into());
        let error = Config::deserialize(changed).expect_err("an unknown key is refused");
        let fields = error
            .message()
            .split("expected")
            .nth(1)
            .expect("known keys")
            .to_owned();
        fields
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn rules_and_waivers_know_their_lines() {
        let text = "[check]\non-undecided = \"fail\"\n\n[[check.rule]]\nname = \"a\"\n\n\n[[check.rule]]\nname = \"b\"\n[[check.waive]]\nid = \"c\"\nuntil = 2026-01-31\n";
        for settings in [vec![], vec!["audit.support=0.1".to_owned()]] {
            let config = Config::parse("facts.toml", text, &settings).unwrap();
            let lines: Vec<Option<usize>> =
                config.check.rule.iter().map(|rule| rule.line).collect();
            assert_eq!(lines, [Some(4), Some(8)]);
            assert_eq!(config.check.waive[0].line, Some(10));
            assert_eq!(config.check.waive[0].until.as_deref(), Some("2026-01-31"));
        }
    }

    #[test]
    fn the_reference_shows_every_key() {
        let reference: toml::Table = toml::from_str(REFERENCE).unwrap();
        Config::deserialize(reference.clone()).unwrap();
        let mut keys = Keys::default();
        keys.gather(&reference, &[], "");
        assert_eq!(keys.known, keys.shown);
        let places = keys.known.into_keys().collect::<Vec<_>>().join(" ");
        let expected = " /audit /check /check/rule /check/waive /data /data/cut/* /evidence /features/* /label /model";
        assert_eq!(places, format!("{expected} /protected/* /report /train"));
    }

    #[test]
    fn whoever_names_a_kind_means_no_other() {
        let guessed = Feature {
            kind: Some(KindName::Binned),
            quantiles: Some(5),
            ..Feature::default()
        };
        let said = Feature {
            kind: Some(KindName::Numeric),
            ..Feature::default()
        };
        let both = said.or(guessed.clone());
        assert_eq!((both.kind, both.quantiles), (Some(KindName::Numeric), None));
        let weight = Feature {
            weight: Some(2.0),
            ..Feature::default()
        };
        let both = weight.or(guessed);
        assert_eq!(
            (both.kind, both.quantiles),
            (Some(KindName::Binned), Some(5))
        );
    }

    #[test]
    fn json_will_do_as_well() {
        let text = r#"{"features": {"age": {"weight": 10, "order": [1, "high"]}}}"#;
        let config = Config::from_json(text, "{}", None).unwrap();
        assert_eq!(config.features["age"].weight, Some(10.0));
        let text = r#"{"age": {"wieght": 10}}"#;
        let error = Config::from_json("{}", text, None).unwrap_err().to_string();
        let start = "features.age.wieght: unknown field `wieght`, expected one of";
        assert!(
            error.starts_with(start) && !error.contains("line"),
            "{error}"
        );
    }

    #[test]
    fn a_file_is_the_same_as_json() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts.toml");
        let text =
            "audit.support = 0.07\n[features.age]\nedges = [-inf, 30, inf]\n[protected.sex]\n";
        std::fs::write(&path, text).unwrap();
        let config = Config::from_json(&as_json(&path).unwrap(), "{}", None).unwrap();
        let edges = [f64::NEG_INFINITY, 30.0, f64::INFINITY];
        assert_eq!(config.features["age"].edges.as_deref(), Some(&edges[..]));
        assert_eq!(config.audit.support, Some("0.07".into()));
        // Protected attributes keep their order, in which they are crossed.
        std::fs::write(&path, "[protected.sex]\n[protected.age]\n").unwrap();
        let config = Config::from_json(&as_json(&path).unwrap(), "{}", None).unwrap();
        assert_eq!(config.protected.keys().collect::<Vec<_>>(), ["sex", "age"]);
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
