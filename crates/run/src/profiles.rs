//! Profiles: a table as its distinct rows and how many rows each stands for, in a file that can be merged
//! with others and audited like the table ([format](../../../docs/profiles.md)).

use std::collections::HashMap;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{BooleanArray, RecordBatch};
use facts_engine::population::{self, Bins, Edges, Levels, View};
use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::config::{Config, Feature, KindName, Text};
use crate::failure::Failure;
use crate::in_database::shown_path;
use crate::listener::Listener;
use crate::model;
use crate::run::TOOL;
use crate::table::Table;

/// The key of a Parquet file's metadata that says that it holds profiles.
pub const KEY: &str = "facts.profiles";

/// The version of the format that is written. Others are refused.
pub const VERSION: u32 = 1;

/// What the column of counts is called, unless the table has such a column.
const COUNT: &str = "count";

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
}

/// Bins that cover all numbers: each ends at a cut and holds it, the last has no end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BinNames {
    /// Where one bin ends and the next begins, ascending.
    pub cuts: Vec<f64>,
    /// The values that stand for them, one more than there are cuts.
    pub labels: Vec<String>,
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

/// Where numbers that an audit cuts into bins are cut when profiles are made.
#[derive(Clone, Debug)]
pub enum Cuts {
    /// Nowhere: numbers stay as they are.
    None,
    /// Where the audit of this table would cut them.
    OfTable,
    /// Where they were cut for other profiles.
    Of(Manifest),
}

/// Profiles, ready to be written.
#[derive(Clone, Debug)]
pub struct Profiles {
    /// One row a profile, with the count in the last column.
    pub batch: RecordBatch,
    /// What they say about themselves.
    pub manifest: Manifest,
}

impl BinNames {
    /// Bins between these cuts, which ascend.
    pub fn new(cuts: Vec<f64>) -> Self {
        let labels = match (cuts.first(), cuts.last()) {
            (Some(first), Some(last)) => {
                let between = cuts.windows(2).map(|w| format!("({}, {}]", w[0], w[1]));
                let (first, last) = (format!("up to {first}"), format!("over {last}"));
                [first].into_iter().chain(between).chain([last]).collect()
            }
            _ => vec!["any number".to_owned()],
        };
        Self { cuts, labels }
    }

    /// Bins that hold equally many people, as far as numbers allow; numbers ascend, each with how many
    /// people hold it.
    pub fn by_quantiles(column: &str, people: &[(f64, u64)], bins: usize) -> Result<Self, Failure> {
        let edges = population::edges(column, &Edges::Quantiles(bins), people)?;
        Ok(Self::new(edges[1..edges.len() - 1].to_vec()))
    }

    /// The bins of a feature, without ends; none if its levels are no bins.
    fn of(levels: &Levels) -> Option<Self> {
        let bounds: Vec<(f64, f64)> = (levels.levels.iter())
            .filter_map(|level| level.bounds)
            .collect();
        let cuts = bounds.iter().skip(1).map(|&(low, _)| low).collect();
        (!bounds.is_empty()).then(|| Self::new(cuts))
    }

    fn bins(&self) -> Bins {
        let mut edges = vec![f64::NEG_INFINITY];
        edges.extend(&self.cuts);
        edges.push(f64::INFINITY);
        Bins {
            edges: Edges::At(edges),
            labels: Some(self.labels.clone()),
            view: View::Label,
        }
    }
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
            let known = self.columns.iter().find(|known| known.name == column.name);
            if known.is_some_and(|known| known.bins != column.bins) {
                return Err(format!(
                    "its column `{}` is cut into other bins than in the others; make it again with --bins-from one of them",
                    column.name
                ));
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
            Some(rows) => facts_report::text::count(rows),
            None => "some".to_owned(),
        };
        Some(format!(
            "the table comes as profiles, and its makers left out {rows} rows: profiles of fewer than {below} rows each"
        ))
    }

    /// A configuration in which bins are in their order, unless it says what they are.
    pub(crate) fn ordered(&self, mut config: Config) -> Config {
        for column in &self.columns {
            let Some(bins) = &column.bins else { continue };
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
                    flags.order = Some(bins.labels.iter().cloned().map(Text).collect());
                }
            }
        }
        config
    }
}

impl Profiles {
    /// The profiles of a table, of the columns that have a role under this configuration; of profiles, all
    /// their columns that are not ignored.
    pub fn of(
        config: &Config,
        mut table: Table,
        cuts: &Cuts,
        suppress_below: Option<u64>,
        listener: &dyn Listener,
    ) -> Result<Self, Failure> {
        if let Some(manifest) = &table.manifest {
            if !matches!(cuts, Cuts::None) {
                return Err(Failure::usage(
                    "profiles cannot be cut again; cut the tables that they are made of",
                ));
            }
            // What is ignored was not read.
            let mut columns = manifest.columns.clone();
            columns.retain(|column| !config.data.ignore.contains(&column.name));
            return Self::counted(table, columns, suppress_below);
        }
        let (decided, mut columns) = kept(config, &table, listener)?;
        if let Cuts::OfTable = cuts {
            cut_at_quantiles(&decided, &table, &mut columns)?;
            if let Some(k) = suppress_below {
                // An edge is a number that somebody holds: it is taken among numbers that k people share.
                let cut = columns.iter().filter(|column| column.bins.is_some());
                let cut: Vec<&str> = cut.map(|column| column.name.as_str()).collect();
                table.cells = table.cells.with_shared_numbers(&cut, k)?;
                cut_at_quantiles(&decided, &table, &mut columns)?;
            }
        }
        for column in &mut columns {
            if let Cuts::Of(other) = cuts {
                let known = other.columns.iter().find(|known| known.name == column.name);
                column.bins = known.and_then(|known| known.bins.clone());
            }
            if let Some(bins) = &column.bins {
                table.cells.cut(&column.name, &bins.bins())?;
            }
        }
        Self::counted(table, columns, suppress_below)
    }

    /// The profiles of a table of which these columns are kept; those with bins hold the names of bins.
    pub fn counted(
        table: Table,
        columns: Vec<Kept>,
        suppress_below: Option<u64>,
    ) -> Result<Self, Failure> {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let mut count = COUNT.to_owned();
        while names.contains(&count.as_str()) {
            count.push('_');
        }
        let batch = table.cells.profiles(&names, &count)?;
        let before = table.manifest.and_then(|manifest| manifest.suppressed);
        let (batch, suppressed) = suppress(batch, suppress_below, before)?;
        let counts = batch.column(batch.num_columns() - 1);
        let rows = counts.as_primitive::<UInt64Type>().values().iter().sum();
        let manifest = Manifest {
            version: VERSION,
            tool: TOOL.to_owned(),
            count,
            columns,
            profiles: batch.num_rows() as u64,
            rows,
            suppressed,
        };
        Ok(Self { batch, manifest })
    }

    /// As a Parquet file.
    pub fn parquet(&self) -> Result<Vec<u8>, Failure> {
        let refuse = |error: String| Failure::output("the profiles", error);
        let metadata = [(KEY.to_owned(), self.manifest.text()?)];
        facts_report::parquet::parquet_of(&self.batch, &metadata)
            .map_err(|error| refuse(error.to_string()))
    }
}

/// What each column is, and those that have a role.
fn kept(
    config: &Config,
    table: &Table,
    listener: &dyn Listener,
) -> Result<(Columns, Vec<Kept>), Failure> {
    let inputs = model::inputs(config, listener)?;
    let columns = Columns::decide(config, &table.cells, inputs.as_deref())?;
    let kept = (columns.roles.iter())
        .filter(|role| role.role != "ignored")
        .map(|role| Kept {
            name: role.column.clone(),
            role: role.role.to_owned(),
            bins: None,
        })
        .collect();
    Ok((columns, kept))
}

/// Gives each column the bins that an audit of this table would have.
fn cut_at_quantiles(columns: &Columns, table: &Table, kept: &mut [Kept]) -> Result<(), Failure> {
    let (population, _) = columns.declaration.population(&table.cells)?;
    for column in kept {
        let mut levels = population.features().iter();
        let levels = levels.find(|levels| levels.name == column.name);
        column.bins = levels.and_then(BinNames::of);
    }
    Ok(())
}

/// Leaves out profiles of fewer rows than asked for.
fn suppress(
    batch: RecordBatch,
    below: Option<u64>,
    before: Option<Suppressed>,
) -> Result<(RecordBatch, Option<Suppressed>), Failure> {
    let Some(below) = below.filter(|&below| below > 1) else {
        return Ok((batch, before));
    };
    let counts = batch.column(batch.num_columns() - 1).clone();
    let counts = counts.as_primitive::<UInt64Type>().values();
    let keep: BooleanArray = counts.iter().map(|&count| Some(count >= below)).collect();
    let left_out: u64 = counts.iter().filter(|&&count| count < below).sum();
    let batch = arrow_select::filter::filter_record_batch(&batch, &keep);
    let batch = batch.map_err(|error| Failure::data(error.to_string()))?;
    // Nothing is told of a number that is itself too small to be told.
    let told = |rows: u64| (rows == 0 || rows >= below).then_some(rows);
    let suppressed = match before {
        None => Suppressed {
            below,
            rows: told(left_out),
        },
        Some(before) => Suppressed {
            below: below.max(before.below),
            rows: (told(left_out)).and_then(|rows| rows.checked_add(before.rows?)),
        },
    };
    Ok((batch, Some(suppressed)))
}
