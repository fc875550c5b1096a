//! What a file of profiles says about itself ([format](../../../../docs/profiles.md)).

use std::collections::HashMap;
use std::path::Path;

use facts_engine::population::PlacedBins;
use serde::{Deserialize, Serialize};

use super::bins::BinNames;
use crate::config::{Config, Feature, KindName, Text};
use crate::failure::Failure;
use crate::in_database::shown_path;
use crate::run::TOOL;

/// The key of a Parquet file's metadata that says that it holds profiles.
pub const KEY: &str = "facts.profiles";

/// The version of the format that is written. Others are refused.
pub const VERSION: u32 = 1;

/// What a file of profiles says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Manifest {
    /// The version of the format.
    pub version: u32,
    /// The tool that wrote it.
    pub tool: String,
    /// The column that says how many rows a profile stands for.
    pub count: String,
    /// The other columns, in order.
    pub columns: Vec<Kept>,
    /// How many profiles there are, and how many rows they stand for.
    pub profiles: u64,
    /// See [`Manifest::profiles`].
    pub rows: u64,
    /// What was left out because too few rows agreed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
}

/// A column of profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// What it was to the audit for which it was written: `feature`, `protected`, `label`, …
    pub role: String,
    /// The bins that stand in the place of its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinNames>,
    /// Its levels in their order, lowest first, if it has one and bins do not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// Its values that stand for "missing". Where numbers were cut they are missing in the profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_codes: Vec<String>,
}

impl Kept {
    /// A column of which nothing more is said.
    pub fn new(name: impl Into<String>, role: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            role: role.into(),
            bins: None,
            order: None,
            missing_codes: Vec::new(),
        }
    }

    /// Values that stand for "missing": those that are known, and of a feature those that a configuration names.
    pub(super) fn codes_with(&self, config: &Config) -> Vec<String> {
        if self.role != "feature" {
            return self.missing_codes.clone();
        }
        let features = [&config.features, &config.overrides];
        let features = features.iter().filter_map(|said| said.get(&self.name));
        let said = features.flat_map(|feature| &feature.missing_codes);
        let said = said.chain(config.data.missing_codes.iter().flatten());
        let mut column = self.clone();
        column.add_codes(&said.cloned().collect::<Vec<_>>());
        column.missing_codes
    }

    /// Adds values that stand for "missing". They are kept in order, whoever names them first.
    pub(super) fn add_codes(&mut self, codes: &[String]) {
        self.missing_codes.extend_from_slice(codes);
        self.missing_codes.sort_unstable();
        self.missing_codes.dedup();
    }

    /// Takes in what another file says of the same column. Fails where the two do not mean the same.
    fn merge(&mut self, other: &Self) -> Result<(), String> {
        let name = &self.name;
        let again = "make it again with --bins-from one of them";
        if self.role != other.role {
            return Err(format!(
                "its column `{name}` is {}, and {} in the others; {again}",
                other.role, self.role
            ));
        }
        if self.bins != other.bins {
            return Err(format!(
                "its column `{name}` is cut into other bins than in the others; {again}"
            ));
        }
        let order = match (&self.order, &other.order) {
            // Where small counts are left out, an order may be without levels that few have.
            (Some(one), Some(other)) if is_among(other, one) => Some(one.clone()),
            (Some(one), Some(other)) if is_among(one, other) => Some(other.clone()),
            (None, None) => None,
            _ => {
                return Err(format!(
                    "the levels of its column `{name}` have another order than in the others; {again}"
                ));
            }
        };
        self.order = order;
        self.add_codes(&other.missing_codes);
        Ok(())
    }
}

/// Whether all levels of one order are in another, and in the same order.
fn is_among(levels: &[String], order: &[String]) -> bool {
    let mut order = order.iter();
    levels.iter().all(|level| order.any(|other| other == level))
}

/// Rows that were left out because too few agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Suppressed {
    /// Profiles of fewer rows than this were left out.
    pub below: u64,
    /// How many rows they stood for; none if that number itself is smaller than `below`.
    pub rows: Option<u64>,
}

impl Manifest {
    /// What a file says, by the metadata of its schema; none if it holds no profiles.
    pub(crate) fn read(
        file: &str,
        metadata: &HashMap<String, String>,
    ) -> Result<Option<Self>, Failure> {
        let Some(text) = metadata.get(KEY) else {
            return Ok(None);
        };
        let bad = |why: String| {
            Failure::data(format!(
                "{file}: its metadata `{KEY}` cannot be read: {why}; write the profiles again with `facts profiles`"
            ))
        };
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
        if version != VERSION {
            return Err(Failure::data(format!(
                "{file}: these profiles are of version {version} of the format, and {TOOL} reads version {VERSION}; write them again with this version"
            )));
        }
        let manifest: Self = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
        for bins in manifest.columns.iter().filter_map(|c| c.bins.as_ref()) {
            if bins.labels.len() != bins.cuts.len() + 1 {
                return Err(bad("bins must have one label more than cuts".to_owned()));
            }
        }
        Ok(Some(manifest))
    }

    /// What a file of profiles says about itself.
    pub fn of_file(path: &Path) -> Result<Self, Failure> {
        let name = shown_path(path);
        let table = facts_input::open(path.to_owned(), &facts_input::Options::default())?;
        Self::read(&name, table.schema().metadata())?.ok_or_else(|| {
            Failure::usage(format!(
                "{name}: this is no file of profiles; `facts profiles` writes them"
            ))
        })
    }

    /// As it stands in the metadata of a file.
    pub fn text(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(self);
        text.map_err(|error| Failure::output("the profiles", error))
    }

    /// Takes in another file's: what it counts is added. Fails where the two do not mean the same.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), String> {
        if self.count != other.count {
            return Err(format!(
                "its counts are in `{}`, and those of the others in `{}`",
                other.count, self.count
            ));
        }
        for column in &other.columns {
            let mut columns = self.columns.iter_mut();
            // That all have the same columns is looked at when they are read.
            if let Some(known) = columns.find(|known| known.name == column.name) {
                known.merge(column)?;
            }
        }
        self.rows = self.rows.saturating_add(other.rows);
        self.suppressed = match (self.suppressed, other.suppressed) {
            (Some(a), Some(b)) => Some(Suppressed {
                below: a.below.max(b.below),
                // A sum gives away the part that was not told.
                rows: a.rows.and_then(|rows| rows.checked_add(b.rows?)),
            }),
            (one, another) => one.or(another),
        };
        Ok(())
    }

    /// What a reader should know: who is not among the profiles.
    pub(crate) fn note(&self) -> Option<String> {
        let Suppressed { below, rows } = self.suppressed?;
        let rows = match rows {
            // Every profile had enough rows.
            Some(0) => return None,
            Some(rows) => facts_report::text::count(rows),
            None => "some".to_owned(),
        };
        Some(format!(
            "the table comes as profiles, and its makers left out {rows} rows: profiles of fewer than {below} rows each"
        ))
    }

    /// The bins of these profiles as they are placed over another table before it is read. Columns that the
    /// configuration prepares are cut after that.
    pub fn placed(&self, config: &Config) -> Result<Vec<PlacedBins>, Failure> {
        let mut placed = Vec::new();
        for column in &self.columns {
            if let Some(bins) = &column.bins
                && !config.data.prepares(&column.name)
            {
                placed.push(bins.over(&column.name, &column.codes_with(config))?);
            }
        }
        Ok(placed)
    }

    /// A configuration in which bins and levels are in their order, unless it says what they are.
    pub(crate) fn ordered(&self, mut config: Config) -> Config {
        for column in &self.columns {
            let bins = column.bins.as_ref().map(|bins| &bins.labels);
            let Some(order) = bins.or(column.order.as_ref()) else {
                continue;
            };
            let name = &column.name;
            let said = config.features.get(name);
            let is_feature = column.role == "feature"
                && !config.protected.contains_key(name)
                && (config.features.is_empty() || said.is_some());
            let says = |feature: &Feature| feature.kind.is_some() || feature.order.is_some();
            if is_feature && !said.is_some_and(says) {
                let flags = config.overrides.entry(name.clone()).or_default();
                if !says(flags) {
                    flags.kind = Some(KindName::Ordinal);
                    flags.order = Some(order.iter().cloned().map(Text).collect());
                    flags.missing_codes.extend(column.missing_codes.clone());
                }
            }
        }
        config
    }
}
