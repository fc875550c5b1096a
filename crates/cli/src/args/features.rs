//! What is typed about columns.

use clap::Args;
use facts_run::config::{Feature, Only, Text};
use facts_run::{Config, Failure};

use super::replace;

/// What columns are.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The columns (repeat a flag for several columns)")]
pub(super) struct ColumnArgs {
    /// A column that neither the audit nor the model is to see
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,
    /// A column that the model sees and the audit does not speak of
    #[arg(long, value_name = "COLUMN")]
    context: Vec<String>,
    /// The column that says how many people a row is; not survey weights, see `facts explain evidence`
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<String>,
    /// A value that stands for "missing" in every column, such as ? or -9
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    missing_code: Vec<String>,
}

/// What is said about columns.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The columns (repeat a flag for several columns)")]
pub(super) struct FeatureArgs {
    #[command(flatten)]
    columns: ColumnArgs,
    /// A column that people cannot change
    #[arg(long, value_name = "COLUMN")]
    immutable: Vec<String>,
    /// A column that may only increase
    #[arg(long, value_name = "COLUMN")]
    increase: Vec<String>,
    /// A column that may only decrease
    #[arg(long, value_name = "COLUMN")]
    decrease: Vec<String>,
    /// Bins of a number: `age=5` quantiles, `age=width:5`, `age=0,25,40,65`; a protected number becomes
    /// groups so
    #[arg(long, value_name = "COLUMN=BINS")]
    bins: Vec<String>,
    /// The order of a column's levels: `grade=low<middle<high`
    #[arg(long, value_name = "COLUMN=LEVELS")]
    levels: Vec<String>,
    /// How heavily changes of a column count in a cost
    #[arg(long, value_name = "COLUMN=WEIGHT")]
    cost_weight: Vec<String>,
    /// How many levels one change of a column may go at most
    #[arg(long, value_name = "COLUMN=LEVELS")]
    max_step: Vec<String>,
    /// A level to which no action leads
    #[arg(long, value_name = "COLUMN=LEVEL")]
    not_a_target: Vec<String>,
}

impl ColumnArgs {
    pub(super) fn apply(self, config: &mut Config) {
        let roles = (self.ignore.iter())
            .chain(&self.context)
            .chain(&self.weight_column);
        for name in roles {
            // A flag that gives a column another role wins over the file.
            config.features.shift_remove(name);
        }
        config.data.ignore.extend(self.ignore);
        config.data.context.extend(self.context);
        replace(&mut config.data.weight, self.weight_column);
        if !self.missing_code.is_empty() {
            let codes = config.data.missing_codes.get_or_insert_default();
            codes.extend(self.missing_code);
        }
    }
}

impl FeatureArgs {
    pub(super) fn apply(self, config: &mut Config) -> Result<(), Failure> {
        self.columns.apply(config);
        if let Some(name) = (self.increase.iter()).find(|name| self.decrease.contains(name)) {
            return Err(Failure::usage(format!(
                "`{name}` may only increase and only decrease; say --immutable {name} if it may not change"
            )));
        }
        for text in &self.bins {
            bins(config, text)?;
        }
        let overrides = &mut config.overrides;
        let mut of = |name: &str, change: &dyn Fn(&mut Feature)| {
            change(overrides.entry(name.to_owned()).or_default());
        };
        for name in &self.immutable {
            of(name, &|feature| feature.immutable = true);
        }
        for name in &self.increase {
            of(name, &|feature| feature.only = Some(Only::Increase));
        }
        for name in &self.decrease {
            of(name, &|feature| feature.only = Some(Only::Decrease));
        }
        for text in &self.levels {
            let (name, levels) = pair("levels", text)?;
            let levels: Vec<Text> = levels.split('<').map(|level| level.trim().into()).collect();
            of(name, &|feature| feature.order = Some(levels.clone()));
        }
        for text in &self.cost_weight {
            let (name, weight) = pair("cost-weight", text)?;
            let weight: f64 = (weight.trim().parse()).map_err(|_| {
                Failure::usage(format!("--cost-weight {text}: {weight} is no number"))
            })?;
            of(name, &|feature| feature.weight = Some(weight));
        }
        for text in &self.max_step {
            let (name, levels) = pair("max-step", text)?;
            let levels: usize = (levels.trim().parse()).map_err(|_| {
                Failure::usage(format!("--max-step {text}: {levels} is no whole number"))
            })?;
            of(name, &|feature| feature.max_step = Some(levels));
        }
        for text in &self.not_a_target {
            let (name, level) = pair("not-a-target", text)?;
            of(name, &|feature| {
                feature.not_a_target.push(level.trim().into())
            });
        }
        Ok(())
    }
}

/// Takes in `COLUMN=BINS`, and tells the column.
pub(super) fn bins<'a>(config: &mut Config, text: &'a str) -> Result<&'a str, Failure> {
    let (name, bins) = pair("bins", text)?;
    let refuse = || {
        Failure::usage(format!(
            "--bins {text}: write {name}=5 for quantiles, {name}=width:5, or edges such as {name}=0,25,40"
        ))
    };
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| refuse());
    let (mut quantiles, mut equal_width, mut edges) = (None, None, None);
    if let Some(width) = bins.strip_prefix("width:") {
        equal_width = Some(number(width)?);
    } else if bins.contains(',') {
        let at = bins.split(',').map(|edge| edge.trim().parse());
        edges = Some(at.collect::<Result<Vec<f64>, _>>().map_err(|_| refuse())?);
    } else {
        quantiles = Some(number(bins)?);
    }
    if let Some(attribute) = config.protected.get_mut(name) {
        attribute.quantiles = quantiles;
        attribute.equal_width = equal_width;
        attribute.edges = edges;
    } else {
        let feature = config.overrides.entry(name.to_owned()).or_default();
        feature.quantiles = quantiles;
        feature.equal_width = equal_width;
        feature.edges = edges;
    }
    Ok(name)
}

/// `COLUMN=VALUE`; the value is after the first `=`.
fn pair<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    text.split_once('=')
        .ok_or_else(|| Failure::usage(format!("--{flag} {text}: write COLUMN=VALUE")))
}
