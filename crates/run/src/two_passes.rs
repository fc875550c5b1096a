//! A table that is too large for its memory, read in two passes.
//!
//! Numbers that hardly repeat keep rows apart. Where the audit cuts such a column into bins, and the model
//! sees the bin or does not read the column, nobody needs the numbers themselves, nor where profiles hold
//! bins: a first pass counts them for the edges, and a second reads the rows with one number for each bin.

use std::collections::BTreeSet;

use facts_engine::population::{
    self, Bins, Counting, Edges, Kind, Numbers, PlacedBins, Sampled, View,
};
use facts_models::{Input, ModelSpec, input_of};

use crate::columns::{Columns, codes_of_numbers};
use crate::config::{Config, Feature, KindName, ModelSees};
use crate::failure::Failure;
use crate::listener::Silent;
use crate::model;
use crate::profiles::{BinNames, Cuts};
use crate::table::Table;

/// What a table is read for, if it may be read twice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'c> {
    /// The audit of this configuration.
    Audit(&'c Config),
    /// Profiles of which only bins are kept where numbers are cut, whatever the model sees.
    Profiles {
        config: &'c Config,
        cuts: &'c Cuts,
        suppress_below: Option<u64>,
    },
}

impl<'c> Purpose<'c> {
    fn config(self) -> &'c Config {
        match self {
            Self::Audit(config) | Self::Profiles { config, .. } => config,
        }
    }

    /// The columns whose numbers may give way to bins, as far as can be told before the table is read.
    pub(crate) fn candidates(self) -> Counting {
        match self {
            Self::Audit(config) => match given_up_by(config, tells(config)) {
                columns if columns.is_empty() => Counting::Nothing,
                columns => Counting::Columns(columns),
            },
            Self::Profiles { config, .. } if counts_some(config) => Counting::Nothing,
            Self::Profiles { cuts, .. } => match cuts {
                Cuts::None | Cuts::Of(_) => Counting::Nothing,
                Cuts::OfColumns(columns) => Counting::Columns(columns.clone()),
                // Which columns are cut is known once some rows are.
                Cuts::OfTable => Counting::Everything,
            },
        }
    }

    /// Numbers that may mean "missing" in some column.
    pub(crate) fn maybe_missing(self) -> Vec<f64> {
        maybe_missing(self.config())
    }

    /// Places bins over the numbers that the first pass counted. Fails as the table did if that helps nobody.
    pub(crate) fn placed(
        self,
        table: &Table,
        sampled: &Sampled,
    ) -> Result<Vec<PlacedBins>, Failure> {
        let config = self.config();
        let inputs = model::inputs(config, &Silent)?;
        let columns = Columns::decide(config, &table.cells, inputs.as_deref())?;
        let placed = match self {
            Self::Audit(_) => for_audit(&columns, inputs.as_deref(), &sampled.numbers)?,
            Self::Profiles {
                cuts,
                suppress_below,
                ..
            } => {
                let mut placed = Vec::new();
                for (name, bins, numbers, codes) in cut(&columns, &sampled.numbers) {
                    if cuts.takes(name) && !config.data.prepares(name) {
                        placed.extend(for_profiles(name, bins, numbers, codes, suppress_below)?);
                    }
                }
                placed
            }
        };
        match placed.is_empty() {
            true => Err(sampled.error.clone().into()),
            false => Ok(placed),
        }
    }
}

/// Features that are cut, and whose numbers were counted: the name, the bins, the numbers, and codes for missing
/// values.
fn cut<'a>(
    columns: &'a Columns,
    numbers: &'a [(String, Numbers)],
) -> impl Iterator<Item = (&'a str, &'a Bins, &'a Numbers, &'a [String])> {
    let features = columns.declaration.declared_features().iter();
    features.filter_map(|feature| {
        let name = feature.name();
        let (_, numbers) = numbers.iter().find(|(column, _)| column == name)?;
        match feature.kind() {
            Kind::Binned(bins) => Some((name, bins, numbers, feature.codes_for_missing())),
            _ => None,
        }
    })
}

/// Bins over the numbers of those columns of which an audit of a model that reads these inputs needs no more.
pub(crate) fn for_audit(
    columns: &Columns,
    inputs: Option<&[Input]>,
    numbers: &[(String, Numbers)],
) -> Result<Vec<PlacedBins>, Failure> {
    let is_read = |name: &str| inputs.is_none_or(|inputs| input_of(inputs, name).is_some());
    let mut placed = Vec::new();
    for (name, bins, numbers, codes) in cut(columns, numbers) {
        if bins.view == View::Label || !is_read(name) {
            // Without a number there are no bins; why not is said when people are taken in.
            placed.extend(PlacedBins::new(name, bins, numbers, codes)?);
        }
    }
    Ok(placed)
}

/// The bins of a column of profiles, which have no ends. Where small counts are left out, cuts are told to three
/// digits: each may be a number that one person holds.
fn for_profiles(
    name: &str,
    bins: &Bins,
    numbers: &Numbers,
    codes: &[String],
    suppress_below: Option<u64>,
) -> Result<Option<PlacedBins>, Failure> {
    let numbers = numbers.clone().without(&population::numbers_of(codes));
    if numbers.rows() == 0 {
        return Ok(None);
    }
    let names = BinNames::at(name, &bins.edges, &numbers.counted())?;
    let names = match suppress_below {
        Some(_) => names.rounded(),
        None => names,
    };
    Ok(Some(names.over(name, codes)?.over(&numbers)))
}

/// Whether rows are weighted or left out by value: edges would be those of all rows.
fn counts_some(config: &Config) -> bool {
    config.data.weight.is_some() || !config.data.keep.is_empty()
}

/// Whether the model of a configuration can tell what it reads.
fn tells(config: &Config) -> bool {
    config.model.spec.as_ref().is_some_and(ModelSpec::is_file)
}

/// The columns that a configuration cuts, and of which the model sees bins or `tells` whether it reads them. None
/// where small counts are to be suppressed: an edge would be the number of one person.
pub(crate) fn given_up_by(config: &Config, tells: bool) -> Vec<String> {
    if counts_some(config) || config.audit.suppress_below.is_some() {
        return Vec::new();
    }
    let data = &config.data;
    let is_prepared = |name: &str| data.cut.contains_key(name) || data.replace.contains_key(name);
    // What a list says of a feature and what flags say of it go together.
    let names = config.features.keys().chain(config.overrides.keys());
    let names = names.filter(|name| {
        let said = || {
            config
                .features
                .get(*name)
                .into_iter()
                .chain(config.overrides.get(*name))
        };
        said().any(is_cut)
            && !is_prepared(name)
            && (tells || said().any(|feature| feature.model_sees == Some(ModelSees::Label)))
    });
    names
        .cloned()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Numbers that may mean "missing" in some column: codes that the configuration names, and those that are guessed.
pub(crate) fn maybe_missing(config: &Config) -> Vec<f64> {
    let features = config.features.values().chain(config.overrides.values());
    let codes = features.flat_map(|feature| &feature.missing_codes);
    let codes = codes.chain(config.data.missing_codes.iter().flatten());
    let mut numbers = population::numbers_of(codes);
    numbers.extend(codes_of_numbers());
    numbers.sort_by(f64::total_cmp);
    // 0 and -0 are one number.
    numbers.dedup();
    numbers
}

fn is_cut(feature: &Feature) -> bool {
    feature.kind == Some(KindName::Binned)
        || feature.quantiles.or(feature.equal_width).is_some()
        || feature.edges.is_some()
}

/// A configuration that cuts columns where they were cut while the table was read.
pub(crate) fn says(mut config: Config, placed: &[PlacedBins]) -> Config {
    for placed in placed {
        let name = placed.column();
        let listed = config.features.get_mut(name).into_iter();
        let said = listed.chain(config.overrides.get_mut(name));
        let mut said: Vec<&mut Feature> = said.filter(|feature| is_cut(feature)).collect();
        said.iter_mut().for_each(|feature| fix(feature, placed));
        if said.is_empty() {
            // That it is cut was guessed, and could not be guessed from bins.
            fix(config.overrides.entry(name.to_owned()).or_default(), placed);
        }
    }
    config
}

/// Makes a feature one that is cut where bins were placed.
fn fix(feature: &mut Feature, placed: &PlacedBins) {
    if let Edges::At(edges) = &placed.bins().edges {
        feature.kind = Some(KindName::Binned);
        (feature.quantiles, feature.equal_width) = (None, None);
        feature.edges = Some(edges.clone());
        feature.labels.clone_from(&placed.bins().labels);
    }
}

/// What a reader should know: where the edges of bins are not exact. Shares and no counts, so that nothing is
/// told that is to be suppressed.
pub(crate) fn note(table: &population::Table) -> Option<String> {
    let told = table.placed_bins().iter().map(|placed| {
        let within = match placed.off() {
            0 => "exactly".to_owned(),
            off => format!(
                "within {:.3} % of the rows",
                // Rounded up: it is a bound.
                (1e5 * off as f64 / placed.rows() as f64).ceil() / 1e3
            ),
        };
        format!("{} ({within})", placed.column())
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| {
        format!(
            "cut into bins while the table was read, because its rows with all their numbers would not fit: {}; edges lie among all rows, also those that are left out",
            told.join(", ")
        )
    })
}
