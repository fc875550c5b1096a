//! Running an experiment: the authors' set-up as a configuration, its rows, its model, an audit.

use std::path::Path;

use arrow_array::RecordBatch;
use facts_engine::Individuals;
use facts_report::{ModelOrigin, Origin, Record, text};
use facts_run::{
    Config, Failure, FittedElsewhere, FromCode, Listener, Table, config, fit, run_with,
};
use facts_stand_in::{AD_CAMPAIGN_ROWS, AD_CAMPAIGN_TEST_ROWS, PEOPLE, SSL_ROWS};

use crate::experiments::{self, Experiment, Variant, authors_model};
use crate::tables::{ADULT, COMPAS};

/// The seed of the generated rows, as of the paper's split.
const SEED: u64 = 131_313;

/// An experiment that is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Which.
    pub experiment: &'static Experiment,
    /// With whose split and model.
    pub variant: Variant,
    /// The real table, where it is at hand.
    pub data: Option<&'a Path>,
    /// Another support than the paper's.
    pub support: Option<&'a str>,
    /// How many threads to work with.
    pub threads: Option<usize>,
}

/// The rows of an experiment.
enum Rows {
    /// A table to be split into a part to train on and a part to audit.
    ToSplit(Table),
    /// Two tables, the one to audit with a column that says how many people a row stands for.
    Apart {
        train: Table,
        test: Box<Table>,
        weight: &'static str,
    },
}

/// An experiment that was run.
#[derive(Debug)]
pub struct Reproduction {
    /// Which.
    pub experiment: &'static Experiment,
    /// With whose split and model.
    pub variant: Variant,
    /// The same in words.
    pub split_and_model: &'static str,
    /// Whether the rows are generated ones in the place of the real ones.
    pub stand_in: bool,
    /// What was found.
    pub record: Record,
    /// The people behind the counts.
    pub individuals: Individuals,
}

impl Run<'_> {
    /// An experiment as the paper runs it.
    pub fn new(experiment: &'static Experiment, variant: Variant) -> Self {
        Self {
            experiment,
            variant,
            data: None,
            support: None,
            threads: None,
        }
    }

    /// Runs it.
    pub fn run(&self, listener: &dyn Listener) -> Result<Reproduction, Failure> {
        let mut config = self.config()?;
        listener.step("reading the table");
        let (table, given, split_and_model) = match self.rows(&config)? {
            Rows::ToSplit(table) => {
                let fitted = self.fitted_by_the_authors()?;
                let words = match (self.variant, fitted.is_some()) {
                    (Variant::Own, _) => "own split and training",
                    (Variant::Authors, true) => "the authors' split and model",
                    (Variant::Authors, false)
                        if self.experiment.table == experiments::Table::Compas =>
                    {
                        "seed 131313 where the authors fixed none, model fitted here"
                    }
                    (Variant::Authors, false) => "the authors' split, model fitted here",
                };
                let given = FromCode {
                    fitted,
                    ..FromCode::default()
                };
                (table, given, words)
            }
            Rows::Apart {
                train,
                test,
                weight,
            } => {
                listener.step("fitting a model");
                let model = fit(&config, &train)?;
                let origin = ModelOrigin {
                    spec: "train".to_owned(),
                    description: format!(
                        "logistic regression, {} columns",
                        model.columns().count()
                    ),
                    sha256: None,
                    reads_protected: None,
                    training: None,
                };
                config.data.weight = Some(weight.to_owned());
                config.model.favourable = Some("1".into());
                let given = FromCode {
                    model: Some((Box::new(model), origin)),
                    ..FromCode::default()
                };
                let words = "train and test rows generated apart, model fitted here";
                (*test, given, words)
            }
        };
        let (record, individuals) = run_with(&config, &table, given, listener)?;
        Ok(Reproduction {
            experiment: self.experiment,
            variant: self.variant,
            split_and_model,
            stand_in: self.data.is_none() && self.experiment.table.is_generated(),
            record,
            individuals,
        })
    }

    fn config(&self) -> Result<Config, Failure> {
        let mut settings = Vec::new();
        if self.variant == Variant::Own {
            settings.push("train.split=own".to_owned());
        }
        if let Some(support) = self.support {
            settings.push(format!("audit.support={support}"));
        }
        if let Some(threads) = self.threads {
            settings.push(format!("audit.threads={threads}"));
        }
        let name = format!("the configuration of {}", self.experiment.name);
        let mut config = Config::parse(&name, self.experiment.config, &settings)?;
        // The paper has no tests and no intervals.
        config.evidence = config::Evidence::none();
        // Nor a least number of people besides the support.
        config.audit.min_members = Some(1);
        Ok(config)
    }

    fn rows(&self, config: &Config) -> Result<Rows, Failure> {
        let data = &config.data;
        if let Some(path) = self.data {
            let table = Table::read(path, data).map_err(|failure| {
                let name = self.experiment.name;
                failure.with(format!(
                    "{} is read as the configuration of `{name}` says",
                    path.display()
                ))
            })?;
            return Ok(Rows::ToSplit(table));
        }
        Ok(match (self.experiment.table, self.variant) {
            (experiments::Table::Adult, _) => {
                Rows::ToSplit(Table::embedded("adult.csv.gz", ADULT, data)?)
            }
            (experiments::Table::Compas, _) => {
                let name = "compas-scores-two-years.csv.gz";
                Rows::ToSplit(Table::embedded(name, COMPAS, data)?)
            }
            (experiments::Table::Ssl, _) => {
                let rows = facts_stand_in::ssl(SSL_ROWS, SEED);
                Rows::ToSplit(stand_in("SSL", rows, SSL_ROWS, data)?)
            }
            (experiments::Table::AdCampaign, Variant::Own) => {
                let rows = facts_stand_in::ad_campaign(AD_CAMPAIGN_ROWS, SEED);
                Rows::ToSplit(stand_in("Ad Campaign", rows, AD_CAMPAIGN_ROWS, data)?)
            }
            // A random split moves this model's boundary by chance; parts that are drawn apart have it
            // where the paper's run had it.
            (experiments::Table::AdCampaign, Variant::Authors) => {
                let of_test = AD_CAMPAIGN_TEST_ROWS;
                let of_train = AD_CAMPAIGN_ROWS - of_test;
                let train = facts_stand_in::ad_campaign(of_train, SEED);
                let test = facts_stand_in::ad_campaign_profiles(of_test, SEED + 1);
                Rows::Apart {
                    train: stand_in("Ad Campaign", train, of_train, data)?,
                    test: Box::new(stand_in("Ad Campaign", test, of_test, data)?),
                    weight: PEOPLE,
                }
            }
        })
    }

    /// The authors' own model, where it is known.
    fn fitted_by_the_authors(&self) -> Result<Option<FittedElsewhere>, Failure> {
        if self.variant == Variant::Own || !self.experiment.has_authors_model() {
            return Ok(None);
        }
        Ok(Some(FittedElsewhere {
            model: authors_model().map_err(Failure::model)?,
            description: "the authors' logistic regression, fitted by scikit-learn".to_owned(),
        }))
    }
}

/// Generated rows as a table that says what it is.
fn stand_in(
    name: &str,
    rows: RecordBatch,
    people: usize,
    data: &config::Data,
) -> Result<Table, Failure> {
    let people = text::count(people as u64);
    let origin = Origin {
        name: format!("a stand-in for {name}, {people} people"),
        sha256: None,
        files: Vec::new(),
    };
    Table::of(&[rows], origin)?.prepared(data)
}
